"""The model types by name, and the one door through which a trained model is loaded."""

import difflib
import importlib
from pathlib import Path
from typing import Protocol, cast

from lm.errors import LmError
from lm.model_folder import CONFIG, read_config
from lm.scorer import Scorer

TYPES = {
    "fixed": "lm.fixed:FixedScorer",
    "hf": "lm.hf:HfScorer",
    "kenlm": "lm.ngram.kenlm_queries:KenlmScorer",
    "ngram": "lm.ngram.model:NgramScorer",
    "recurrent": "lm.rnn.scorer:RecurrentScorer",
    "unigram": "lm.unigram:UnigramScorer",
}
HF_PREFIX = "hf:"


class _ScorerClass(Protocol):
    def load(self, folder: Path) -> Scorer: ...


def load_scorer(model: Path | str) -> Scorer:
    """Return a trained model, whatever its type.

    Args:
        model: A model's folder, or ``hf:`` and the path or name of a Hugging Face model.

    Raises:
        LmError: The folder holds no model, its type is unknown, or its files are damaged.
    """
    named = str(model)
    if named.startswith(HF_PREFIX):
        from lm.hf import load_hf

        return load_hf(named.removeprefix(HF_PREFIX))
    folder = Path(model)
    config = read_config(folder)
    type_ = config.get("type")
    if not isinstance(type_, str) or type_ not in TYPES:
        raise LmError(
            f'{folder / CONFIG}: there is no model type "{type_}". '
            f"Expected one of: {', '.join(sorted(TYPES))}.{_hint(config, folder)}"
        )
    module, _, attribute = TYPES[type_].partition(":")
    return cast(_ScorerClass, getattr(importlib.import_module(module), attribute)).load(folder)


def _hint(config: dict[str, object], folder: Path) -> str:
    if "type" not in config and "model_type" in config:
        return f" This looks like a Hugging Face model: write {HF_PREFIX}{folder} instead."
    near = difflib.get_close_matches(str(config.get("type")), TYPES, n=1)
    return f' Did you mean "{near[0]}"?' if near else ""
