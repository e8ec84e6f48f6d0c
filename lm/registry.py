"""The model types by name, and the one door through which a trained model is loaded."""

import difflib
import importlib
from pathlib import Path
from typing import Protocol, cast

from lm.errors import LmError
from lm.model_folder import CONFIG, read_config
from lm.scorer import Scorer

TYPES = {
    "ngram": "lm.ngram.model:NgramScorer",
}


class _ScorerClass(Protocol):
    def load(self, folder: Path) -> Scorer: ...


def load_scorer(folder: Path) -> Scorer:
    """Return the trained model in ``folder``, whatever its type.

    Raises:
        LmError: The folder holds no model, its type is unknown, or its files are damaged.
    """
    type_ = read_config(folder).get("type")
    if not isinstance(type_, str) or type_ not in TYPES:
        near = difflib.get_close_matches(str(type_), TYPES, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        raise LmError(
            f'{folder / CONFIG}: there is no model type "{type_}". '
            f"Expected one of: {', '.join(sorted(TYPES))}.{hint}"
        )
    module, _, attribute = TYPES[type_].partition(":")
    return cast(_ScorerClass, getattr(importlib.import_module(module), attribute)).load(folder)
