"""Mistakes in the comparisons that a study declares."""

from collections import Counter
from collections.abc import Iterator, Sequence

from experiment.comparisons.contrast import Contrast, JudgeDifference, Slope
from experiment.comparisons.planned import (
    EXPECTED,
    OTHER,
    VERSION,
    ConstructionDesign,
    PlannedComparison,
    construction_designs,
    resolve,
)
from experiment.errors import ParallaxError, StudyError
from experiment.plugins import unknown_name
from experiment.records import PAIR, Item, Kind, Variant
from experiment.responses.registry import response_of
from experiment.studies.analysis_plan import D_PRIME, TRIAL_ORDER, Comparison
from experiment.studies.study import Study

SURPRISAL = "surprisal"
_SIDE_WORDS = dict(zip(PAIR, ("yes", "no"), strict=True))


def comparison_mistakes(study: Study, items: Sequence[Item]) -> Iterator[tuple[int, ParallaxError]]:
    """Yield the mistakes in a study's comparisons, each with the comparison's number from 0."""
    try:
        designs = construction_designs(study, items) if study.comparisons else []
    except ParallaxError:
        # The checks of the items report this error.
        return
    names: set[str] = set()
    for number, comparison in enumerate(study.comparisons):
        if comparison.name in names:
            yield (
                number,
                StudyError(
                    f'two comparisons are called "{comparison.name}"',
                    expected="a name of its own for each, because reports name comparisons by it",
                ),
            )
        names.add(comparison.name)
        for error in _find_mistakes(comparison, designs, study, items):
            yield number, error


def label_mistakes(study: Study, items: Sequence[Item]) -> Iterator[ParallaxError]:
    """Yield labels of factors and levels that the design lacks, and equal labels of levels."""
    try:
        designs = construction_designs(study, items) if study.analysis.labels else []
    except ParallaxError:
        # The checks of the items report this error.
        return
    levels_by_factor: dict[str, dict[str, None]] = {}
    for design in designs:
        for factor, levels in design.factors.items():
            levels_by_factor.setdefault(factor, {}).update(dict.fromkeys(levels))
    for factor, labels in study.analysis.labels.items():
        if factor not in levels_by_factor:
            yield unknown_name("factor", factor, list(levels_by_factor))
            continue
        known_levels = list(levels_by_factor[factor])
        for level in labels:
            if level not in known_levels:
                yield unknown_name(f"level of {factor}", level, known_levels)
        counts = Counter(study.analysis.label(factor, level) for level in known_levels)
        for label, number in counts.items():
            if number > 1:
                yield StudyError(
                    f'{number} levels of {factor} are shown as "{label}"',
                    expected="a label of its own for each level",
                )


def _find_mistakes(
    comparison: Comparison,
    designs: Sequence[ConstructionDesign],
    study: Study,
    items: Sequence[Item],
) -> Iterator[ParallaxError]:
    constructions = [design.construction for design in designs]
    for name in comparison.constructions:
        if name not in constructions:
            yield unknown_name("construction", name, constructions)
            return
    try:
        planned = resolve(comparison, designs)
    except ParallaxError as error:
        yield error
        return
    chosen = [design for design in designs if design.construction in planned.constructions]
    measures = list(dict.fromkeys(name for design in chosen for name in design.measures))
    if planned.measure not in measures:
        yield StudyError(
            f'the answers have no measure "{planned.measure}"',
            expected=f"of = one of: {', '.join(measures)}",
        )
    elif isinstance(planned.compared, JudgeDifference) and planned.measure != "accuracy":
        yield StudyError(
            f"people and models are not compared by {planned.measure}",
            expected='of = "accuracy"; for other answers the report gives correlations',
        )
    elif planned.measure == D_PRIME:
        yield from _d_prime_mistakes(planned, chosen, study, items)
    if comparison.regions and planned.measure != "log_rt":
        yield StudyError(
            "regions are given for a comparison that is not of reading times",
            expected='regions only with of = "log_rt"',
        )
    if comparison.regions and not any(design.regions for design in chosen):
        yield StudyError(
            "regions are counted from the critical region, and the items name none",
            expected='critical = "a column of the items" in [trial.parameters]',
        )
    if comparison.one_sided and not comparison.predicted:
        yield StudyError(
            "the test is one-sided, but no direction is predicted",
            expected='predicted = "positive" or "negative", or no one_sided',
        )
    if isinstance(planned.compared, Slope):
        yield from _slope_mistakes(planned.compared, items)
    yield from _covariate_mistakes(planned, study, items)


def _covariate_mistakes(
    planned: PlannedComparison, study: Study, items: Sequence[Item]
) -> Iterator[ParallaxError]:
    covariates = planned.declaration.covariates
    if covariates and (isinstance(planned.compared, JudgeDifference) or planned.measure == D_PRIME):
        yield StudyError(
            "covariates are not held constant in differences between people and models, or in d'",
            expected="covariates in a comparison of levels or a slope of single answers",
        )
    columns = dict.fromkeys(name for item in items for name, _ in item.extra)
    allowed_names = [*columns, *study.analysis.covariates, TRIAL_ORDER]
    for name in covariates:
        if name not in allowed_names:
            yield unknown_name("covariate", name, allowed_names)


def _d_prime_mistakes(
    planned: PlannedComparison,
    designs: Sequence[ConstructionDesign],
    study: Study,
    items: Sequence[Item],
) -> Iterator[StudyError]:
    """Yield the cells of a comparison of d' in which the same answer is always expected."""
    compared = planned.compared
    if not isinstance(compared, Contrast):
        yield StudyError(
            "d' is computed from many answers, so it has no slope",
            expected='a difference of levels, or of = "yes" or of = "accuracy"',
        )
        return
    response = response_of(study)
    conditions = {design.construction: design.conditions for design in designs}
    expected: dict[tuple[str, ...], set[object]] = {}
    for item in items:
        if item.kind is not Kind.TARGET or item.construction not in planned.constructions:
            continue
        type_ = response.of_item(item)
        for version in type_.versions(item):
            levels = {VERSION: EXPECTED if version == Variant.GOOD else OTHER}
            levels |= conditions[item.construction][item.condition]
            if compared.compares(levels):
                # Factors between participants have no level here: their cells share all items.
                of_items = [levels[name] for name in compared.named_factors if name in levels]
                cell = (item.construction, *of_items)
                side = type_.arrangement(item, (version,)).good_side
                expected.setdefault(cell, set()).add(side)
    for (construction, *cell_levels), sides in expected.items():
        if missing_answers := [word for side, word in _SIDE_WORDS.items() if side not in sides]:
            cell_name = (
                f"{construction} ({', '.join(cell_levels)})" if cell_levels else construction
            )
            yield StudyError(
                f"d' compares answers to sentences where yes is expected and where no is; in "
                f"{cell_name} no sentence expects {' or '.join(missing_answers)}",
                expected="both kinds of sentences in every compared cell",
                remedy='Leave the factor that decides the expected answer out of "compare", give '
                'the column of expected answers in trial.parameters, or compare of = "yes"',
            )


def _slope_mistakes(slope: Slope, items: Sequence[Item]) -> Iterator[ParallaxError]:
    if slope.variable == SURPRISAL:
        return
    targets = [dict(item.extra) for item in items if item.kind is Kind.TARGET]
    columns = list(dict.fromkeys(name for columns in targets for name in columns))
    if slope.variable not in columns:
        yield unknown_name("column of the items", slope.variable, [*columns, SURPRISAL])
        return
    for columns_of_item in targets:
        value = columns_of_item.get(slope.variable, "")
        if value and not _is_number(value):
            yield StudyError(
                f'the column {slope.variable} holds "{value}"',
                expected="numbers, because a slope is of a number",
            )
            return


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
