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
from lm.weights import AS_USUAL, Weights

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
GROUP = "parallax.scorers"
HF_PREFIX = "hf:"
# The types that are networks; all others compute on the CPU.
_ON_DEVICES = ("hf", "recurrent")


class _ScorerClass(Protocol):
    def load(self, folder: Path, **options: Device) -> Scorer: ...


def load_scorer(
    model: Path | str,
    device: Device = "auto",
    *,
    own_code: bool = True,
    how: Weights = AS_USUAL,
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
    named = str(model)
    if named.startswith(HF_PREFIX):
        from lm.huggingface.load import load_hf

        return load_hf(named.removeprefix(HF_PREFIX), device=device, how=how)
    folder = Path(model)
    config = read_config(folder)
    type_ = str(config.get("type"))
    found = _type_named(type_, config, folder, own_code=own_code)
    if how != AS_USUAL:
        if type_ != "hf":
            raise LmError(
                f'{folder}: a model of the type "{type_}" has one form only. Leave --dtype, '
                "--bits, --device-map and --long-texts out, which are for Hugging Face models."
            )
        from lm.huggingface.load import HfFolder

        return HfFolder.load(folder, device, how)
    if type_ in _ON_DEVICES or getattr(found, "takes_device", False):
        return found.load(folder, device=device)
    if device not in ("auto", "cpu"):
        raise LmError(
            f'{folder}: a model of the type "{type_}" can only compute on the CPU. Leave '
            f"`--device {device}` out."
        )
    return found.load(folder)


def _type_named(
    name: str, config: dict[str, object], folder: Path, *, own_code: bool
) -> _ScorerClass:
    if name in TYPES:
        module, _, attribute = TYPES[name].partition(":")
        return cast(_ScorerClass, getattr(importlib.import_module(module), attribute))
    installed = entry_points(group=GROUP)
    offers = {each.value: each for each in installed if each.name == name}
    if len(offers) > 1:
        raise _offered_twice(name, offers.values(), folder)
    if offers:
        return _imported(next(iter(offers.values())), folder)
    if ":" in name and own_code:
        return _imported(EntryPoint(name, name, GROUP), folder)
    raise LmError(
        f'{folder / CONFIG}: there is no model type "{name}". '
        f"Expected one of: {', '.join(sorted({*TYPES, *installed.names}))}.{_hint(config, folder)}"
    )


def _imported(plugin: EntryPoint, folder: Path) -> _ScorerClass:
    try:
        found = plugin.load()
    except Exception as error:
        # A third-party module may raise any error while it is imported.
        raise LmError(
            f'{folder / CONFIG}: the model type "{plugin.name}" cannot be imported '
            f"({type(error).__name__}: {error}). Expected a class on Python's path (PYTHONPATH)."
        ) from error
    if not isinstance(found, type) or not hasattr(found, "load"):
        raise LmError(
            f'{folder / CONFIG}: "{plugin.name}" is not a model type. Expected a class with `load`.'
        )
    return cast(_ScorerClass, found)


def _offered_twice(name: str, offers: Iterable[EntryPoint], folder: Path) -> LmError:
    packages = sorted(f"{each.dist.name} ({each.value})" for each in offers if each.dist)
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
