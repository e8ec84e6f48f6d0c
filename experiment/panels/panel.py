"""The model of ``[panel]`` in study.toml: how participants arrive from a panel and return to it."""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, Self

from pydantic import model_validator

from experiment.panels.check_panel import check_panel
from experiment.panels.table import PRESETS, PRESETS_FOLDER, PanelTable
from experiment.panels.templates import UnfilledError, fill

_DEMONSTRATION = "demonstration"


class Panel(PanelTable):
    """Where participants come from by a link, and go back to by another."""

    @model_validator(mode="before")
    @classmethod
    def _on_top_of_its_preset(cls, given: object) -> object:
        if not isinstance(given, dict) or given.get("preset") not in PRESETS:
            return given
        return merged(preset(str(given["preset"])), given)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_panel(self)
        return self


def only_value(panel: Panel, template: str) -> str:
    """Return the only accepted value of a link's argument; empty if any value is accepted."""
    try:
        return fill(template, panel.values)
    except UnfilledError:
        return ""


def preset(name: str) -> dict[str, Any]:
    """Return the table of a preset panel."""
    return {key: value for key, value in _file(name).items() if key != _DEMONSTRATION}


def demonstration(name: str) -> dict[str, Any]:
    """Return how a preset's local stand-in fills in the link, and its additions to [panel].

    Returns:
        ``ids``: parameter of the link -> kind of id; ``panel``: lines of study.toml, optional.
    """
    tables: dict[str, Any] = _file(name)[_DEMONSTRATION]
    return tables


@cache
def _file(name: str) -> dict[str, Any]:
    return tomllib.loads((PRESETS_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def merged(under: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    """Return a table merged with another that takes precedence; subtables are merged by key."""
    both = dict(under)
    for name, value in over.items():
        below = both.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            value = merged(below, value)
        both[name] = value
    return both
