"""On which side the good option stands, balanced within participants and within items."""

from collections.abc import Sequence
from itertools import cycle

from experiment.records import Side
from experiment.seeds import generator


def good_sides(constructions: Sequence[str], seed: int, list_: int, place: int) -> list[Side]:
    """Return where the good option of each of a list's entries stands at one place.

    Half of all entries, and half of each construction's, have it first (odd numbers: one more
    or less). Places 2j and 2j + 1 of a list are each other's opposite, so that over an even
    number of places every item is shown equally often each way.

    Args:
        constructions: The construction of each entry of the list.
        seed: The run's seed.
        list_: The list's number.
        place: The place within the list, from 0.
    """
    rng = generator(seed, "sides", list_, place // 2)
    groups: dict[str, list[int]] = {}
    for index, construction in enumerate(constructions):
        groups.setdefault(construction, []).append(index)
    # Alternating along a line on which each construction stands together halves every
    # construction and the whole at once.
    line = [rng.sample(group, len(group)) for group in groups.values()]
    rng.shuffle(line)
    starts_first = (rng.random() < 0.5) == (place % 2 == 0)
    alternating = cycle((Side.FIRST, Side.SECOND) if starts_first else (Side.SECOND, Side.FIRST))
    side_of = dict(zip((index for group in line for index in group), alternating, strict=False))
    return [side_of[index] for index in range(len(constructions))]
