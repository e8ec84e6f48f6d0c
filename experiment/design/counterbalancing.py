"""Counterbalancing of sides, positions and versions over participants and items."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle

from experiment.records import PAIR, ListEntry, Side
from experiment.responses.base import Arrangement, Balance, ResponseType
from experiment.seeds import generator


def arrangements(
    entries: Sequence[ListEntry],
    response: ResponseType | None,
    *,
    seed: int,
    list_: int,
    place: int,
) -> list[Arrangement]:
    """Return the arrangement of each of a list's entries at one place (participant slot).

    Args:
        entries: The list's entries in their built order.
        response: The response type; None for a choice between the good option and one other.
        seed: The run's seed.
        list_: The list's number.
        place: The place within the list, from 0.

    Raises:
        StudyError: An item cannot be shown.
    """
    if response is not None and response.types:
        return _arrange_by_task(entries, response, seed=seed, list_=list_, place=place)
    constructions = [entry.item.construction for entry in entries]
    if response is None or response.balance is Balance.SIDES:
        by_side = {side: Arrangement(side) for side in PAIR}
        return [by_side[side] for side in target_positions(constructions, seed, list_, place)]
    versions = [response.versions(entry.item) for entry in entries]
    if response.balance is Balance.PLACES:
        option_lists = option_orders(versions, constructions, seed, list_, place)
    else:
        conditions = [entry.item.condition for entry in entries]
        cells = list(zip(constructions, conditions, strict=True))
        option_lists = _choose_versions(versions, cells, seed, list_, place)
    return [
        response.drawn(
            entry.item,
            response.arrangement(entry.item, options),
            partial(generator, seed, "drawn", list_, place // 2, entry.item.item_id),
            mirrored=place % 2 == 1,
        )
        for entry, options in zip(entries, option_lists, strict=True)
    ]


def _arrange_by_task(
    entries: Sequence[ListEntry], response: ResponseType, *, seed: int, list_: int, place: int
) -> list[Arrangement]:
    """Return the arrangements of a mixed session, with each task balanced separately."""
    of_task: dict[str, list[int]] = {}
    for index, entry in enumerate(entries):
        of_task.setdefault(response.task_of(entry.item), []).append(index)
    of_session = dict[int, Arrangement]()
    for task, places in of_task.items():
        # Each task has its own random draws; otherwise all tasks would begin with the same side.
        task_seed = generator(seed, "task", task).getrandbits(63)
        task_arrangements = arrangements(
            [entries[index] for index in places],
            response.types[task],
            seed=task_seed,
            list_=list_,
            place=place,
        )
        of_session |= {
            index: replace(arrangement, options=(task, *arrangement.options))
            for index, arrangement in zip(places, task_arrangements, strict=True)
        }
    return [of_session[index] for index in range(len(entries))]


def _choose_versions(
    versions: Sequence[tuple[str, ...]],
    cells: Sequence[tuple[str, str]],
    seed: int,
    list_: int,
    place: int,
) -> list[tuple[str, ...]]:
    """Return the version to show: for items with two, the good one in half of the trials."""
    two_versioned = [index for index, names in enumerate(versions) if len(names) == len(PAIR)]
    constructions, conditions = ([cells[index][part] for index in two_versioned] for part in (0, 1))
    sides = target_positions(constructions, seed, list_, place, conditions)
    ungrammatical_indices = {
        index for index, side in zip(two_versioned, sides, strict=True) if side is not Side.FIRST
    }
    return [
        names[1:2] if index in ungrammatical_indices else names[:1]
        for index, names in enumerate(versions)
    ]


def option_orders(
    versions: Sequence[tuple[str, ...]],
    constructions: Sequence[str],
    seed: int,
    list_: int,
    place: int,
) -> list[tuple[str, ...]]:
    """Return the order of the options of each of a list's entries at one place.

    Over as many neighbouring places as an item has options, starting at a multiple of the largest
    such number, each option appears once in each screen position. Within a session the good option
    is in each position about equally often: for each construction whose items have the same number
    of options, at most once more often in one position than in another.

    Args:
        versions: The options of each entry, the good one first.
        constructions: The construction of each entry.
        seed: The run's seed.
        list_: The list's number.
        place: The place within the list, from 0.
    """
    most_versions = max(map(len, versions), default=1)
    rng = generator(seed, "options", list_, place // most_versions)
    line = _draw_contiguous_order(constructions, rng)
    orders = dict[int, tuple[str, ...]]()
    for offset, index in enumerate(line):
        good, *other_options = versions[index]
        circle = [good, *rng.sample(other_options, len(other_options))]
        turn = (offset + place) % len(circle)
        orders[index] = (*circle[len(circle) - turn :], *circle[: len(circle) - turn])
    return [orders[index] for index in range(len(versions))]


def target_positions(
    constructions: Sequence[str],
    seed: int,
    list_: int,
    place: int,
    conditions: Sequence[str] | None = None,
) -> list[Side]:
    """Return the side of the good option of each of a list's entries at one place.

    Half of all entries, and half of each construction's, have the good option first (odd numbers:
    one more or less). Places 2j and 2j + 1 of a list are opposites, so that over an
    even number of places every item is shown equally often each way.

    Args:
        constructions: The construction of each entry of the list.
        seed: The run's seed.
        list_: The list's number.
        place: The place within the list, from 0.
        conditions: The condition of each entry, to also halve each condition.
    """
    rng = generator(seed, "sides", list_, place // 2)
    # Alternating along a sequence in which each construction is contiguous halves every
    # construction and the whole at once.
    line = _draw_contiguous_order(constructions, rng, conditions)
    starts_first = (rng.random() < 0.5) == (place % 2 == 0)
    alternating = cycle(PAIR if starts_first else PAIR[::-1])
    side_of = dict(zip(line, alternating, strict=False))
    return [side_of[index] for index in range(len(constructions))]


def _draw_contiguous_order(
    constructions: Sequence[str], rng: random.Random, conditions: Sequence[str] | None = None
) -> list[int]:
    """Return the entries' indices in a random order in which each construction is contiguous.

    If conditions are given, each condition is contiguous within its construction.
    """
    groups: dict[str, list[int]] = {}
    for index, construction in enumerate(constructions):
        groups.setdefault(construction, []).append(index)
    line = [rng.sample(group, len(group)) for group in groups.values()]
    if conditions is not None:
        line = [sorted(group, key=lambda index: conditions[index]) for group in line]
    rng.shuffle(line)
    return [index for group in line for index in group]
