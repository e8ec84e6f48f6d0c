"""Load the installation's settings together with the settings that recruiters declare."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel

from experiment.errors import UnknownNameError
from webapp.core.settings import Settings
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
