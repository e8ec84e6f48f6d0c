"""The comparisons of a design whose author declares none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

from experiment.comparisons.contrast import Contrast, Factors, LevelDifference

Coding = Literal["sum", "treatment", "helmert"]
# A factor with more levels is compared with its first level, and not every pair of levels.
MOST_PAIRED_LEVELS = 6
_SIMPLE_FACTORS = 2


@dataclass(frozen=True, slots=True)
class DefaultContrast:
    """A contrast that follows from a design.

    Attributes:
        contrast: The contrast.
        is_primary: Whether it is a main effect or an interaction; simple effects are exploratory.
    """

    contrast: Contrast
    is_primary: bool = True


def default_contrasts(
    factors: Factors,
    coding: Coding = "sum",
    *,
    simple_effects: bool = True,
    interactions: bool = True,
) -> Iterator[DefaultContrast]:
    """Yield the contrasts of a design: main effects, interactions, then simple effects.

    Args:
        factors: The levels of each factor with at least two levels, in order.
        coding: ``sum``: a main effect is averaged over the other factors; ``treatment``: it holds
            at their first levels; ``helmert``: each level minus the mean of the levels before it.
        simple_effects: Whether to include, with two factors, the effect of the second at each
            level of the first.
        interactions: Whether to include interactions.
    """
    steps = {
        factor: level_differences(factor, levels, coding) for factor, levels in factors.items()
    }
    for factor, differences in steps.items():
        at = [(name, levels[0]) for name, levels in factors.items() if name != factor]
        for difference in differences:
            yield DefaultContrast(
                Contrast((difference,), tuple(at) if coding == "treatment" else ())
            )
    for number in range(2, len(factors) + 1) if interactions else ():
        for names in combinations(factors, number):
            for chosen in product(*(steps[name] for name in names)):
                yield DefaultContrast(Contrast(chosen))
    if simple_effects and len(factors) == _SIMPLE_FACTORS:
        yield from _simple_effects(factors, steps)


def level_differences(
    factor: str, levels: Sequence[str], coding: Coding = "sum"
) -> list[LevelDifference]:
    """Return the differences of a factor's levels: all pairs, or by ``helmert`` coding."""
    if coding == "helmert":
        return [
            LevelDifference(factor, levels[index], tuple(levels[:index]))
            for index in range(1, len(levels))
        ]
    if len(levels) > MOST_PAIRED_LEVELS:
        return [LevelDifference(factor, levels[0], (level,)) for level in levels[1:]]
    return [LevelDifference(factor, a, (b,)) for a, b in combinations(levels, 2)]


def _simple_effects(
    factors: Factors, steps: Mapping[str, Sequence[LevelDifference]]
) -> Iterator[DefaultContrast]:
    fixed_factor, compared = factors
    for difference in steps[compared]:
        for level in factors[fixed_factor]:
            yield DefaultContrast(
                Contrast((difference,), ((fixed_factor, level),)), is_primary=False
            )
