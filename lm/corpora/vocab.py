"""Vocabularies of word-level models: the most frequent words, and their numbers."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from lm.errors import LmError, why_unread

UNKNOWN, BEGIN, END, BOTH = "<unk>", "<s>", "</s>", "<eos>"
SPECIAL_WORDS = (UNKNOWN, BEGIN, END)
STREAM_WORDS = (UNKNOWN, BOTH)
DEFAULT_MAX_WORDS = 50_000


class Vocabulary(dict[str, int]):
    """Maps words to numbers; all other words have the number of the unknown word.

    Models of single sentences have ``<s>`` and ``</s>``. Models of a stream of sentences have one
    ``<eos>``, which ends a sentence and begins the next; ``</s>`` is then an alias of it.
    ``<s>`` cannot be looked up, so that no text can contain a beginning of its own.

    Args:
        words: The known words, special words included, in the order of their numbers.

    Raises:
        LmError: Special words are missing, or a word is duplicated.
    """

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__((word, number) for number, word in enumerate(words))
        self.words = tuple(words)
        _check(self, len(self.words))
        self.unknown = self[UNKNOWN]
        self.end = self[END] if END in self else self[BOTH]
        self.begin = self.pop(BEGIN, self.end)

    def __missing__(self, word: str) -> int:
        return self.end if word == END else self.unknown

    @property
    def cased(self) -> bool:
        """Whether any word has a capital letter, so that texts must not be lower-cased."""
        return any(word != word.lower() for word in self.words)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the words in their order, in hexadecimal."""
        return hashlib.sha256("\n".join(self.words).encode()).hexdigest()


def _check(words: Mapping[str, int], n: int) -> None:
    if UNKNOWN not in words:
        raise LmError(
            f"the vocabulary has no {UNKNOWN}, which stands for every other word. Add a line "
            f"{UNKNOWN} where the model expects it, or have the vocabulary built from the text."
        )
    if BOTH not in words and not (BEGIN in words and END in words):
        raise LmError(
            f"the vocabulary has no {BOTH}, which separates sentences (or {BEGIN} and {END}, which "
            f"enclose them). Add a line {BOTH} where the model expects it."
        )
    if len(words) != n:
        raise LmError("a word occurs twice in the vocabulary. Remove one of the two lines.")


def vocabulary_by_frequency(
    counts: Mapping[str, int],
    max_words: int = DEFAULT_MAX_WORDS,
    min_count: int = 1,
    special: Sequence[str] = SPECIAL_WORDS,
) -> Vocabulary:
    """Return the special words followed by the most frequent words of a text.

    Args:
        counts: The count of each word.
        max_words: The number of words kept at most, special ones not counted; words of equal
            frequency are kept in alphabetical order, so that a text has one vocabulary.
        min_count: Words that occur less often are unknown.
        special: ``SPECIAL_WORDS``, or ``STREAM_WORDS`` for a model of a stream of sentences.
    """
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    reserved = {*SPECIAL_WORDS, BOTH}
    frequent = (word for word, n in ranked if n >= min_count and word not in reserved)
    return Vocabulary([*special, *list(frequent)[:max_words]])


def read_vocabulary(path: Path) -> Vocabulary:
    """Return the vocabulary in a file with one word per line, in the order of the words' numbers.

    Raises:
        LmError: The file cannot be read, or a special word is missing.
    """
    try:
        return Vocabulary(path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise LmError(
            f"cannot read the vocabulary {path} ({why_unread(error, path)}). Give a text in UTF-8, "
            "one word per line."
        ) from error
    except LmError as error:
        raise LmError(f"{path}: {error}") from error


def write_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    """Write a vocabulary in the format of ``read_vocabulary``."""
    path.write_text("\n".join(vocabulary.words) + "\n", encoding="utf-8", newline="\n")
