"""N-gram models as scorers and as folders."""

import math
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lm.corpora.vocab import Vocabulary
from lm.model_folder import CONFIG, atomic_folder, read_config, write_config
from lm.ngram.arpa import read_arpa, write_arpa
from lm.ngram.table import NgramTable
from lm.scorer import TokenScores

TYPE = "ngram"
MODEL = "model.arpa"
COMPRESSED_MODEL = "model.arpa.gz"
FILES = (CONFIG, MODEL)


class NgramScorer:
    """A back-off n-gram model as a ``Scorer``.

    Args:
        table: The model.
        name: The model's name in tables and figures.
        trained_on: The text it was estimated from.
    """

    def __init__(self, table: NgramTable, *, name: str, trained_on: str) -> None:
        self.name, self.trained_on, self._table = name, trained_on, table
        self._vocabulary = Vocabulary(table.words)

    @classmethod
    def load(cls, folder: Path) -> "NgramScorer":
        """Return the model in a folder; any tool may have written its model.arpa or model.arpa.gz.

        Raises:
            LmError: A file is missing or damaged.
        """
        config = read_config(folder)
        name = str(config.get("name", folder.name))
        trained_on = str(config.get("trained_on", "unknown text"))
        path = folder / MODEL
        if not path.exists() and (folder / COMPRESSED_MODEL).exists():
            path = folder / COMPRESSED_MODEL
        return cls(read_arpa(path), name=name, trained_on=trained_on)

    @property
    def cased(self) -> bool:
        """Whether the vocabulary has capital letters."""
        return self._vocabulary.cased

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``.

        A ``<s>`` written in a text is an unknown word: the model itself adds the beginning.
        """
        if not requests:
            return []
        continuations: list[tuple[str, ...]] = []
        ends: list[int] = []
        ids = array("q")
        number_of = self._vocabulary.__getitem__
        for context, continuation in requests:
            tokens = tuple(continuation.split())
            ids.append(self._vocabulary.begin)
            ids.extend(map(number_of, context.split()))
            ids.extend(map(number_of, tokens))
            continuations.append(tokens)
            ends.append(len(ids))
        text = np.array(ids, np.int64)
        logprobs = self._table.logprobs_log10(text, self._vocabulary.begin) * math.log(10)
        unknown = text == self._vocabulary.unknown
        return [
            TokenScores(tokens, logprobs[end - len(tokens) : end], unknown[end - len(tokens) : end])
            for tokens, end in zip(continuations, ends, strict=True)
        ]


def save(folder: Path, table: NgramTable, config: Mapping[str, object]) -> None:
    """Write a model folder atomically.

    Args:
        folder: The model's folder; existing content is replaced.
        table: The model.
        config: The content of config.json besides the type: name, trained_on and settings.

    Raises:
        LmError: The folder cannot be written.
    """
    with atomic_folder(folder) as temporary:
        write_arpa(table, temporary / MODEL)
        write_config(temporary, {"type": TYPE, **config})
