"""The built lists sorted by square, for the audit to count in."""

from collections.abc import Iterator
from dataclasses import dataclass

from experiment.design.catalogue import Catalogue
from experiment.design.frames import frames_in
from experiment.design.lists import BuiltLists, ListEntry
from experiment.studies.study import Design, Square


@dataclass(frozen=True, slots=True)
class Inspected:
    """One square of the design and what the built lists have of it.

    Attributes:
        templates: Its templates.
        catch_trials: The catch trials that it is to have in each list.
        conditions: Its conditions in the materials.
        n_frames: The frames it is to have.
        per_condition: The items that each condition is to have in each list.
        lists: The entries of its templates in each list.
    """

    templates: tuple[str, ...]
    catch_trials: int
    conditions: tuple[str, ...]
    n_frames: int
    per_condition: int
    lists: tuple[tuple[ListEntry, ...], ...]

    @property
    def name(self) -> str:
        """How the audit calls it."""
        return "+".join(self.templates)

    @property
    def entries(self) -> Iterator[ListEntry]:
        """The entries of all lists."""
        return (entry for entries in self.lists for entry in entries)


def inspect(design: Design, catalogue: Catalogue, built: BuiltLists) -> tuple[Inspected, ...]:
    """Return the design's squares with their entries in the built lists."""
    return tuple(_inspect(square, design, catalogue, built) for square in design.squares)


def _inspect(square: Square, design: Design, catalogue: Catalogue, built: BuiltLists) -> Inspected:
    n_frames = frames_in(square, design)
    return Inspected(
        templates=tuple(square.templates),
        catch_trials=square.catch_trials,
        conditions=tuple(catalogue.conditions(square.templates)),
        n_frames=n_frames,
        per_condition=n_frames // design.lists,
        lists=tuple(
            tuple(entry for entry in entries if entry.item.template in square.templates)
            for entries in built.lists
        ),
    )
