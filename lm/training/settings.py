"""The settings of training a recurrent model, and named presets."""

import difflib
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from lm.errors import LmError, at

ModelType = Literal["lstm", "srn", "windowed", "multitask"]
NAMES: dict[ModelType, str] = {
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
        kept = asdict(self)
        return (
            kept if self.optimizer != "sgd" else {k: v for k, v in kept.items() if k != "optimizer"}
        )

    def changed(self, **changes: Any) -> "TrainingSettings":  # noqa: ANN401
        """Return the settings with the given changes; ``None`` means no change.

        Raises:
            LmError: A setting does not exist, or its value has the wrong type or is out of range.
        """
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in changes.items() if value is not None}
        for name, value in given.items():
            with at(name):
                _check(name, value, known)
        return replace(self, **given)


def _check(name: str, value: object, known: dict[str, object]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise LmError(f'there is no setting "{name}". The settings are: {", ".join(known)}.{hint}')
    default = known[name]
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


def preset(name: str) -> TrainingSettings:
    """Return the settings of a preset.

    Raises:
        LmError: The preset does not exist.
    """
    if name not in PRESETS:
        near = difflib.get_close_matches(name, PRESETS, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise LmError(f'there is no preset "{name}". The presets are: {", ".join(PRESETS)}.{hint}')
    return PRESETS[name]
