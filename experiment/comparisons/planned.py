"""The comparisons of a study, resolved against its items: declared ones, or those of its design."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Literal

from experiment.comparisons.contrast import (
    MODELS,
    PEOPLE,
    Compared,
    Contrast,
    Factors,
    JudgeDifference,
    LevelDifference,
    condition_factors,
    parse,
)
from experiment.errors import ParallaxError, StudyError
from experiment.records import Item, Kind
from experiment.responses.answer import Balance, Gives
from experiment.responses.base import ResponseType
from experiment.responses.registry import response_of
from experiment.studies.analysis_plan import NUMBER_OF, SHARE_OF, Analysis, Comparison
from experiment.studies.study import Study

_TYPED = "typed"
# What comparisons of coded answers are about, by family of types.
_OF_CATEGORIES = {_TYPED: SHARE_OF, "fluency": NUMBER_OF}
VERSION, EXPECTED, OTHER = "version", "expected", "other"
# What a comparison's name adds about the region, relative to the critical one.
_REGION_NAMES = {None: "", 0: ", critical region", 1: ", next region"}


@dataclass(frozen=True, slots=True)
class ConstructionDesign:
    """The factors of one construction.

    Attributes:
        construction: The construction's name.
        measures: The measures of its type of response, the main one first.
        factors: The levels of each factor with two or more levels: the version if both versions
            of an item are shown alone, the factors of the conditions in the items' order, and the
            factors between participants.
        conditions: Each condition's level of the factors that define the conditions.
        regions: The regions that are compared by default; empty if none is known.
        implies: Whether its design implies comparisons: not of accuracy where no answer is right.
    """

    construction: str
    measures: tuple[str, ...]
    factors: Mapping[str, tuple[str, ...]]
    conditions: Mapping[str, Mapping[str, str]]
    regions: tuple[int, ...] = ()
    implies: bool = True


@dataclass(frozen=True, slots=True)
class PlannedComparison:
    """A comparison of a study, ready to be answered.

    Attributes:
        declaration: The comparison as study.toml declares it, or as the design implies it.
        compared: What is compared.
        measure: The measure.
        constructions: The constructions whose items are compared, pooled.
        is_declared: Whether study.toml declares the comparison.
    """

    declaration: Comparison
    compared: Compared
    measure: str
    constructions: tuple[str, ...]
    is_declared: bool

    def labelled(self, plan: Analysis) -> "PlannedComparison":
        """Return the comparison with its levels in the words of reports."""
        if not isinstance(self.compared, Contrast):
            return self
        return replace(self, compared=self.compared.labelled(plan.label))

    @property
    def written_out(self) -> dict[str, object]:
        """The comparison with every key that a reader needs, for a plan or a new study.toml."""
        keys = self.declaration.model_dump(mode="json", exclude_defaults=True)
        return keys | {
            "compare": self.compared.text,
            "of": self.measure,
            "constructions": list(self.constructions),
            "role": self.declaration.role,
        }


def construction_designs(
    study: Study, items: Sequence[Item], *, own_code: bool = True
) -> list[ConstructionDesign]:
    """Return the designs of the constructions that have targets, in the study's order.

    Constructions whose answers have no measure are left out.

    Args:
        study: The study.
        items: The study's items.
        own_code: Whether a type of response in the study's own code may be loaded.

    Raises:
        ParallaxError: The type of response cannot be loaded, or an item cannot be shown.
    """
    response = response_of(study, own_code=own_code)
    by_construction: dict[str, list[Item]] = {entry.name: [] for entry in study.constructions}
    for item in items:
        if item.kind is Kind.TARGET:
            by_construction.setdefault(item.construction, []).append(item)
    designs = [
        _construction_design(study, response, name, targets)
        for name, targets in by_construction.items()
        if targets
    ]
    return [design for design in designs if design.measures]


def _construction_design(
    study: Study, response: ResponseType, name: str, targets: Sequence[Item]
) -> ConstructionDesign:
    type_ = response.of_item(targets[0])
    factor_names = study.analysis.factors
    # A grammar's conditions are whatever its templates vary: only named ones are factors.
    by_condition = (
        condition_factors(((item.condition, _list_columns(item)) for item in targets), factor_names)
        if study.materials.items or factor_names
        else {}
    )
    factors: dict[str, tuple[str, ...]] = {}
    if type_.balance is Balance.VERSIONS and any(len(type_.versions(item)) > 1 for item in targets):
        factors[VERSION] = (EXPECTED, OTHER)
    for factor, level_of in by_condition.items():
        factors[factor] = tuple(dict.fromkeys(level_of.values()))
    for factor, levels in study.design.factors.items():
        factors[factor] = tuple(levels)
    conditions = {
        condition: {factor: levels[condition] for factor, levels in by_condition.items()}
        for condition in dict.fromkeys(item.condition for item in targets)
    }
    varying = {factor: levels for factor, levels in factors.items() if len(levels) > 1}
    measures = type_.measures or (("accuracy",) if Gives.RIGHT in type_.gives else ())
    if type_.balance is Balance.PLACES:
        options = dict.fromkeys(option for item in targets for option in type_.versions(item))
        measures += tuple(f"{SHARE_OF}{option}" for option in options)
    if study.coding is not None and type_.family in _OF_CATEGORIES:
        of_category = _OF_CATEGORIES[type_.family]
        measures += tuple(f"{of_category}{category}" for category in study.coding.names)
    regions = tuple(type_.compared_regions(targets))
    implies = type_.family != _TYPED or any(
        type_.arrangement(item, type_.versions(item)).good_side for item in targets
    )
    return ConstructionDesign(name, measures, varying, conditions, regions, implies)


def _list_columns(item: Item) -> dict[str, str]:
    """Return the researcher's columns of an item, and its template's features."""
    features = dict(pair.split("=", 1) for pair in item.features.split() if "=" in pair)
    return {**features, **dict(item.extra)}


def planned_comparisons(study: Study, items: Sequence[Item]) -> list[PlannedComparison]:
    """Return the study's declared comparisons, or those that follow from its design.

    Without a declaration, each construction has its main effects, interactions and simple effects
    (see ``default_contrasts``). A study of choices that has no such contrast compares people with
    each model.

    Raises:
        StudyError: A declared comparison does not fit the items.
    """
    designs = construction_designs(study, items)
    if study.comparisons:
        return [resolve(comparison, designs) for comparison in study.comparisons]
    return list(implied_comparisons(study, designs))


def resolve(comparison: Comparison, designs: Sequence[ConstructionDesign]) -> PlannedComparison:
    """Return a declared comparison, parsed against the factors of its constructions.

    Raises:
        StudyError: No construction has the factors and levels that the comparison names.
    """
    chosen = [
        design
        for design in designs
        if not comparison.constructions or design.construction in comparison.constructions
    ]
    fitting, errors = [], []
    for design in chosen:
        try:
            fitting.append((design, parse(comparison.compare, design.factors)))
        except ParallaxError as error:
            errors.append(error)
    if not chosen:
        raise StudyError(
            "no answers to these items can be compared",
            expected="a type of response whose answers are right or wrong, ratings, yes or no, "
            "reading times or lists",
        )
    if not fitting or (comparison.constructions and errors):
        raise errors[0]
    measure = comparison.of or fitting[0][0].measures[0]
    # Tasks of a session may share a factor, but not the measure.
    measured = [pair for pair in fitting if measure in pair[0].measures] or fitting
    compared = measured[0][1]
    return PlannedComparison(
        comparison,
        compared,
        measure,
        tuple(design.construction for design, parsed in measured if parsed == compared),
        is_declared=True,
    )


def implied_comparisons(
    study: Study, designs: Sequence[ConstructionDesign]
) -> Iterator[PlannedComparison]:
    """Yield the comparisons that follow from a study's design (see ``planned_comparisons``)."""
    plan = study.analysis
    titles = {entry.name: entry.title for entry in study.constructions}
    several = len(designs) > 1
    has_contrast = False
    designs = [design for design in designs if design.implies]
    for design in designs:
        for implied in default_contrasts(
            design.factors,
            plan.coding,
            simple_effects=plan.simple_effects,
            interactions=plan.interactions,
        ):
            has_contrast = True
            title = f"{titles.get(design.construction, design.construction)}: " if several else ""
            by_region = design.regions if design.measures[0] == "log_rt" else ()
            for region in by_region or (None,):
                yield _plan_for_design(
                    f"{title}{implied.contrast.labelled(plan.label).name(design.factors)}"
                    f"{_REGION_NAMES[region]}",
                    implied.contrast,
                    design.measures[0],
                    (design.construction,),
                    is_primary=implied.is_primary,
                    regions=() if region is None else (region,),
                )
    judged_constructions = tuple(
        design.construction for design in designs if design.measures[0] == "accuracy"
    )
    if judged_constructions:
        difference = JudgeDifference(PEOPLE, MODELS)
        yield _plan_for_design(
            "people and models",
            difference,
            "accuracy",
            judged_constructions,
            is_primary=not has_contrast,
        )


def _plan_for_design(
    name: str,
    compared: Contrast | JudgeDifference,
    measure: str,
    constructions: tuple[str, ...],
    *,
    is_primary: bool,
    regions: tuple[int, ...] = (),
) -> PlannedComparison:
    declaration = Comparison.model_validate(
        {
            "name": name,
            "compare": compared.text,
            "of": measure,
            "constructions": constructions,
            "regions": regions,
            "role": "primary" if is_primary else "exploratory",
        }
    )
    return PlannedComparison(declaration, compared, measure, constructions, is_declared=False)


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
