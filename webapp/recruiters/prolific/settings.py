"""The settings of Prolific and of its stand-in, and their addresses."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from webapp.core.addresses import is_secure
from webapp.core.settings import checked_url
from webapp.errors import WebappError

_ID = r"^([0-9a-f]{24})?$"


class ProlificSettings(BaseModel):
    """The settings with which people are found and paid on Prolific."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str = Field(
        default="http://127.0.0.1:8200",
        pattern=r"^(live|https?://[\w.:\[\]-]+/?)$",
        description="live for Prolific itself, or the address of a stand-in",
    )
    token: SecretStr = Field(
        default=SecretStr(""), description="the API token; it gives full access to your account"
    )
    workspace: str = Field(
        default="", pattern=_ID, description="the workspace that pays; the first one when empty"
    )
    project: str = Field(
        default="", pattern=_ID, description="the project for new studies; the first one when empty"
    )
    signed_arrivals: bool | None = Field(
        default=None,
        description=(
            "whether Prolific signs its links; left out: where the workspace can, and else it is"
            " asked about each arrival"
        ),
    )
    leeway_s: int = Field(
        default=60, ge=0, le=600, description="how far the clocks may differ when links are checked"
    )
    hook_secret: SecretStr = Field(
        default=SecretStr(""),
        description="the secret with which Prolific signs its webhooks; empty for none",
    )

    @field_validator("token", mode="after")
    @classmethod
    def _strip_token(cls, value: SecretStr) -> SecretStr:
        return SecretStr(value.get_secret_value().strip())

    @field_validator("endpoint")
    @classmethod
    def _check_endpoint(cls, value: str) -> str:
        return checked_url(value)


LIVE = "live"
_API_URL, _PARTICIPANT_SITE = "https://api.prolific.com", "https://app.prolific.com"
KEYS_PATH = "/.well-known/study/jwks.json"


def api_url(settings: ProlificSettings) -> str:
    """Return the API's address, without a slash at the end.

    Raises:
        WebappError: The endpoint is an unencrypted address of another machine.
    """
    if settings.endpoint == LIVE:
        return _API_URL
    if not is_secure(settings.endpoint):
        raise WebappError(
            f'requests to "{settings.endpoint}", with the token in them, would not be encrypted',
            where="prolific_endpoint",
            expected="live or an address that begins with https://",
            remedy="Only a stand-in on this machine may be called by http://",
        )
    return settings.endpoint.rstrip("/")


def researcher_page(settings: ProlificSettings, study: str) -> str:
    """Return where a researcher sees a study; a stand-in has no page of it."""
    if settings.endpoint == LIVE:
        return f"{_PARTICIPANT_SITE}/researcher/workspaces/studies/{study}"
    return f"study {study} at {settings.endpoint}"


def participant_site(settings: ProlificSettings) -> str:
    """Return the site from which participants come, and to which they go back."""
    return _PARTICIPANT_SITE if settings.endpoint == LIVE else api_url(settings)
