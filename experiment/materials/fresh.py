"""Fresh items parallel to a study's: the same templates and words, in other combinations.

Each slot's words are permuted over the study's frames of a template, apart from the first slot's.
So a draw uses every word as often as the study does, and an item shares its template, its condition
and its first word with the item that it is parallel to. A model that has not seen the study's items
has no reason to prefer them to their draws.

A random permutation leaves some words where they were. Such items are in the draw, since without
them the study would not be exchangeable with its draws, but their ids tell that they are not fresh.
"""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from experiment.errors import MaterialsError
from experiment.records import Item

# The columns that relate a fresh item to the study's item.
PARALLEL_TO, DRAW = "parallel_to", "draw"
_FRESH, _SHOWN = ".fresh", ".shown"
_TRIES, _SWAPS_PER_FRAME = 10, 50
# An item by template, frame and condition.
Index: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Item]]]


def parallel_id(item_id: str, draw: int, *, is_fresh: bool = True) -> str:
    """Return the id of the item that is parallel to a study's item in a draw, from 1."""
    return f"{item_id}{_FRESH if is_fresh else _SHOWN}{draw}"


def parse_parallel_id(item_id: str) -> tuple[str, int, bool]:
    """Return the study's item, the draw (0 of items that were not drawn), and whether it is fresh.

    An item that was drawn is fresh unless the study shows a sentence of its frame.
    """
    for separator in (_FRESH, _SHOWN):
        name, found, draw = item_id.rpartition(separator)
        if found and draw.isdecimal():
            return name, int(draw), separator == _FRESH
    return item_id, 0, False


@dataclass(frozen=True, slots=True)
class _Pool:
    """The combinations of a template's words that may be drawn, and those that are fresh."""

    slots: tuple[str, ...]
    frames: Collection[str]
    fresh: frozenset[str]

    def find_faults(self, rows: Sequence[Sequence[str]]) -> list[int]:
        """Return which combinations may not be drawn, or occur more than once."""
        texts = [self.text(row) for row in rows]
        counts = Counter(texts)
        return [n for n, text in enumerate(texts) if text not in self.frames or counts[text] > 1]

    def text(self, lemmas: Sequence[str]) -> str:
        pairs = zip(self.slots, lemmas, strict=True)
        return " ".join(f"{slot}={lemma}" for slot, lemma in pairs)


def draw_parallel_items(
    index: Index, of_study: Sequence[Item], draws: int, rng: random.Random
) -> tuple[list[Item], list[str]]:
    """Return the items of each draw, in the order of the study's items.

    Args:
        index: All items that the study's grammar makes, by template, frame and condition.
        of_study: The items that the study shows.
        draws: How many parallel items to draw for each.
        rng: The source of randomness.

    Returns:
        The items, and the templates that are left out because the study shows too many combinations
        of their words.

    Raises:
        MaterialsError: An item is not of the grammar.
    """
    by_template: dict[str, list[str]] = {}
    for item in of_study:
        if item.condition not in index.get(item.template, {}).get(item.frame, {}):
            raise MaterialsError(
                f'the study\'s templates do not make the item "{item.item_id}" '
                f"({item.template}, {item.frame or 'no frame'}, {item.condition})",
                expected="items that a study with a grammar shows, unchanged",
            )
        frames = by_template.setdefault(item.template, [])
        if item.frame not in frames:
            frames.append(item.frame)
    shown = {text for item in of_study for text in _sentences(item)}
    drawn: dict[tuple[int, str, str], str] = {}
    pools = {template: _make_pool(index[template], shown) for template in by_template}
    left_out = []
    for template, frames in by_template.items():
        pool = pools[template]
        parallel = [_draw(frames, pool, rng) for _ in range(draws)]
        if not all(parallel) or pool.fresh.isdisjoint(chain.from_iterable(parallel)):
            left_out.append(template)
            continue
        for draw, chosen in enumerate(parallel, start=1):
            pairs = zip(frames, chosen, strict=True)
            drawn |= {(draw, template, frame): other for frame, other in pairs}
    items = []
    for draw in range(1, draws + 1):
        for item in of_study:
            if item.template not in left_out:
                frame = drawn[draw, item.template, item.frame]
                other = index[item.template][frame][item.condition]
                is_fresh = frame in pools[item.template].fresh
                items.append(_make_parallel(item, draw, other, is_fresh=is_fresh))
    return items, left_out


def _make_parallel(item: Item, draw: int, other: Item, *, is_fresh: bool) -> Item:
    further = (*item.extra, (PARALLEL_TO, item.item_id), (DRAW, str(draw)))
    name = parallel_id(item.item_id, draw, is_fresh=is_fresh)
    return replace(other, item_id=name, kind=item.kind, extra=further)


def _sentences(item: Item) -> list[str]:
    return [item.after_context(text) for text in item.versions().values()]


def _make_pool(frames: Mapping[str, Mapping[str, Item]], shown: set[str]) -> _Pool:
    slots = tuple(_slots_and_lemmas(next(iter(frames)))[0])
    fresh = (
        text
        for text, cells in frames.items()
        if shown.isdisjoint(sentence for item in cells.values() for sentence in _sentences(item))
    )
    return _Pool(slots, frames.keys(), frozenset(fresh))


def _slots_and_lemmas(frame: str) -> tuple[list[str], list[str]]:
    pairs = [pair.rpartition("=") for pair in frame.split()]
    return [slot for slot, _, _ in pairs], [lemma for _, _, lemma in pairs]


def _draw(frames: Sequence[str], pool: _Pool, rng: random.Random) -> list[str]:
    """Return combinations of the frames' words, each parallel to the frame at its place.

    The result is empty if none were found.
    """
    if len(pool.fresh) < len(frames) or len(pool.slots) < 2:
        return []
    columns = list(zip(*(_slots_and_lemmas(frame)[1] for frame in frames), strict=True))
    for _ in range(_TRIES):
        # The first slot keeps its words: only the combination with the others matters.
        shuffled = [columns[0], *(rng.sample(column, len(column)) for column in columns[1:])]
        rows = [list(row) for row in zip(*shuffled, strict=True)]
        if _swap_until_allowed(rows, pool, rng):
            return [pool.text(row) for row in rows]
    return []


def _swap_until_allowed(rows: list[list[str]], pool: _Pool, rng: random.Random) -> bool:
    """Swap words of a slot between frames until all are allowed and different."""
    wrong = pool.find_faults(rows)
    for _ in range(_SWAPS_PER_FRAME * len(rows)):
        if not wrong:
            return True
        first, second = rng.choice(wrong), rng.randrange(len(rows))
        slot = rng.randrange(1, len(pool.slots))
        _swap(rows, first, second, slot)
        still_wrong = pool.find_faults(rows)
        if len(still_wrong) > len(wrong):
            _swap(rows, first, second, slot)
        else:
            wrong = still_wrong
    return not wrong


def _swap(rows: list[list[str]], first: int, second: int, slot: int) -> None:
    rows[first][slot], rows[second][slot] = rows[second][slot], rows[first][slot]
