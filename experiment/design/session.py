"""Composition of one participant's trials from a list."""

import random
from collections.abc import Sequence

from experiment.design.counterbalancing import arrangements
from experiment.design.ordering.constraints import (
    Constraint,
    constraints_of_block,
    declare_constraints,
    keeps,
)
from experiment.design.ordering.order import draw_order
from experiment.errors import DesignError
from experiment.records import ListEntry, Trial
from experiment.responses.base import ResponseType
from experiment.seeds import generator
from experiment.studies.design import Design

# Blocks are redrawn if trials at the border of two blocks break a constraint.
_MOST_TRIES = 1000


def compose(
    entries: Sequence[ListEntry],
    *,
    seed: int,
    list_: int,
    place: int,
    number: int,
    design: Design,
    response: ResponseType | None = None,
) -> list[Trial]:
    """Return the trials of one participant in order.

    Args:
        entries: The list's entries in their built order.
        seed: The run's seed.
        list_: The list's number; with the place (participant slot) it decides the sides.
        place: The place within the list, from 0; 2j and 2j + 1 have opposite sides. If blocks are
            counterbalanced, the place decides which block comes first.
        number: The session's number, unique in the run; it decides the order.
        design: The study's design, with the constraints on the order.
        response: The response type; None for a choice between the good option and one other.

    Raises:
        DesignError: No order keeps the design's constraints.
        StudyError: An item cannot be shown.
    """
    trial_arrangements = arrangements(entries, response, seed=seed, list_=list_, place=place)
    sequence = session_order(entries, design, place, generator(seed, "order", number))
    return [
        Trial(
            position,
            entries[index].item.item_id,
            entries[index].kind,
            trial_arrangements[index].good_side,
            trial_arrangements[index].options,
            trial_arrangements[index].points,
        )
        for position, index in enumerate(sequence, start=1)
    ]


# Larger than any number of rounds of one place, so that session numbers are unique.
_ADDED_ROUNDS = 1 << 32


def session_number(design: Design, list_: int, place: int, round_: int = 0) -> int:
    """Return a session's number, from 1: first all lists' first places, then their second ones.

    Sessions at places that were added to the run after its launch have numbers above all others.

    Args:
        design: The study's design.
        list_: The list's number.
        place: The place within the list, from 0.
        round_: How many participants had the place before.
    """
    most_places = max(design.places(number) for number in range(design.n_lists))
    added, place = divmod(place, most_places)
    return (added * _ADDED_ROUNDS + round_ * most_places + place) * design.n_lists + list_ + 1


def session_order(
    entries: Sequence[ListEntry], design: Design, place: int, rng: random.Random
) -> list[int]:
    """Return the entries' indices in an order that keeps the design's constraints.

    Args:
        entries: The list's entries in their built order.
        design: The study's design.
        place: The place within the list, for counterbalanced blocks.
        rng: The random generator.

    Raises:
        DesignError: No such order exists, or none was found.
    """
    blocks = blocks_of(entries, design, place)
    constraints_by_block = [
        constraints_of_block([entries[index] for index in block], design, first=not n)
        for n, block in enumerate(blocks)
    ]
    if len(blocks) == 1:
        return draw_order(len(entries), constraints_by_block[0], rng)
    between = [
        constraint
        for constraint in declare_constraints(entries, design)
        if _holds_between_blocks(constraint)
    ]
    for _ in range(_MOST_TRIES):
        drawn = [
            block[index]
            for block, constraints in zip(blocks, constraints_by_block, strict=True)
            for index in draw_order(len(block), constraints, rng)
        ]
        if keeps(drawn, between):
            return drawn
    raise DesignError(
        "the ends of neighbouring blocks cannot be kept apart: "
        + "; ".join(constraint.text for constraint in between),
        where="the order of the trials",
        expected="blocks that contain more than one kind of trial",
        remedy="Add trials of other kinds, or relax design.separate and design.order",
    )


def blocks_of(entries: Sequence[ListEntry], design: Design, place: int) -> list[list[int]]:
    """Return the entries' indices by block, in the order in which the place shows the blocks."""
    if not any(design.block_names):
        return [list(range(len(entries)))]
    block_of = design.block_of
    blocks: dict[str, list[int]] = {name: [] for name in design.block_names}
    for index, entry in enumerate(entries):
        blocks.setdefault(block_of.get(entry.item.template, ""), []).append(index)
    first = [blocks[name] for name in design.order.first_blocks if blocks.get(name)]
    other_blocks = [
        block for name, block in blocks.items() if block and name not in design.order.first_blocks
    ]
    if not other_blocks:
        return first or [[]]
    turn = place % len(other_blocks) if design.order.blocks == "counterbalanced" else 0
    return [*first, *other_blocks[turn:], *other_blocks[:turn]]


def _holds_between_blocks(constraint: Constraint) -> bool:
    # Spreading of catch trials and the constraints on the beginning apply within a block.
    return not hasattr(constraint, "stretch")


def trial_kinds(entries: Sequence[ListEntry], *, conditions: bool = False) -> list[ListEntry]:
    """Return the first entry of each construction and kind (target, filler, catch).

    Args:
        entries: All entries.
        conditions: Whether to also distinguish conditions.
    """
    first: dict[tuple[str, ...], ListEntry] = {}
    for entry in entries:
        condition = entry.item.condition if conditions else ""
        first.setdefault((entry.item.construction, condition, entry.kind), entry)
    return list(first.values())
