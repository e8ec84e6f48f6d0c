"""One run of a model, and texts that are longer than what a model reads at once."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One run of the model.

    Attributes:
        ids: The token numbers the model reads.
        places: Where its answer is read: what it says at ``ids[place]``.
        wanted: The token number whose probability is asked for at each place.
    """

    ids: tuple[int, ...]
    places: tuple[int, ...]
    wanted: tuple[int, ...]


def kept(window: int) -> int:
    """Return how many tokens before a scored one a later window has at least."""
    return window // 2 - 1


def windows(row: Row, window: int, first: int) -> Iterator[Row]:
    """Yield a causal row in windows that each fit the model, together with the same answers.

    Args:
        row: The row; its places follow each other up to its end.
        window: How many tokens the model reads at most, the one predicted last among them.
        first: The token that each window begins with.
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
