"""Surprisal of words and regions: sums over the model's tokens, aligned with the text's pieces.

If a tokenizer marks the beginning of a word in its first token (the space belongs to the token
after it), a word's tokens do not state that the word ends there, but that the previous word has
ended. The probability of a word is then not the product of its tokens' probabilities. With B(c) the
probability that a new word or the end follows c::

    P(w | c) = P(tokens of w | c) * B(c w) / B(c)

(Pimentel & Meister 2024; Oh & Schuler 2024). At the beginning of a text B(c) is 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lm.errors import LmError
from lm.scorer import HasSubwords, Scorer, TokenScores

Floats = NDArray[np.float64]
NATS_PER_BIT = math.log(2)
# The tokens hidden for a masked model's pseudo-log-likelihood: the scored token alone, or also the
# rest of its word.
PLL = Literal["within_word_l2r", "original"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One word or region of a text.

    Attributes:
        text: The original text.
        surprisal_nats: -log P(piece | the text before it).
        n_tokens: The number of the model's tokens.
        n_unknown: The number of unknown tokens among them.
        corrected: Whether the surprisal is corrected for the mark in the first token.
    """

    text: str
    surprisal_nats: float
    n_tokens: int
    n_unknown: int
    corrected: bool


def choose_pll(scorer: object, pll: str) -> None:
    """Set the tokens that a masked model hides, see ``PLL``.

    Raises:
        LmError: The model is not a masked one.
    """
    encoder = getattr(scorer, "encoder", None)
    if encoder is None or encoder.beginning is not None:
        raise LmError("only masked models have a pseudo-log-likelihood. Leave `--pll` out.")
    encoder.pll = pll


def surprisals(
    scorer: Scorer, texts: Sequence[Sequence[str]], *, spaces: bool = True, correct: bool = True
) -> list[list[Piece]]:
    """Return the surprisal of each piece of each text.

    Args:
        scorer: The model.
        texts: Each text as a list of pieces: words, or regions of several words.
        spaces: Whether pieces are separated by spaces; without them the text is continuous, as in
            Chinese, and a segmentation sets the pieces. Word-level models always get spaces.
        correct: Whether to correct for tokens that start with the space before a word. Without such
            marks (words as tokens, masked models, pieces without spaces), there is nothing to
            correct.

    Raises:
        LmError: A piece is empty, or a token belongs to two pieces.
    """
    for number, regions in enumerate(texts, start=1):
        if not all(region.strip() for region in regions):
            raise LmError(
                f"text {number} has an empty region. Put exactly one bar between regions."
            )
    if not isinstance(scorer, HasSubwords):
        return _sum_over_words(scorer, texts)
    joined = [(" " if spaces else "").join(regions) for regions in texts]
    scored = scorer.score([("", text) for text in joined])
    boundary_logprobs = scorer.boundary_logprobs(joined) if correct and spaces else None
    boundaries: Sequence[Floats | None] = boundary_logprobs or [None] * len(joined)
    results = []
    for text, regions, scores, mass in zip(joined, texts, scored, boundaries, strict=True):
        ends = _find_region_ends(text, regions, scorer.token_ends(text), spaces=spaces)
        results.append(_make_pieces(regions, ends, scores, mass))
    return results


def _sum_over_words(scorer: Scorer, texts: Sequence[Sequence[str]]) -> list[list[Piece]]:
    scored = scorer.score([("", " ".join(regions)) for regions in texts])
    return [
        _make_pieces(
            regions, np.cumsum([len(region.split()) for region in regions]).tolist(), scores, None
        )
        for regions, scores in zip(texts, scored, strict=True)
    ]


def _find_region_ends(
    text: str, regions: Sequence[str], token_ends: Sequence[int], *, spaces: bool
) -> list[int]:
    """Return the number of tokens up to the end of each piece."""
    lengths = np.array([len(region) for region in regions])
    ends = np.cumsum(lengths + int(spaces)) - int(spaces)
    counts = np.searchsorted(token_ends, ends, "right")
    for region, end, count in zip(regions, ends, counts, strict=True):
        # A token may include the space after a piece, but no part of the next piece.
        if not count or token_ends[count - 1] < len(text[:end].rstrip()):
            raise LmError(
                f'a token of the model lies across the end of "{region}" in "{text[:80]}", so its '
                "surprisal belongs to two pieces. Put the boundary elsewhere."
            )
    return [int(count) for count in counts]


def _make_pieces(
    regions: Sequence[str], ends: Sequence[int], scores: TokenScores, mass: Floats | None
) -> list[Piece]:
    results, start = [], 0
    for region, end in zip(regions, ends, strict=True):
        surprisal = -math.fsum(scores.logprobs_nats[start:end].tolist())
        if mass is not None:
            surprisal -= float(mass[end - 1]) - (float(mass[start - 1]) if start else 0.0)
        unknown = int(scores.unknown[start:end].sum())
        # Rounding can make a surprisal close to 0 negative.
        results.append(Piece(region, max(surprisal, 0.0), end - start, unknown, mass is not None))
        start = end
    return results


def region_surprisals(scorer: Scorer, texts: Sequence[Sequence[str]]) -> list[list[Floats]]:
    """Return -log P of the tokens of each region of each text, in nats.

    Args:
        scorer: The model.
        texts: Each text as its regions, with single spaces inside.

    Returns:
        For each text and region float64, shape ``(tokens,)``; an empty region has no tokens.

    Raises:
        LmError: A text cannot be scored.
    """
    joined = [" ".join(filter(None, regions)) for regions in texts]
    results = []
    for text, regions, scores in zip(
        joined, texts, scorer.score([("", text) for text in joined]), strict=True
    ):
        if isinstance(scorer, HasSubwords):
            starts = _starts(text, scorer.token_ends(text))
        else:
            starts = _word_starts(text)
        counts = np.searchsorted(starts, _find_region_starts(regions), "left")
        surprisals = np.maximum(-scores.logprobs_nats, 0.0)
        results.append(np.split(surprisals, counts))
    return results


def _starts(text: str, ends: Sequence[int]) -> list[int]:
    starts, previous_end = [], 0
    for end in ends:
        spaces = len(text[previous_end:]) - len(text[previous_end:].lstrip())
        starts.append(previous_end + spaces)
        previous_end = end
    return starts


def _word_starts(text: str) -> list[int]:
    lengths = [len(word) + 1 for word in text.split()]
    return [int(end) - length for end, length in zip(np.cumsum(lengths), lengths, strict=True)]


def _find_region_starts(regions: Sequence[str]) -> list[int]:
    """Return the start of each region but the first; an empty one starts where the next does."""
    lengths = np.array([len(region) + 1 if region else 0 for region in regions])
    return [int(edge) for edge in np.cumsum(lengths)[:-1]]
