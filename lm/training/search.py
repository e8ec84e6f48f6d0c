"""Grids of settings: the models of a search, and their names."""

import itertools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from lm.errors import LmError, at, faults_of
from lm.training.settings import TrainingSettings, preset

GRIDS = Path(__file__).parent / "grids"


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid")

    preset: str = "marvin_linzen_2018"
    settings: dict[str, Any] = {}
    grid: list[dict[str, list[Any]]] = Field(min_length=1)


def read_grid(spec: str) -> dict[str, TrainingSettings]:
    """Return each model's name and settings.

    Args:
        spec: A TOML file, or the name of one in ``grids``. ``preset`` and ``settings`` apply to all
            models; each ``[[grid]]`` lists values, and every combination of them is a model.

    Raises:
        LmError: The file is missing or malformed, or a setting is unknown.
    """
    named = GRIDS / f"{spec}.toml"
    path = named if named.is_file() else Path(spec)
    try:
        with faults_of(path):
            file = _Spec.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
            with at("preset"):
                base = preset(file.preset)
            with at("settings"):
                base = base.changed(**file.settings)
            return _models(base, file.grid)
    except OSError as error:
        known = ", ".join(sorted(grid.stem for grid in GRIDS.glob("*.toml")))
        raise LmError(
            f"cannot read the search {spec}: {error.strerror}. Give a TOML file or one of: {known}."
        ) from error


def _models(
    base: TrainingSettings, grids: list[dict[str, list[Any]]]
) -> dict[str, TrainingSettings]:
    models: dict[str, TrainingSettings] = {}
    for number, grid in enumerate(grids):
        for values in itertools.product(*grid.values()):
            varied = dict(zip(grid, values, strict=True))
            with at("grid", number):
                models[_name(varied)] = base.changed(**varied)
    return models


def _name(varied: Mapping[str, object]) -> str:
    """Return a name such as ``hidden650_batch128_dropout0.2_lr20.0``, as in the publication."""
    same_as_hidden = varied.get("embedding") == varied.get("hidden")
    return "_".join(
        f"{key}{value}"
        for key, value in varied.items()
        if not (key == "embedding" and same_as_hidden)
    )
