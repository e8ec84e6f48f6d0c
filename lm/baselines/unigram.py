"""Unigram models: a word's frequency, independent of the words before it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lm.corpora.text import EncodedText
from lm.corpora.vocab import BEGIN, END, UNKNOWN, Vocabulary
from lm.errors import LmError, why_unread
from lm.model_folder import CONFIG, atomic_folder, read_config, write_config
from lm.scorer import TokenScores

MODEL_TYPE = "unigram"
WORDS_FILE = "words.tsv"
FILES = (CONFIG, WORDS_FILE)


class UnigramScorer:
    """A unigram model as a ``Scorer``.

    One is added to every count, so that words with count 0 have a probability, too::

        P(w) = (c(w) + 1) / (sum_x c(x) + V)

    over the ``V`` words that can follow a context: ``<unk>`` and ``</s>`` are among them, ``<s>``
    is not. More frequent words are always more probable, as a frequency baseline requires.

    Args:
        vocabulary: The words.
        counts: int64, shape ``(V + 1,)``: the count of each word, by its number; the count of
            ``<s>`` is ignored.
        name: The model's name in tables and figures.
        trained_on: The text the counts come from.
    """

    def __init__(
        self, vocabulary: Vocabulary, counts: NDArray[np.int64], *, name: str, trained_on: str
    ) -> None:
        self.name, self.trained_on, self._vocabulary = name, trained_on, vocabulary
        added_counts = counts + 1.0
        added_counts[vocabulary.begin] = 0.0
        # The vocabulary never returns <s>, so its log-probability of -inf is never used.
        with np.errstate(divide="ignore"):
            self._logprobs = np.log(added_counts / added_counts.sum())

    @classmethod
    def load(cls, folder: Path) -> "UnigramScorer":
        """Return the model in a folder.

        Raises:
            LmError: A file is missing or damaged, or the words lack ``<unk>`` or ``</s>``.
        """
        config = read_config(folder)
        vocabulary, counts = _read_words(folder / WORDS_FILE)
        name = str(config.get("name", folder.name))
        trained_on = str(config.get("trained_on", "unknown text"))
        return cls(vocabulary, counts, name=name, trained_on=trained_on)

    @property
    def cased(self) -> bool:
        """Whether the vocabulary has capital letters."""
        return self._vocabulary.cased

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``. The context has no effect."""
        return [self._make_scores(tuple(continuation.split())) for _, continuation in requests]

    def _make_scores(self, tokens: tuple[str, ...]) -> TokenScores:
        numbers = np.array([self._vocabulary[token] for token in tokens], np.int64)
        return TokenScores(tokens, self._logprobs[numbers], numbers == self._vocabulary.unknown)


def chosen_settings(name: str, options: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that determine the model besides its text: none but its name."""
    return {"name": name or MODEL_TYPE}


def counts_all_words(options: Mapping[str, object]) -> bool:
    """Return False: words outside the vocabulary are not counted as words of their own."""
    return False


def train(
    text: EncodedText, vocabulary: Vocabulary, *_: object
) -> tuple[dict[str, object], Callable[[Path, Mapping[str, object]], None]]:
    """Count the words of a text; see ``lm/ngram/train.py`` for what is returned."""
    counts = count_unigrams(text, vocabulary)
    return {}, lambda folder, config: save(folder, vocabulary, counts, config)


def count_unigrams(text: EncodedText, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Return the count of each word in a text, int64, shape ``(words,)``."""
    return np.bincount(text.ids, minlength=len(vocabulary.words))


def save(
    folder: Path, vocabulary: Vocabulary, counts: NDArray[np.int64], config: Mapping[str, object]
) -> None:
    """Write a model folder atomically.

    Args:
        folder: The model's folder; existing content is replaced.
        vocabulary: The words.
        counts: As ``count_unigrams`` returns them.
        config: The content of config.json besides the type: name, trained_on and settings.

    Raises:
        LmError: The folder cannot be written.
    """
    with atomic_folder(folder) as temporary:
        rows = zip(vocabulary.words, counts.tolist(), strict=True)
        lines = (f"{word}\t{count}\n" for word, count in rows if word != BEGIN)
        (temporary / WORDS_FILE).write_text("".join(lines), encoding="utf-8", newline="\n")
        write_config(temporary, {"type": MODEL_TYPE, **config})


def _read_words(path: Path) -> tuple[Vocabulary, NDArray[np.int64]]:
    counts: dict[str, int] = {BEGIN: 0}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise LmError(
            f"cannot read the word counts {path} ({why_unread(error, path)}). "
            "Train the model again."
        ) from error
    for number, line in enumerate(lines, start=1):
        if line:
            word, count = _word_and_count(line, path, number)
            if word in counts:
                raise LmError(
                    f"{path}, line {number}: the word {word} occurs a second time. Remove one "
                    "of the two lines."
                )
            counts[word] = count
    for special in (UNKNOWN, END):
        if special not in counts:
            raise LmError(
                f"{path} lacks the word {special}. Add a line with it and its count (0 if it "
                "never occurs): it gives the probability of words outside the list."
            )
    return Vocabulary(list(counts)), np.array(list(counts.values()), np.int64)


def _word_and_count(line: str, path: Path, number: int) -> tuple[str, int]:
    word, _, count = line.partition("\t")
    if not word or not count.isdecimal():
        raise LmError(
            f'{path}, line {number}: "{line}" is not a word, a tab and its count (a whole number).'
        )
    return word, int(count)
