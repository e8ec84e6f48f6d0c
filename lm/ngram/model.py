"""N-gram models as scorers, by own look-up or through KenLM's Python module, and as folders."""

import importlib
import math
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from lm.corpora.vocab import BEGIN, UNKNOWN, Vocabulary
from lm.errors import LmError
from lm.model_folder import CONFIG, atomic_folder, read_config, write_config
from lm.ngram.arpa import read_arpa, write_arpa
from lm.ngram.table import NgramTable
from lm.scorer import TokenScores

MODEL_TYPE = "ngram"
ARPA_FILE = "model.arpa"
GZIP_ARPA_FILE = "model.arpa.gz"
FILES = (CONFIG, ARPA_FILE)


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
        path = folder / ARPA_FILE
        if not path.exists() and (folder / GZIP_ARPA_FILE).exists():
            path = folder / GZIP_ARPA_FILE
        return cls(read_arpa(path), name=name, trained_on=trained_on)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the vocabulary."""
        return self._vocabulary.words

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
        write_arpa(table, temporary / ARPA_FILE)
        write_config(temporary, {"type": MODEL_TYPE, **config})


BINARY_FILE = "model.binary"


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
        names = (BINARY_FILE, ARPA_FILE, GZIP_ARPA_FILE)
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        if path is None:
            raise LmError(f"{folder} holds none of {', '.join(names)}. Put an n-gram model there.")
        name = str(config.get("name", folder.name))
        trained_on = str(config.get("trained_on", "unknown text"))
        cased = config.get("cased") is True
        return cls(_open_kenlm(path), name=name, trained_on=trained_on, cased=cased)

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``.

        A ``<s>`` written in a text is an unknown word: the model itself adds the beginning.
        """
        return [self._score(context.split(), text.split()) for context, text in requests]

    def _score(self, context: list[str], tokens: list[str]) -> TokenScores:
        words = [UNKNOWN if word == BEGIN else word for word in context + tokens]
        answers = list(self._model.full_scores(" ".join(words), bos=True, eos=False))
        token_answers = answers[len(context) :]
        logprobs = np.array([logprob for logprob, _, _ in token_answers], np.float64) * math.log(10)
        unknown = np.array([unknown for _, _, unknown in token_answers], np.bool_)
        return TokenScores(tuple(tokens), logprobs, unknown)


def _open_kenlm(path: Path) -> _Model:
    try:
        kenlm = importlib.import_module("kenlm")
    except ImportError as error:
        raise LmError(
            f"{path} needs KenLM, which is not installed. Install the package "
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
