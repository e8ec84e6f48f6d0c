"""Building the lists of a study from its materials."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from experiment.design.factors import check_factors
from experiment.design.frames import choose_frames, frames_in
from experiment.design.latin_square import FrameOrderer, cells, check_shape, targets_among
from experiment.design.materials_index import Frame, MaterialsIndex, index_materials
from experiment.design.shared import given_lists, shared_items, source_name
from experiment.errors import DesignError
from experiment.plugins import unknown_name
from experiment.records import Item, Kind
from experiment.seeds import generator
from experiment.studies.design import Design, Given, Source, Square, holds
from experiment.studies.study import Study


@dataclass(frozen=True, slots=True)
class ListEntry:
    """An item of a list, with its kind there: a target may serve as a catch trial."""

    item: Item
    kind: Kind


# What a source gives each list of one combination of levels.
Within = list[list[ListEntry]]


@dataclass(frozen=True, slots=True)
class BuiltLists:
    """The lists of a study, and what they were made from.

    Attributes:
        study: The study's name.
        version: The study's version.
        seed: The seed of every random choice; also that of the sides and orders to come.
        materials_hash: The identity of the materials.
        lists: The entries of each list, before any participant's order.
        levels: The level of each factor in each list; nothing where the design has no factors.
    """

    study: str
    version: str
    seed: int
    materials_hash: str
    lists: tuple[tuple[ListEntry, ...], ...]
    levels: tuple[dict[str, str], ...] = ()


def build_lists(study: Study, items: Iterable[Item] | MaterialsIndex, seed: int) -> BuiltLists:
    """Return the lists that a study's design asks for; the same seed gives the same lists.

    Args:
        study: The study; only its design is read.
        items: The study's materials, consumed once, or sorted by ``index_materials``.
        seed: The run's seed.

    Raises:
        DesignError: The design cannot be balanced or the materials do not suffice.
        UnknownNameError: The design names a template that the materials lack.
    """
    design = study.design
    check_factors(design)
    _check_squares(design)
    index = index_materials(items)
    dealt = [
        *_dealt_squares(design, index, seed),
        *(
            (shared, _repeated(shared_items(shared, index, seed), design))
            for shared in design.shared
        ),
        *((given, _as_named(given, index, design)) for given in design.given),
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
    )


def _dealt_squares(
    design: Design, index: MaterialsIndex, seed: int
) -> Iterator[tuple[Source, Within]]:
    conditions = [index.conditions(square.templates) for square in design.squares]
    for square, names in zip(design.squares, conditions, strict=True):
        check_shape(frames_in(square, design), len(names), design.lists, source_name(square))
    orderer = FrameOrderer(design.lists)
    chosen = choose_frames(design, index, seed)
    for square, names, by_template in zip(design.squares, conditions, chosen, strict=True):
        rng = generator(seed, "arrangement", *square.templates)
        frames = orderer.order(by_template, len(names), rng)
        yield (
            square,
            [
                _entries(square, names, frames, index, design.lists, list_)
                for list_ in range(design.lists)
            ],
        )


def _repeated(items: Sequence[Item], design: Design) -> Within:
    return [[ListEntry(item, item.kind) for item in items]] * design.lists


def _as_named(given: Given, index: MaterialsIndex, design: Design) -> Within:
    return [
        [ListEntry(item, item.kind) for item in items]
        for items in given_lists(given, index, design.lists)
    ]


def _entries(
    square: Square,
    conditions: Sequence[str],
    frames: Sequence[Frame],
    index: MaterialsIndex,
    n_lists: int,
    list_: int,
) -> list[ListEntry]:
    shown = list(cells(len(frames), len(conditions), n_lists, list_))
    kept = targets_among(
        [condition for _, condition in shown],
        len(conditions),
        square.catch_trials,
        list_,
        source_name(square),
    )
    items = [index.item(frames[frame], conditions[condition]) for frame, condition in shown]
    return [
        ListEntry(item, item.kind if index in kept else Kind.CATCH)
        for index, item in enumerate(items)
    ]


def _check_squares(design: Design) -> None:
    uses = Counter(template for square in design.squares for template in square.templates)
    if twice := [template for template, n in uses.items() if n > 1]:
        raise DesignError(
            f"the template(s) {', '.join(twice)} occur in the squares more than once",
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
        if frames_in(square, design) % len(square.templates):
            raise DesignError(
                f"{frames_in(square, design)} frames cannot be shared equally by "
                f"{len(square.templates)} templates",
                where=source_name(square),
                expected="a number of frames that is a multiple of both the number of lists "
                "and the number of templates",
                remedy="Set frames in this square",
            )


def trial_kinds(entries: Sequence[ListEntry], *, conditions: bool = False) -> list[ListEntry]:
    """Return the first entry of each kind of trial: of each construction, target, filler, catch.

    Args:
        entries: All entries.
        conditions: Whether each condition is a kind of its own.
    """
    first: dict[tuple[str, ...], ListEntry] = {}
    for entry in entries:
        condition = entry.item.condition if conditions else ""
        first.setdefault((entry.item.construction, condition, entry.kind), entry)
    return list(first.values())
