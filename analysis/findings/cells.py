"""The cells of a design: what its factors cross, and which of it nobody judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Self

VERSION, CONDITION = "version", "condition"


@dataclass(frozen=True, slots=True)
class Crossing:
    """The cells of a construction that have answers.

    Attributes:
        factors: The factors' levels in the order of the items, the version first where items
            have two, factors between participants last; one factor "condition" where no columns
            make the conditions.
        cells: The cells' names, each with its level of every factor.
    """

    factors: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, tuple[str, ...]]

    @property
    def declared(self) -> bool:
        """Whether the study says more than which conditions there are."""
        return bool(set(self.factors) - {CONDITION, VERSION})

    @property
    def empty(self) -> list[tuple[str, ...]]:
        """The combinations of levels that have no answers."""
        filled = set(self.cells.values())
        return [levels for levels in product(*self.factors.values()) if levels not in filled]

    def judged(self) -> Self:
        """Return it without levels that have no answers at all, and factors of one level."""
        seen = {
            name: tuple(level for level in levels if level in {own[place] for own in
                                                               self.cells.values()})
            for place, (name, levels) in enumerate(self.factors.items())
        }  # fmt: skip
        kept = [place for place, levels in enumerate(seen.values()) if len(levels) > 1]
        cells = {
            cell: tuple(levels[place] for place in kept) for cell, levels in self.cells.items()
        }
        return type(self)({name: own for name, own in seen.items() if len(own) > 1}, cells)
