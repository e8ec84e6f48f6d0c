"""Load and list the installation's settings, including the settings that recruiters declare."""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel

from experiment.errors import UnknownNameError
from webapp.core.settings import ENVIRONMENT_PREFIX, FILE_NAME, Settings, flat_name
from webapp.core.settings_sources import read_settings
from webapp.recruiters.registry import RECRUITERS, recruiter_class


class _Recruiters:
    """The recruiters' settings, each in a section of the recruiter's name."""

    def names(self) -> Iterable[str]:
        return RECRUITERS

    def model(self, name: str) -> type[BaseModel] | None:
        try:
            return recruiter_class(name).settings_model
        except UnknownNameError:
            return None


SECTIONS = _Recruiters()


def load_settings(instance: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings: defaults, overridden by the instance's file, then by the environment.

    A recruiter's settings are in its section ``[name]``, or ``name_setting`` anywhere.

    Args:
        instance: The installation's folder; its ``parallax.toml`` may be absent.
        environment: Variables named ``PARALLAX_<NAME>``.

    Raises:
        SettingError: A setting is unknown or has the wrong type; the message lists every problem.
        PluginError: A section belongs to a recruiter that cannot be imported.
    """
    return read_settings(instance, SECTIONS, environment)


_PASSWORD = re.compile(r"(://[^:/@]*):[^@]*@")


def list_settings(instance: Path) -> Iterator[tuple[str, ...]]:
    """Yield the name, value, default, source and meaning of every setting; secrets are masked.

    Args:
        instance: The installation's folder.

    Raises:
        SettingError: A setting is unknown or has the wrong type.
    """
    values, in_file = load_settings(instance), _names_in_file(instance)
    yield from _make_rows("", values, in_file)
    for section in SECTIONS.names():
        model = SECTIONS.model(section)
        if model is not None:
            yield from _make_rows(section, values.recruiter_settings(section, model), in_file)


def _make_rows(section: str, values: BaseModel, in_file: set[str]) -> Iterator[tuple[str, ...]]:
    for name, field in type(values).model_fields.items():
        flat = flat_name(section, name)
        yield (
            flat,
            _mask_password(getattr(values, name)),
            _mask_password(field.default),
            _name_source(flat, in_file),
            field.description or "",
        )


def _names_in_file(instance: Path) -> set[str]:
    file = instance / FILE_NAME
    in_file = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    sections = {key: of for key, of in in_file.items() if isinstance(of, dict)}
    return {*in_file, *(flat_name(key, name) for key, of in sections.items() for name in of)}


def _name_source(name: str, in_file: set[str]) -> str:
    if ENVIRONMENT_PREFIX + name.upper() in os.environ:
        return "environment"
    return FILE_NAME if name in in_file else "default"


def _mask_password(value: object) -> str:
    return _PASSWORD.sub(r"\1:***@", str(value)) or '""'
