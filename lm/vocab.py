"""Vocabularies of word-level models: the known words by frequency, and their numbers."""

from collections.abc import Mapping, Sequence

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
SPECIAL_WORDS = (UNKNOWN, BEGIN, END)
DEFAULT_MAX_WORDS = 50_000


class Vocabulary(dict[str, int]):
    """Words mapped to their numbers; any other word has the number of the unknown word.

    ``<s>`` cannot be looked up, so that no text can put a beginning where there is none.

    Args:
        words: The known words in the order of their numbers, all special words among them.
    """

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__((word, number) for number, word in enumerate(words))
        self.words = tuple(words)
        self.unknown, self.end = self[UNKNOWN], self[END]
        self.begin = self.pop(BEGIN)

    def __missing__(self, word: str) -> int:
        return self.unknown


def vocabulary_by_frequency(
    counts: Mapping[str, int], max_words: int = DEFAULT_MAX_WORDS, min_count: int = 1
) -> Vocabulary:
    """Return the special words followed by the most frequent words of a text.

    Args:
        counts: How often each word occurs.
        max_words: The number of words kept at most, special ones not counted; words of equal
            frequency are kept in alphabetical order, so that a text has one vocabulary.
        min_count: Words that occur less often are unknown.
    """
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    known = (word for word, n in ranked if n >= min_count and word not in SPECIAL_WORDS)
    return Vocabulary([*SPECIAL_WORDS, *list(known)[:max_words]])
