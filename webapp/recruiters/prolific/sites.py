"""Where Prolific answers: for programs, and for participants' browsers."""

from webapp.core.urls import is_secure
from webapp.errors import WebappError
from webapp.recruiters.prolific.settings import ProlificSettings

LIVE = "live"
_API_URL, _PARTICIPANT_SITE = "https://api.prolific.com", "https://app.prolific.com"
KEYS_PATH = "/.well-known/study/jwks.json"


def api_url(settings: ProlificSettings) -> str:
    """Return the address that programs call, without a slash at the end.

    Raises:
        WebappError: The endpoint is an address in clear text that is not this machine's.
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


def participant_site(settings: ProlificSettings) -> str:
    """Return the site from which participants come, and to which they go back."""
    return _PARTICIPANT_SITE if settings.endpoint == LIVE else api_url(settings)
