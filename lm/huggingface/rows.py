"""Single model inputs, and windows of texts that are longer than the model reads at once."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One input of a model, and the predictions to read from its output.

    Attributes:
        ids: The token numbers that the model reads.
        places: The indices in ``ids`` at which predictions are read.
        wanted: The token whose probability is read at each of these indices.
    """

    ids: tuple[int, ...]
    places: tuple[int, ...]
    wanted: tuple[int, ...]


def kept(window: int) -> int:
    """Return the least number of tokens before a scored token in a later window."""
    return window // 2 - 1


def windows(row: Row, window: int, first: int) -> Iterator[Row]:
    """Yield a causal row in windows that each fit the model; together they predict the same tokens.

    Args:
        row: The row; its places are consecutive up to its end.
        window: The most tokens that the model reads, including the last predicted one.
        first: The first token of each window.
    """
    longest = window - 1
    places, wanted, end = row.places, row.wanted, min(longest, len(row.ids))
    while places:
        start = end - min(longest, end)
        n = sum(place < end for place in places)
        if n:
            ids = (first, *row.ids[start + 1 : end])
            yield Row(ids, tuple(place - start for place in places[:n]), wanted[:n])
        places, wanted = places[n:], wanted[n:]
        end = min(end + longest - kept(window), len(row.ids))
