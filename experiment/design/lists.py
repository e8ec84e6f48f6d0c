"""Building of a study's lists from its materials and its between-participant factors."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from experiment.design.frames import (
    Frame,
    MaterialsIndex,
    choose_frames,
    count_frames,
    index_materials,
)
from experiment.design.latin_square import FrameOrderer, cells, check_shape, choose_targets
from experiment.design.separating import Inclusion, read_inclusion
from experiment.errors import DesignError
from experiment.plugins import unknown_name
from experiment.records import Item, Kind, ListEntry
from experiment.seeds import generator
from experiment.studies.design import Design, Given, Shared, Source, Square, holds
from experiment.studies.study import Study
from experiment.tables.schemas import LISTS, PARTICIPANTS


def check_factors(design: Design) -> None:
    """Check every factor, level, list and template that the design names.

    Raises:
        DesignError: A factor has the name of an exported column, or has a level twice; a quota
            names an unknown list; a list would have a template twice, or be empty.
        UnknownNameError: The design lacks a named factor or level.
    """
    _check_levels(design)
    for location, condition in _list_conditions(design):
        _check_when(design, condition, location)
    for number, quota in enumerate(design.quotas, start=1):
        if unknown_lists := [list_ for list_ in quota.lists if list_ >= design.n_lists]:
            raise DesignError(
                f"quota {number} is for list {unknown_lists[0]}, but there are {design.n_lists}"
                " lists",
                where="design.quotas",
                expected=f"lists 0 to {design.n_lists - 1}",
            )
    _check_blocks(design)
    for levels in design.combinations:
        _check_templates([source for source in design.sources if holds(source.when, levels)])


def _check_levels(design: Design) -> None:
    for factor, levels in design.factors.items():
        if factor in (*PARTICIPANTS.column_names, *LISTS.column_names):
            raise DesignError(
                f'a factor cannot be called "{factor}": exported tables have a column of that name',
                where="design.factors",
                expected="another name",
            )
        if len(set(levels)) < len(levels):
            raise DesignError(
                f'the factor "{factor}" lists a level twice: {", ".join(levels)}',
                where="design.factors",
                expected="each level once",
            )


def _list_conditions(design: Design) -> Iterator[tuple[str, Mapping[str, str]]]:
    for key in ("squares", "shared", "given", "quotas"):
        for table in getattr(design, key):
            yield f"design.{key}", table.when


def _check_when(design: Design, condition: Mapping[str, str], location: str) -> None:
    for factor, level in condition.items():
        known_names, kind, name = list(design.factors), "factor", factor
        if factor in design.factors:
            known_names, kind, name = design.factors[factor], f'level of "{factor}"', level
        if name not in known_names:
            unknown = unknown_name(kind, name, known_names)
            raise DesignError(
                unknown.problem, where=location, expected=unknown.expected, remedy=unknown.remedy
            )


def _check_blocks(design: Design) -> None:
    for name in design.order.first_blocks:
        if name not in design.block_names:
            unknown = unknown_name("block", name, filter(None, design.block_names))
            raise DesignError(
                unknown.problem,
                where="design.order.first_blocks",
                expected=unknown.expected,
                remedy=unknown.remedy,
            )


def _check_templates(sources: list[Source]) -> None:
    if not sources:
        raise DesignError(
            "some lists would be empty: no items are shown at their levels",
            where="design.squares",
            expected="items for each combination of the factors' levels",
        )
    uses = Counter(name for source in sources for name in source.templates)
    if repeated_templates := [name for name, n in uses.items() if n > 1]:
        raise DesignError(
            f"the template(s) {', '.join(repeated_templates)} would occur in a list more than once",
            where="design.squares",
            expected="each template once in squares, shared and given of the same lists",
        )


def source_name(source: Source) -> str:
    """Return the name of a source of items (square, shared or given) for messages."""
    kinds = {"Square": "the square of", "Shared": "the items shared of", "Given": "the lists of"}
    return f"{kinds[type(source).__name__]} {' and '.join(source.templates)}"


def shared_items(shared: Shared, index: MaterialsIndex, seed: int) -> list[Item]:
    """Return the items that all lists share, in the order of the materials.

    Raises:
        DesignError: The materials have too few items, or lack a condition.
        UnknownNameError: The materials lack a template.
    """
    items = index.all_items(shared.templates)
    rng = generator(seed, "shared", *shared.templates)
    if not shared.conditions:
        n_wanted = shared.items or len(items)
        _check_number(shared, n_wanted, len(items), "")
        kept_items = {item.item_id for item in rng.sample(items, n_wanted)}
        return [item for item in items if item.item_id in kept_items]
    kept_items = set()
    for condition, n_wanted in shared.conditions.items():
        of_condition = [item.item_id for item in items if item.condition == condition]
        if not of_condition:
            raise _unknown_condition(shared, condition, items)
        _check_number(shared, n_wanted, len(of_condition), f" in the condition {condition}")
        kept_items.update(rng.sample(of_condition, n_wanted))
    return [item for item in items if item.item_id in kept_items]


def _unknown_condition(shared: Shared, condition: str, items: Sequence[Item]) -> DesignError:
    unknown = unknown_name("condition", condition, {item.condition for item in items})
    return DesignError(
        unknown.problem,
        where=source_name(shared),
        expected=unknown.expected,
        remedy=unknown.remedy,
    )


def _check_number(shared: Shared, n_wanted: int, n_found: int, purpose: str) -> None:
    if n_wanted > n_found:
        raise DesignError(
            f"{n_wanted} items are asked for{purpose}, but the materials have {n_found}",
            where=source_name(shared),
            expected=f"at most {n_found}",
            remedy="Add items to the materials or ask for fewer",
        )


def read_given_lists(fixed_lists: Given, index: MaterialsIndex, n_lists: int) -> list[list[Item]]:
    """Return each list's items, as the design's list column assigns them, in the materials' order.

    The column's values, first numbers by size and then other names alphabetically, are the lists
    from 0. Semicolons or commas separate several values; an item without a value is in every list.

    Raises:
        DesignError: No item has the column, or the column names a different number of lists.
        UnknownNameError: The materials lack a template.
    """
    items = index.all_items(fixed_lists.templates)
    lists_by_item = [lists_named(item, fixed_lists.column) for item in items]
    values = sorted({value for numbers in lists_by_item for value in numbers}, key=list_sort_key)
    if not values:
        columns = list(dict.fromkeys(name for item in items for name, _ in item.extra))
        unknown = unknown_name("column of your own in the items", fixed_lists.column, columns)
        raise DesignError(
            unknown.problem,
            where=source_name(fixed_lists),
            expected=unknown.expected,
            remedy=unknown.remedy,
        )
    if len(values) != n_lists:
        raise DesignError(
            f'the column "{fixed_lists.column}" names {len(values)} lists: {", ".join(values)}',
            where=source_name(fixed_lists),
            expected=f"{n_lists} lists, as design.lists says",
            remedy=f"Set design.lists to {len(values)}, or correct the column",
        )
    return [
        [
            item
            for item, numbers in zip(items, lists_by_item, strict=True)
            if not numbers or value in numbers
        ]
        for value in values
    ]


def lists_named(item: Item, column: str) -> tuple[str, ...]:
    """Return the lists that an item's column names; empty if the column is empty or missing."""
    text = dict(item.extra).get(column, "")
    return tuple(filter(None, (part.strip() for part in re.split("[;,]", text))))


def list_sort_key(value: str) -> tuple[int, int, str]:
    """Return a sort key for list names: numbers by size, then other names alphabetically."""
    return (0, int(value), value) if value.isdecimal() else (1, 0, value)


# A source's entries in each list of one combination of levels.
Within = list[list[ListEntry]]


@dataclass(frozen=True, slots=True)
class BuiltLists:
    """The lists of a study, and their origin.

    Attributes:
        study: The study's name.
        version: The study's version.
        seed: The seed of every random choice, including later sides and orders.
        materials_hash: The identity of the materials.
        lists: The entries of each list, not yet ordered for a participant.
        levels: The level of each factor in each list; empty if the design has no factors.
        inclusion: The probabilities with which frames were drawn; empty if frames are alike.
    """

    study: str
    version: str
    seed: int
    materials_hash: str
    lists: tuple[tuple[ListEntry, ...], ...]
    levels: tuple[dict[str, str], ...] = ()
    inclusion: tuple[Inclusion, ...] = ()


def build_lists(
    study: Study,
    items: Iterable[Item] | MaterialsIndex,
    seed: int,
    inclusion: Sequence[Inclusion] | None = None,
) -> BuiltLists:
    """Return the lists of a study's design; the same seed gives the same lists.

    Args:
        study: The study; only its design, name and version are read.
        items: The study's materials, iterated once, or indexed by ``index_materials``.
        seed: The run's seed.
        inclusion: The probabilities with which frames are drawn; by default, those that the design
            names.

    Raises:
        DesignError: The design cannot be balanced or the materials are insufficient.
        UnknownNameError: The design names a template that the materials lack.
    """
    design = study.design
    check_factors(design)
    _check_squares(design)
    index = index_materials(items)
    inclusion = tuple(read_inclusion(study) if inclusion is None else inclusion)
    dealt = [
        *_deal_squares(design, index, seed, inclusion),
        *(
            (shared, _repeat_in_every_list(shared_items(shared, index, seed), design))
            for shared in design.shared
        ),
        *(
            (fixed_lists, _place_named_lists(fixed_lists, index, design))
            for fixed_lists in design.given
        ),
    ]
    lists = tuple(
        tuple(
            entry
            for source, within in dealt
            if holds(source.when, design.levels(list_))
            for entry in within[design.number_within(list_)]
        )
        for list_ in range(design.n_lists)
    )
    levels = tuple(design.levels(list_) for list_ in range(design.n_lists))
    return BuiltLists(
        study.name,
        study.study.version,
        seed,
        index.materials_hash,
        lists,
        levels if design.factors else (),
        inclusion,
    )


def _deal_squares(
    design: Design, index: MaterialsIndex, seed: int, inclusion: Sequence[Inclusion]
) -> Iterator[tuple[Source, Within]]:
    conditions = [index.conditions(square.templates) for square in design.squares]
    for square, names in zip(design.squares, conditions, strict=True):
        check_shape(count_frames(square, design), len(names), design.lists, source_name(square))
    orderer = FrameOrderer(design.lists)
    chosen = choose_frames(design, index, seed, inclusion)
    for square, names, by_template in zip(design.squares, conditions, chosen, strict=True):
        rng = generator(seed, "arrangement", *square.templates)
        frames = orderer.order(by_template, len(names), rng)
        yield (
            square,
            [
                _make_entries(square, names, frames, index, design.lists, list_)
                for list_ in range(design.lists)
            ],
        )


def _repeat_in_every_list(items: Sequence[Item], design: Design) -> Within:
    return [[ListEntry(item, item.kind) for item in items]] * design.lists


def _place_named_lists(fixed_lists: Given, index: MaterialsIndex, design: Design) -> Within:
    return [
        [ListEntry(item, item.kind) for item in items]
        for items in read_given_lists(fixed_lists, index, design.lists)
    ]


def _make_entries(
    square: Square,
    conditions: Sequence[str],
    frames: Sequence[Frame],
    index: MaterialsIndex,
    n_lists: int,
    list_: int,
) -> list[ListEntry]:
    shown_cells = list(cells(len(frames), len(conditions), n_lists, list_))
    targets = choose_targets(
        [condition for _, condition in shown_cells],
        len(conditions),
        square.catch_trials,
        list_,
        source_name(square),
    )
    items = [index.item(frames[frame], conditions[condition]) for frame, condition in shown_cells]
    return [
        ListEntry(item, item.kind if index in targets else Kind.CATCH)
        for index, item in enumerate(items)
    ]


def _check_squares(design: Design) -> None:
    uses = Counter(template for square in design.squares for template in square.templates)
    if repeated_templates := [template for template, n in uses.items() if n > 1]:
        raise DesignError(
            f"the template(s) {', '.join(repeated_templates)} occur in the squares more than once",
            where="design.squares",
            expected="each template once",
        )
    for template in (name for group in design.disjoint for name in group.templates):
        if template not in uses:
            unknown = unknown_name("template", template, list(uses))
            raise DesignError(
                f"{unknown.problem} in design.squares",
                where="design.disjoint",
                expected=unknown.expected,
                remedy=unknown.remedy,
            )
    for square in design.squares:
        if count_frames(square, design) % len(square.templates):
            raise DesignError(
                f"{count_frames(square, design)} frames cannot be shared equally by "
                f"{len(square.templates)} templates",
                where=source_name(square),
                expected="a number of frames that is a multiple of both the number of lists "
                "and the number of templates",
                remedy="Set frames in this square",
            )
