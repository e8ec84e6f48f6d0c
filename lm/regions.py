"""Surprisals of a text's tokens by its regions, as SyntaxGym gives tokens to regions.

A token belongs to the region in which its first character other than a space stands (Gauthier et
al. 2020). Regions may be empty; the text is the others joined by single spaces.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lm.scorer import HasSubwords, Scorer

Floats = NDArray[np.float64]


def region_surprisals(scorer: Scorer, texts: Sequence[Sequence[str]]) -> list[list[Floats]]:
    """Return -log P of the tokens of each region of each text, in nats.

    Args:
        scorer: The model.
        texts: Each text as its regions, with single spaces inside.

    Returns:
        For each text and region float64, shape ``(tokens,)``; no token where a region is empty.

    Raises:
        LmError: A text cannot be scored.
    """
    joined = [" ".join(filter(None, regions)) for regions in texts]
    found = []
    for text, regions, scores in zip(
        joined, texts, scorer.score([("", text) for text in joined]), strict=True
    ):
        if isinstance(scorer, HasSubwords):
            starts = _starts(text, scorer.token_ends(text))
        else:
            starts = _word_starts(text)
        counts = np.searchsorted(starts, _edges(regions), "left")
        surprisals = np.maximum(-scores.logprobs_nats, 0.0)
        found.append(np.split(surprisals, counts))
    return found


def _starts(text: str, ends: Sequence[int]) -> list[int]:
    starts, before = [], 0
    for end in ends:
        spaces = len(text[before:]) - len(text[before:].lstrip())
        starts.append(before + spaces)
        before = end
    return starts


def _word_starts(text: str) -> list[int]:
    lengths = [len(word) + 1 for word in text.split()]
    return [int(end) - length for end, length in zip(np.cumsum(lengths), lengths, strict=True)]


def _edges(regions: Sequence[str]) -> list[int]:
    """Return where each region but the first begins; an empty one begins where the next does."""
    lengths = np.array([len(region) + 1 if region else 0 for region in regions])
    return [int(edge) for edge in np.cumsum(lengths)[:-1]]
