"""Which tokens belong to one word, for masked models: what is hidden together with a token.

A tokenizer that divides text into words before it cuts them up says it itself. Others take a whole
sentence for one word, as SentencePiece does without spaces in Chinese, or with a normaliser that
replaces them. There the characters decide: words as runs of letters and digits, other marks alone,
and in scripts that write no spaces each character for itself.
"""

from collections.abc import Sequence

import regex as re

# Letters with the marks that combine with them, numbers, and connectors such as "_".
_WORD = re.compile(r"[\p{L}\p{M}\p{N}\p{Pc}]+|[^\p{L}\p{M}\p{N}\p{Pc}\s]")
# Letters of scripts that write no spaces between words; the last is Japanese's long vowel.
_UNSPACED = re.compile(
    r"(?V1)[[\p{L}\p{M}\p{Nl}]&&"
    "[\\p{Han}\\p{Hiragana}\\p{Katakana}\\p{Thai}\\p{Lao}\\p{Myanmar}\\p{Khmer}\u30fc]]"
)

Word = tuple[int, int]


def words_of_tokens(
    text: str,
    offsets: Sequence[tuple[int, int]],
    own: Sequence[int | None],
    *,
    divides: bool,
) -> list[Word | None]:
    """Return the word that each token belongs to, equal for tokens of one word.

    Args:
        text: The text.
        offsets: From which character to which each token stands.
        own: The tokenizer's own words; None for special tokens.
        divides: Whether the tokenizer divides text at spaces into words of its own.
    """
    starts = _starts(text)
    found: list[Word | None] = []
    for (start, end), word in zip(offsets, own, strict=True):
        if word is None:
            found.append(None)
            continue
        # A token may begin with the space before its word.
        while start < end and text[start].isspace():
            start += 1
        unspaced = start < len(text) and _UNSPACED.match(text[start])
        place = starts[start] if start < len(text) and (unspaced or not divides) else -1
        found.append((word if divides else 0, place))
    return found


def _starts(text: str) -> list[int]:
    """Return, for each character, where its word begins; one without a word is one itself."""
    starts = list(range(len(text)))
    for run in _WORD.finditer(text):
        begin = run.start()
        for place in range(run.start(), run.end()):
            if _UNSPACED.match(text[place]):
                begin = place + 1
            else:
                starts[place] = begin
    return starts
