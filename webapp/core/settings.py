"""The installation's settings, in one table that ``webapp.core.settings_sources`` reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
)

from experiment.errors import describe_validation_error
from experiment.money import MoneyError, parse_amounts
from webapp.core.addresses import AddressResolver, is_secure
from webapp.errors import SettingError

Model = TypeVar("Model", bound=BaseModel)

FILE_NAME = "parallax.toml"
ENVIRONMENT_PREFIX = "PARALLAX_"
INSTANCE_VARIABLE = "PARALLAX_INSTANCE"
_SQLITE_FILE = "sqlite:///"


class Settings(BaseModel):
    """Every setting: its name, type, default and meaning."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    database_url: str = Field(
        default="sqlite:///parallax.sqlite3",
        pattern=r"^\w+(\+\w+)?://",
        description="the database: sqlite:///FILE (in the instance folder) or postgresql://...",
    )
    backup_bucket: str = Field(
        default="",
        pattern=r"^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w./-]*)?)?$",
        description="the S3 bucket for encrypted backups, as s3://bucket/folder; empty for none",
    )
    backup_endpoint: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="the URL of another provider's S3 service; empty for Amazon",
    )
    host: str = Field(
        default="127.0.0.1", min_length=1, description="the address the server listens on"
    )
    port: int = Field(default=8000, ge=1, le=65535, description="the port the server listens on")
    public_url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="the base address of participants' links; http://host:port when empty",
    )
    allowed_hosts: str = Field(
        default="",
        pattern=r"^([\w.:\[\]-]+( [\w.:\[\]-]+)*)?$",
        description="further host names that the server answers to, separated by spaces",
    )
    trusted_proxies: str = Field(
        default="127.0.0.1 ::1",
        description=(
            "addresses of reverse proxies whose forwarding headers are trusted, separated by spaces"
        ),
    )
    arrivals_per_hour: int = Field(
        default=1000,
        ge=0,
        description="how many people may arrive from one address within an hour; 0: no limit",
    )
    unanswered_places: int = Field(
        default=20,
        ge=0,
        description=(
            "how many places of a run one network address may hold, and as many again for each"
            " minute since the first arrival from it; further participants join the waitlist; 0: no"
            " limit"
        ),
    )
    sign_in_header: str = Field(
        default="",
        pattern=r"^([A-Za-z0-9-]+)?$",
        description="the header in which a reverse proxy names the signed-in user; empty for none",
    )
    oidc_issuer: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="the OpenID Connect provider that signs users in; empty for none",
    )
    oidc_client_id: str = Field(
        default="parallax", description="the client id of this installation at the provider"
    )
    oidc_client_secret: SecretStr = Field(
        default=SecretStr(""), description="the client secret of this installation at the provider"
    )
    oidc_claim: str = Field(
        default="email", description="the claim of the provider's token that holds the user's name"
    )
    second_factor: Literal["nobody", "owners", "everybody"] = Field(
        default="nobody",
        description="which users need a code from an authenticator app to sign in with a password",
    )
    smtp_host: str = Field(
        default="", description="the mail server that sends notifications; empty for no mail"
    )
    smtp_port: int = Field(default=587, ge=1, le=65535, description="the mail server's port")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="how the connection to the mail server is encrypted"
    )
    smtp_user: str = Field(
        default="", description="the user name for the mail server; empty for none"
    )
    smtp_password: SecretStr = Field(
        default=SecretStr(""), description="the password for the mail server"
    )
    smtp_from: str = Field(
        default="parallax@localhost",
        pattern=r"^[^\s<>@]+@[^\s<>@]+$",
        description="the mail address that notifications come from",
    )
    frame_ancestors: str = Field(
        default="",
        pattern=r"^(https?://[\w.*:\[\]-]+( https?://[\w.*:\[\]-]+)*)?$",
        description="sites that may embed every run's pages in a frame, separated by spaces",
    )
    session_days: int = Field(
        default=30, ge=1, description="how many days after arrival a participant's link works"
    )
    most_per_participant: str = Field(
        default="20 USD, 20 EUR, 20 GBP",
        description="the most that one participant of a run can be paid",
    )
    most_per_run: str = Field(
        default="1000 USD, 1000 EUR, 1000 GBP",
        description="the most that all participants of a run can be paid together",
    )
    least_per_hour: str = Field(
        default="5 USD, 5 EUR, 5 GBP",
        description="the lowest hourly wage with which a run can be published",
    )
    most_per_hour: str = Field(
        default="100 USD, 100 EUR, 100 GBP",
        description="the highest hourly wage with which a run can be published",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="the lowest level of messages that the server logs"
    )
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto", description="the log's format; auto: text on a terminal, json elsewhere"
    )
    workers: int = Field(
        default=2,
        ge=1,
        description="how many processes serve participants; with several, researcher pages get"
        " one more",
    )
    connections: int = Field(
        default=1000, ge=1, description="how many connections each process keeps open at most"
    )
    metrics_host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="the address of the private port: metrics for Prometheus, and /readyz",
    )
    metrics_port: int = Field(default=0, ge=0, le=65535, description="the private port; 0: none")
    jobs_in_server: bool = Field(
        default=True, description="whether the server also runs the periodic jobs"
    )
    secret_key_file: str = Field(
        default="", description="the keys file; by default secret_key in the instance folder"
    )

    _recruiters: dict[str, BaseModel] = PrivateAttr(default_factory=dict)
    _instance: Path | None = PrivateAttr(default=None)

    @field_validator("oidc_issuer")
    @classmethod
    def _require_https(cls, value: str) -> str:
        if value and not is_secure(checked_url(value)):
            raise ValueError("the provider's address must begin with https://")
        return value

    @field_validator("public_url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        return checked_url(value)

    @field_validator("trusted_proxies")
    @classmethod
    def _check_networks(cls, value: str) -> str:
        AddressResolver(value.split())
        return value

    @field_validator("most_per_participant", "most_per_run", "least_per_hour", "most_per_hour")
    @classmethod
    def _check_amounts(cls, value: str) -> str:
        try:
            parse_amounts(value)
        except MoneyError as error:
            raise ValueError(
                f"{error.problem}; amounts are written as: 20 USD, 2500 JPY"
            ) from error
        return value

    @property
    def link_base(self) -> str:
        """The base URL of participants' links, without a trailing slash."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")

    def recruiter_settings(self, name: str, model: type[Model]) -> Model:
        """Return a recruiter's settings: the given values, otherwise its defaults.

        Args:
            name: The recruiter's name.
            model: The model that declares its settings.

        Raises:
            SettingError: A setting without a default is missing.
        """
        section_settings = self._recruiters.get(name)
        if section_settings is None:
            return validate_section(name, model, {})
        assert isinstance(section_settings, model)
        return section_settings

    def with_recruiters(self, by_name: Mapping[str, BaseModel]) -> Self:
        """Return a copy of these settings with the given settings of recruiters, by name."""
        copy = self.model_copy()
        copy._recruiters = dict(by_name)
        return copy

    def for_instance(self, instance: Path) -> Self:
        """Return a copy for an instance folder; a relative SQLite path is resolved against it."""
        file = self.database_url.removeprefix(_SQLITE_FILE)
        resolved = {"database_url": f"{_SQLITE_FILE}{instance.resolve() / file}"}
        is_resolved = file in ("", self.database_url) or Path(file).is_absolute()
        copy = self.model_copy(update={} if is_resolved else resolved)
        copy._instance = instance.resolve()
        return copy

    @property
    def instance(self) -> Path | None:
        """The instance folder; None for settings that were not read from one."""
        return self._instance


def checked_url(value: str) -> str:
    """Return a URL with a valid port; for the validators of settings.

    Raises:
        ValueError: The port is invalid.
    """
    # Reading the port raises an error for an impossible port or an unclosed bracket.
    if value and urlsplit(value).port == 0:
        raise ValueError("port 0 is not a real port, so links with it lead nowhere")
    return value


def validate_section(section: str, model: type[Model], values: Mapping[str, object]) -> Model:
    """Return a section's settings from checked values of all sources.

    Raises:
        SettingError: A setting without a default is missing, or the values are inconsistent.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            f"{flat_name(section, '.'.join(map(str, detail['loc'])))}"
            + (
                " is missing"
                if detail["type"] == "missing"
                else f": {describe_validation_error(detail)}"
            )
            for detail in error.errors(include_url=False)
        )
        raise SettingError(
            f"the settings of {section} cannot be used: {problems}",
            where=f"[{section}] in {FILE_NAME}",
            remedy="docs/settings.md explains how to give a recruiter's settings",
        ) from error


def flat_name(section: str, name: str) -> str:
    """Return a section's setting in the notation without sections: ``section_name``."""
    return f"{section.replace('-', '_')}_{name}" if section else name
