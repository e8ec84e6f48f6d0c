"""The built lists sorted by square, for the audit to count in."""

from collections.abc import Iterator
from dataclasses import dataclass

from experiment.design.frames import frames_in
from experiment.design.lists import BuiltLists, ListEntry
from experiment.design.materials_index import MaterialsIndex
from experiment.studies.design import Design, Square, holds


@dataclass(frozen=True, slots=True)
class SquareContents:
    """One square and what the lists of one combination of the factors' levels have of it.

    Attributes:
        levels: The combination; empty where the design has no factors.
        templates: Its templates.
        catch_trials: The catch trials that it is to have in each list.
        conditions: Its conditions in the materials.
        n_frames: The frames it is to have.
        per_condition: The items that each condition is to have in each list.
        lists: The entries of its templates in each of the lists, by the list's number.
    """

    levels: dict[str, str]
    templates: tuple[str, ...]
    catch_trials: int
    conditions: tuple[str, ...]
    n_frames: int
    per_condition: int
    lists: dict[int, tuple[ListEntry, ...]]

    @property
    def name(self) -> str:
        """How the audit calls it."""
        return " ".join(("+".join(self.templates), *self.levels.values()))

    @property
    def entries(self) -> Iterator[ListEntry]:
        """The entries of all lists."""
        return (entry for entries in self.lists.values() for entry in entries)


def square_contents(
    design: Design, index: MaterialsIndex, built: BuiltLists
) -> tuple[SquareContents, ...]:
    """Return the design's squares with their entries, once for each combination of levels."""
    return tuple(
        _contents(square, levels, design, index, built)
        for square in design.squares
        for levels in design.combinations
        if holds(square.when, levels)
    )


def _contents(
    square: Square,
    levels: dict[str, str],
    design: Design,
    index: MaterialsIndex,
    built: BuiltLists,
) -> SquareContents:
    n_frames = frames_in(square, design)
    return SquareContents(
        levels=levels,
        templates=tuple(square.templates),
        catch_trials=square.catch_trials,
        conditions=tuple(index.conditions(square.templates)),
        n_frames=n_frames,
        per_condition=n_frames // design.lists,
        lists={
            number: tuple(entry for entry in entries if entry.item.template in square.templates)
            for number, entries in enumerate(built.lists)
            if design.levels(number) == levels
        },
    )
