"""Settings of training: presets, and grids of settings."""

import difflib
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lm.errors import LmError, at, locate_errors

ModelType = Literal["lstm", "srn", "windowed", "multitask"]
TYPE_NAMES: dict[ModelType, str] = {
    "lstm": "LSTM",
    "srn": "simple RNN",
    "windowed": "5-gram LSTM",
    "multitask": "multi-task LSTM",
}


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """All settings that determine a trained model's weights, besides the corpus.

    The defaults are those of Marvin & Linzen (2018), after Gulordava et al. (2018).

    Attributes:
        type: ``lstm``, ``srn``, ``windowed`` (an LSTM with a window of words), ``multitask``.
        hidden: The number of units per layer.
        embedding: The size of a word's embedding.
        layers: The number of recurrent layers.
        dropout: The share of values dropped in training.
        softmax: ``full``, ``tied`` or ``adaptive``.
        window: For ``windowed``: the number of words in the window, the predicted one included.
        batch: The number of text columns read in parallel.
        steps: The number of words after which gradients are truncated.
        optimizer: ``sgd``: stochastic gradient descent, as published; or ``adam``, which learns
            small texts in fewer epochs, with learning rates of about .001 to .01.
        lr: The initial learning rate.
        anneal: The divisor of the rate after an epoch that did not improve the validation loss.
        clip: The largest norm of a gradient; larger gradients are scaled down to it.
        epochs: The most passes over the training text.
        patience: The number of consecutive epochs without improvement after which training stops;
            0: never before the last epoch, as published. The best epoch's weights are always kept.
        seed: The seed of initial weights and dropout.
        precision: ``float32``, or ``bf16`` for matrix products.
    """

    type: ModelType = "lstm"
    hidden: int = 650
    embedding: int = 650
    layers: int = 2
    dropout: float = 0.2
    softmax: Literal["full", "tied", "adaptive"] = "full"
    window: int = 5
    batch: int = 128
    steps: int = 35
    optimizer: Literal["sgd", "adam"] = "sgd"
    lr: float = 20.0
    anneal: float = 4.0
    clip: float = 0.25
    epochs: int = 40
    patience: int = 0
    seed: int = 1
    precision: Literal["float32", "bf16"] = "float32"

    def to_config(self) -> dict[str, object]:
        """Return the settings in the format of config.json.

        The optimizer is a later setting, so it is only included if it is not the published one.
        """
        settings = asdict(self)
        return (
            settings
            if self.optimizer != "sgd"
            else {k: v for k, v in settings.items() if k != "optimizer"}
        )

    def changed(self, **changes: Any) -> "TrainingSettings":  # noqa: ANN401
        """Return the settings with the given changes; ``None`` means no change.

        Raises:
            LmError: A setting does not exist, or its value has the wrong type or is out of range.
        """
        defaults = {field.name: getattr(self, field.name) for field in fields(self)}
        chosen = {name: value for name, value in changes.items() if value is not None}
        for name, value in chosen.items():
            with at(name):
                _check(name, value, defaults)
        return replace(self, **chosen)


def _check(name: str, value: object, defaults: dict[str, object]) -> None:
    if name not in defaults:
        near = difflib.get_close_matches(name, defaults, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise LmError(
            f'there is no setting "{name}". The settings are: {", ".join(defaults)}.{hint}'
        )
    default = defaults[name]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    right = number if isinstance(default, float) else type(value) is type(default)
    if not right or (number and value < 0):  # type: ignore[operator]
        raise LmError(
            f'the setting "{name}" cannot be {value!r}. Expected something like {default!r}.'
        )


_SMALL = TrainingSettings(
    hidden=100, embedding=100, layers=1, dropout=0.1, batch=32, lr=20.0, epochs=3
)
PRESETS: dict[str, TrainingSettings] = {
    "marvin_linzen_2018": TrainingSettings(),
    "marvin_linzen_2018_multitask": TrainingSettings(type="multitask"),
    "gulordava_2018_windowed": TrainingSettings(type="windowed"),
    "demo_lstm": _SMALL,
    "demo_srn": replace(_SMALL, type="srn", lr=5.0),
    "demo_windowed": replace(_SMALL, type="windowed"),
    "demo_multitask": replace(_SMALL, type="multitask"),
}


def get_preset(name: str) -> TrainingSettings:
    """Return the settings of a preset.

    Raises:
        LmError: The preset does not exist.
    """
    if name not in PRESETS:
        near = difflib.get_close_matches(name, PRESETS, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise LmError(f'there is no preset "{name}". The presets are: {", ".join(PRESETS)}.{hint}')
    return PRESETS[name]


GRIDS_FOLDER = Path(__file__).parent / "grids"


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
    packaged = GRIDS_FOLDER / f"{spec}.toml"
    path = packaged if packaged.is_file() else Path(spec)
    try:
        with locate_errors(path):
            file = _Spec.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
            with at("preset"):
                base = get_preset(file.preset)
            with at("settings"):
                base = base.changed(**file.settings)
            return _models(base, file.grid)
    except OSError as error:
        names = ", ".join(sorted(grid.stem for grid in GRIDS_FOLDER.glob("*.toml")))
        raise LmError(
            f"cannot read the search {spec}: {error.strerror}. Give a TOML file or one of: {names}."
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
