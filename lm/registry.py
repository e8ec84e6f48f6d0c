"""The model types by name, and the one door through which a trained model is loaded."""

import difflib
import importlib
from pathlib import Path
from typing import Literal, Protocol, cast

from lm.errors import LmError
from lm.model_folder import CONFIG, read_config
from lm.scorer import Scorer

Device = Literal["auto", "cpu", "cuda", "mps"]
TYPES = {
    "fixed": "lm.fixed:FixedScorer",
    "hf": "lm.hf:HfScorer",
    "kenlm": "lm.ngram.kenlm_queries:KenlmScorer",
    "ngram": "lm.ngram.model:NgramScorer",
    "recurrent": "lm.rnn.scorer:RecurrentScorer",
    "unigram": "lm.unigram:UnigramScorer",
}
HF_PREFIX = "hf:"
# The types of networks; all others compute on the processor.
_ON_DEVICES = ("hf", "recurrent")


class _ScorerClass(Protocol):
    def load(self, folder: Path, **options: Device) -> Scorer: ...


def load_scorer(model: Path | str, device: Device = "auto") -> Scorer:
    """Return a trained model, whatever its type.

    Args:
        model: A model's folder, or ``hf:`` and the path or name of a Hugging Face model.
        device: Where a network computes; ``auto`` takes CUDA, then MPS, then the processor.

    Raises:
        LmError: The folder holds no model, its type is unknown, its files are damaged, or the
            device is not there or not for it.
    """
    named = str(model)
    if named.startswith(HF_PREFIX):
        from lm.hf import load_hf

        return load_hf(named.removeprefix(HF_PREFIX), device=device)
    folder = Path(model)
    config = read_config(folder)
    type_ = config.get("type")
    if not isinstance(type_, str) or type_ not in TYPES:
        raise LmError(
            f'{folder / CONFIG}: there is no model type "{type_}". '
            f"Expected one of: {', '.join(sorted(TYPES))}.{_hint(config, folder)}"
        )
    module, _, attribute = TYPES[type_].partition(":")
    found = cast(_ScorerClass, getattr(importlib.import_module(module), attribute))
    if type_ in _ON_DEVICES:
        return found.load(folder, device=device)
    if device not in ("auto", "cpu"):
        raise LmError(
            f'{folder}: a model of the type "{type_}" computes on the processor alone. Leave '
            f"`--device {device}` out."
        )
    return found.load(folder)


def _hint(config: dict[str, object], folder: Path) -> str:
    if "type" not in config and "model_type" in config:
        return f" This looks like a Hugging Face model: write {HF_PREFIX}{folder} instead."
    near = difflib.get_close_matches(str(config.get("type")), TYPES, n=1)
    return f' Did you mean "{near[0]}"?' if near else ""
