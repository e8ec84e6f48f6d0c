"""Long sequences, some at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def portions(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of ``size``, the last one perhaps shorter."""
    rest = iter(items)
    while portion := list(islice(rest, size)):
        yield portion
