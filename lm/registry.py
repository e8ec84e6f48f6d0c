"""The model types by name, and the function that loads a trained model of any type."""

import difflib
import importlib
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Literal, Protocol, cast

from lm.errors import LmError
from lm.model_folder import CONFIG, read_config
from lm.scorer import Scorer
from lm.weights import DEFAULT_WEIGHTS, Weights

Device = Literal["auto", "cpu", "cuda", "mps"]
TYPES = {
    "fixed": "lm.baselines.score_table:FixedScorer",
    "hf": "lm.huggingface.load:HfFolder",
    "kenlm": "lm.ngram.model:KenlmScorer",
    "ngram": "lm.ngram.model:NgramScorer",
    "recurrent": "lm.rnn.scorer:RecurrentScorer",
    "unigram": "lm.baselines.unigram:UnigramScorer",
}
# Installed packages add types through entry points of this group.
ENTRY_POINT_GROUP = "parallax.scorers"
HF_PREFIX = "hf:"
# The types that are networks; all others compute on the CPU.
_DEVICE_TYPES = ("hf", "recurrent")


class _ScorerClass(Protocol):
    def load(self, folder: Path, **options: Device) -> Scorer: ...


def load_scorer(
    model: Path | str,
    device: Device = "auto",
    *,
    own_code: bool = True,
    how: Weights = DEFAULT_WEIGHTS,
) -> Scorer:
    """Return a trained model of any type.

    Args:
        model: A model's folder, or ``hf:`` and the path or name of a Hugging Face model.
        device: The device of a network; ``auto`` prefers CUDA, then MPS, then the CPU.
        own_code: Whether to allow a type of the form ``"module:Class"``, which is imported.
        how: The form of a Hugging Face model's weights; other models have one form.

    Raises:
        LmError: The folder contains no model; its type is unknown, defined by two packages, not
            importable or not allowed; its files are damaged; or the device is not available or
            not supported by the model.
    """
    model_name = str(model)
    if model_name.startswith(HF_PREFIX):
        from lm.huggingface.load import load_hf

        return load_hf(model_name.removeprefix(HF_PREFIX), device=device, how=how)
    folder = Path(model)
    config = read_config(folder)
    type_ = str(config.get("type"))
    scorer_class = _find_type(type_, config, folder, own_code=own_code)
    if how != DEFAULT_WEIGHTS:
        if type_ != "hf":
            raise LmError(
                f'{folder}: a model of the type "{type_}" has a single form. Leave --dtype, '
                "--bits, --device-map and --long-texts out, which are for Hugging Face models."
            )
        from lm.huggingface.load import HfFolder

        return HfFolder.load(folder, device, how)
    if type_ in _DEVICE_TYPES or getattr(scorer_class, "takes_device", False):
        return scorer_class.load(folder, device=device)
    if device not in ("auto", "cpu"):
        raise LmError(
            f'{folder}: a model of the type "{type_}" can only compute on the CPU. Leave '
            f"`--device {device}` out."
        )
    return scorer_class.load(folder)


def _find_type(
    name: str, config: dict[str, object], folder: Path, *, own_code: bool
) -> _ScorerClass:
    if name in TYPES:
        module, _, attribute = TYPES[name].partition(":")
        return cast(_ScorerClass, getattr(importlib.import_module(module), attribute))
    installed = entry_points(group=ENTRY_POINT_GROUP)
    offers = {
        entry_point.value: entry_point for entry_point in installed if entry_point.name == name
    }
    if len(offers) > 1:
        raise _ambiguous_type_error(name, offers.values(), folder)
    if offers:
        return _import_type(next(iter(offers.values())), folder)
    if ":" in name and own_code:
        return _import_type(EntryPoint(name, name, ENTRY_POINT_GROUP), folder)
    raise LmError(
        f'{folder / CONFIG}: there is no model type "{name}". '
        f"Expected one of: {', '.join(sorted({*TYPES, *installed.names}))}.{_hint(config, folder)}"
    )


def _import_type(plugin: EntryPoint, folder: Path) -> _ScorerClass:
    try:
        loaded = plugin.load()
    except Exception as error:
        # A third-party module may raise any error while it is imported.
        raise LmError(
            f'{folder / CONFIG}: the model type "{plugin.name}" cannot be imported '
            f"({type(error).__name__}: {error}). Expected a class on Python's path (PYTHONPATH)."
        ) from error
    if not isinstance(loaded, type) or not hasattr(loaded, "load"):
        raise LmError(
            f'{folder / CONFIG}: "{plugin.name}" is not a model type. Expected a class with `load`.'
        )
    return cast(_ScorerClass, loaded)


def _ambiguous_type_error(name: str, offers: Iterable[EntryPoint], folder: Path) -> LmError:
    packages = sorted(f"{offer.dist.name} ({offer.value})" for offer in offers if offer.dist)
    return LmError(
        f'{folder / CONFIG}: the model type "{name}" is offered more than once: '
        f"{', '.join(packages)}. Expected one package. Uninstall the others, or write the one you "
        'mean as "module:NAME".'
    )


def _hint(config: dict[str, object], folder: Path) -> str:
    if "type" not in config and "model_type" in config:
        return f" This looks like a Hugging Face model: write {HF_PREFIX}{folder} instead."
    near = difflib.get_close_matches(str(config.get("type")), TYPES, n=1)
    return f' Did you mean "{near[0]}"?' if near else ""
