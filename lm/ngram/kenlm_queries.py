"""N-gram models queried through KenLM's Python module, if it is installed."""

import importlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from lm.corpora.vocab import BEGIN, UNKNOWN
from lm.errors import LmError
from lm.model_folder import read_config
from lm.ngram.model import COMPRESSED_MODEL, MODEL
from lm.scorer import TokenScores

BINARY_MODEL = "model.binary"


class _Model(Protocol):
    def full_scores(
        self, sentence: str, *, bos: bool, eos: bool
    ) -> Sequence[tuple[float, int, bool]]:
        """Return each word's log10 probability, length of the n-gram used, and whether unknown."""
        ...


class KenlmScorer:
    """A back-off n-gram model as a ``Scorer``, read and queried by KenLM (Heafield 2011).

    Its probabilities are those of ``NgramScorer`` on the same ARPA file, rounded to single
    precision. It also reads KenLM's binary files.

    Args:
        model: KenLM's model.
        name: The model's name in tables and figures.
        trained_on: The text it was estimated from.
        cased: Whether the vocabulary has capital letters; KenLM does not report it.
    """

    def __init__(self, model: _Model, *, name: str, trained_on: str, cased: bool = False) -> None:
        self.name, self.trained_on, self.cased, self._model = name, trained_on, cased, model

    @classmethod
    def load(cls, folder: Path) -> "KenlmScorer":
        """Return the model in a folder: model.binary, model.arpa or model.arpa.gz.

        Raises:
            LmError: KenLM is not installed, or the model is missing or damaged.
        """
        config = read_config(folder)
        names = (BINARY_MODEL, MODEL, COMPRESSED_MODEL)
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        if path is None:
            raise LmError(f"{folder} holds none of {', '.join(names)}. Put an n-gram model there.")
        name = str(config.get("name", folder.name))
        trained_on = str(config.get("trained_on", "unknown text"))
        cased = config.get("cased") is True
        return cls(_opened(path), name=name, trained_on=trained_on, cased=cased)

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``.

        A ``<s>`` written in a text is an unknown word: the model itself adds the beginning.
        """
        return [self._score(context.split(), text.split()) for context, text in requests]

    def _score(self, context: list[str], tokens: list[str]) -> TokenScores:
        words = [UNKNOWN if word == BEGIN else word for word in context + tokens]
        answers = list(self._model.full_scores(" ".join(words), bos=True, eos=False))
        own = answers[len(context) :]
        logprobs = np.array([logprob for logprob, _, _ in own], np.float64) * math.log(10)
        unknown = np.array([unknown for _, _, unknown in own], np.bool_)
        return TokenScores(tuple(tokens), logprobs, unknown)


def _opened(path: Path) -> _Model:
    try:
        kenlm = importlib.import_module("kenlm")
    except ImportError as error:
        raise LmError(
            f"{path} is to be read with KenLM, which is not installed. Install the package "
            'kenlm, or write "type": "ngram" in config.json to read an ARPA file without it.'
        ) from error
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    try:
        return cast(_Model, kenlm.Model(str(path), config))
    except OSError as error:
        raise LmError(
            f"KenLM cannot read the model {path} ({error}). Build the model again."
        ) from error
