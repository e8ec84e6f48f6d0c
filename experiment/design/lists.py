"""Building the lists of a study from its materials."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiment.design.arrangement import Arranger
from experiment.design.catalogue import Catalogue, Frame, read_catalogue
from experiment.design.catch import representatives
from experiment.design.frames import choose_frames, frames_in
from experiment.design.latin_square import cells, check_shape
from experiment.errors import DesignError
from experiment.plugins import unknown_name
from experiment.records import Item, Kind
from experiment.seeds import generator
from experiment.studies.study import Design, Square, Study


@dataclass(frozen=True, slots=True)
class ListEntry:
    """An item of a list, with its kind there: a target may serve as a catch trial."""

    item: Item
    kind: Kind


@dataclass(frozen=True, slots=True)
class BuiltLists:
    """The lists of a study, and what they were made from.

    Attributes:
        study: The study's name.
        version: The study's version.
        seed: The seed of every random choice; also that of the sides and orders to come.
        materials_hash: The identity of the materials.
        lists: The entries of each list, before any participant's order.
    """

    study: str
    version: str
    seed: int
    materials_hash: str
    lists: tuple[tuple[ListEntry, ...], ...]


def build_lists(study: Study, items: Iterable[Item], seed: int) -> BuiltLists:
    """Return the lists that a study's design asks for; the same seed gives the same lists.

    Args:
        study: The study; only its design is read.
        items: The study's materials, consumed once.
        seed: The run's seed.

    Raises:
        DesignError: The design cannot be balanced or the materials do not suffice.
        UnknownNameError: The design names a template that the materials lack.
    """
    design = study.design
    _check_squares(design)
    catalogue = read_catalogue(items)
    conditions = [catalogue.conditions(square.templates) for square in design.squares]
    for square, names in zip(design.squares, conditions, strict=True):
        check_shape(frames_in(square, design), len(names), design.lists, square_name(square))
    arranger, squares = Arranger(design.lists), []
    chosen = choose_frames(design, catalogue, seed)
    for square, names, frames in zip(design.squares, conditions, chosen, strict=True):
        rng = generator(seed, "arrangement", *square.templates)
        squares.append((square, names, arranger.arrange(frames, len(names), rng)))
    lists = tuple(
        tuple(
            entry
            for square, names, frames in squares
            for entry in _entries(square, names, frames, catalogue, design.lists, list_)
        )
        for list_ in range(design.lists)
    )
    return BuiltLists(study.name, study.study.version, seed, catalogue.materials_hash, lists)


def square_name(square: Square) -> str:
    """Return how messages call a square."""
    return f"the square of {' and '.join(square.templates)}"


def _entries(
    square: Square,
    conditions: Sequence[str],
    frames: Sequence[Frame],
    catalogue: Catalogue,
    n_lists: int,
    list_: int,
) -> list[ListEntry]:
    shown = list(cells(len(frames), len(conditions), n_lists, list_))
    kept = representatives(
        [condition for _, condition in shown],
        len(conditions),
        square.catch_trials,
        list_,
        square_name(square),
    )
    items = [catalogue.item(frames[frame], conditions[condition]) for frame, condition in shown]
    return [
        ListEntry(item, item.kind if index in kept else Kind.CATCH)
        for index, item in enumerate(items)
    ]


def _check_squares(design: Design) -> None:
    uses = Counter(template for square in design.squares for template in square.templates)
    if twice := [template for template, n in uses.items() if n > 1]:
        raise DesignError(
            f"the template(s) {', '.join(twice)} stand in the squares more than once",
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
                where=square_name(square),
                expected="a number of frames that is a multiple of both the number of lists "
                "and the number of templates",
                remedy="Set frames in this square",
            )
