"""The installation's settings: one table, read once, from sources in one written order."""

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from webapp.errors import SettingError

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
        description="where the data are kept; a relative SQLite file lies in the instance folder",
    )
    host: str = Field(
        default="127.0.0.1", min_length=1, description="the address the server listens on"
    )
    port: int = Field(default=8000, ge=1, le=65535, description="the port the server listens on")
    public_url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="what participants' links begin with; http://host:port when empty",
    )
    frame_ancestors: str = Field(
        default="https://*.mturk.com https://app.prolific.com",
        pattern=r"^(https?://[\w.*:\[\]-]+( https?://[\w.*:\[\]-]+)*)?$",
        description="the sites that may show the pages in a frame, separated by spaces",
    )
    session_days: int = Field(
        default=30, ge=1, description="how many days after arrival a participant's link works"
    )
    most_per_participant_cents: int = Field(
        default=2_000, ge=0, description="the most one participant of a run is ever paid, in cents"
    )
    most_per_run_cents: int = Field(
        default=100_000, ge=0, description="the most the participants of a run are paid, in cents"
    )
    mturk_endpoint: str = Field(
        default="sandbox",
        pattern=r"^(live|sandbox|https?://[\w.:\[\]-]+/?)$",
        description="which Mechanical Turk: sandbox, live, or the address of another marketplace",
    )
    mturk_worker_site: str = Field(
        default="",
        pattern=r"^(https?://[\w.:\[\]-]+/?)?$",
        description="where workers of another marketplace submit; its own address when empty",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="the least serious messages the server logs"
    )
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto", description="how it logs; auto: text on a terminal, json elsewhere"
    )
    workers: int = Field(default=2, ge=1, description="how many processes answer")
    connections: int = Field(
        default=1000, ge=1, description="how many connections each process has open at a time"
    )
    metrics_host: str = Field(
        default="127.0.0.1", min_length=1, description="the address of the figures for Prometheus"
    )
    metrics_port: int = Field(default=0, ge=0, le=65535, description="their port; 0: none")
    jobs_in_server: bool = Field(
        default=True, description="whether the server does the periodic jobs as well"
    )
    secret_key_file: str = Field(
        default="", description="the key that signs links; secret_key in the instance folder"
    )

    @field_validator("public_url", "mturk_endpoint", "mturk_worker_site")
    @classmethod
    def _an_address(cls, value: str) -> str:
        # Reading the port is what tells an impossible one, and a bracket that does not close.
        if value and urlsplit(value).port == 0:
            raise ValueError("port 0 leads nowhere")
        return value

    @property
    def link_base(self) -> str:
        """What participants' links begin with, without a slash at the end."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")

    def in_folder(self, instance: Path) -> Self:
        """Return these settings with a relative SQLite file placed in the instance folder."""
        file = self.database_url.removeprefix(_SQLITE_FILE)
        if file in ("", self.database_url) or Path(file).is_absolute():
            return self
        url = f"{_SQLITE_FILE}{instance.resolve() / file}"
        return self.model_copy(update={"database_url": url})


def load_settings(instance: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings: defaults, then the instance's file, then the environment; the last wins.

    Args:
        instance: The installation's folder; its ``parallax.toml`` may be absent.
        environment: Variables named ``PARALLAX_<NAME>``.

    Raises:
        SettingError: A setting is unknown or has the wrong type; the message holds every problem.
    """
    file = instance / FILE_NAME
    from_file, from_environment = _read_file(file), _read_environment(environment)
    problems = [
        *_problems(from_file, lambda name: f"{file}: {name}", strict=True),
        *_problems(from_environment, _variable, strict=False),
    ]
    if problems:
        raise SettingError(
            f"{len(problems)} setting(s) cannot be used: {'; '.join(problems)}",
            remedy="docs/settings.md lists every setting",
        )
    return Settings.model_validate({**from_file, **from_environment}).in_folder(instance)


def _read_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingError(f"the settings cannot be read: {error}", where=str(path)) from error


def _read_environment(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        variable.removeprefix(ENVIRONMENT_PREFIX).lower(): value
        for variable, value in environment.items()
        if variable.startswith(ENVIRONMENT_PREFIX) and variable != INSTANCE_VARIABLE
    }


def _variable(name: str) -> str:
    return f"{ENVIRONMENT_PREFIX}{name.upper()}"


def _problems(
    values: Mapping[str, object], place: Callable[[str], str], *, strict: bool
) -> Iterator[str]:
    # The environment holds only text, so numbers are read from it; in the file a number in
    # quotes is a mistake.
    try:
        Settings.model_validate(values, strict=strict)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            name = str(detail["loc"][0])
            yield f"{place(name)} = {detail['input']!r}: {_wrong(name, detail['msg'])}"


def _wrong(name: str, message: str) -> str:
    if name in Settings.model_fields:
        return f"{message} ({Settings.model_fields[name].description})"
    near = get_close_matches(name, Settings.model_fields, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"known are {', '.join(Settings.model_fields)}"
    return f"there is no such setting, {hint}"
