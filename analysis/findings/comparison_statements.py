"""What each outcome of a planned comparison says: a difference, an equivalence, or neither."""

from collections.abc import Collection

from analysis.findings.comparison_words import MeasureWords, words_of
from analysis.findings.design import CONDITION, VERSION
from experiment.comparisons.contrast import PEOPLE, JudgeDifference, LevelDifference, Slope
from experiment.comparisons.planned import PlannedComparison

# Their names say nothing that their levels do not.
_UNNAMED_FACTORS = (CONDITION, VERSION)


def statements(
    comparison: PlannedComparison, judge: str, response: str, labelled: Collection[str] = ()
) -> dict[str, str]:
    """Return what a positive, a negative, an unclear and a difference within the margin says.

    An interaction's words have places for differences. ``labelled`` factors are not named.
    """
    words = words_of(comparison.measure, response)
    written = _write_statements(comparison, judge, words, {*_UNNAMED_FACTORS, *labelled})
    return {"interaction": "", "per": "", "sides": ""} | written


def _write_statements(
    comparison: PlannedComparison, judge: str, words: MeasureWords, unnamed: Collection[str]
) -> dict[str, str]:
    compared = comparison.compared
    measured = words.subject[0].lower() + words.subject[1:]
    if isinstance(compared, JudgeDifference):
        verb = "choose" if compared.first == PEOPLE else "chooses"
        statement = f"{compared.first} {verb} the expected version {{}} often than {judge}"
        return {
            "if_positive": statement.format("more"),
            "if_negative": statement.format("less"),
            "if_unclear": f"whether {statement.format('more or less')}",
            "if_equivalent": f"{compared.first} and {judge} are equivalent in accuracy",
        }
    if isinstance(compared, Slope):
        of_model = f" of {judge}" if judge else ""
        variable = f"{compared.variable}{of_model}"
        return _write_both_directions(f"{measured} {{}} with higher {variable}", words) | {
            "if_unclear": f"whether {measured} changes with {variable}",
            "if_equivalent": f"the slope of {measured} on {variable} is equivalent to 0",
            "per": " per bit" if judge else f" per unit of {compared.variable}",
        }
    at = ", ".join(f"{factor} {level}" for factor, level in compared.at)
    condition = f" at {at}" if at else ""
    main, *inner_differences = compared.differences
    if not inner_differences:
        first, second = _describe_sides(main, unnamed={main.factor})
        is_named = main.factor in (*_UNNAMED_FACTORS, comparison.declaration.name)
        where = condition if is_named else f" ({main.factor}){condition}"
        statement = f"{measured} {{}} for {first} than for {second}{where}"
        return _write_both_directions(statement, words) | {
            "if_unclear": f"whether {measured} differs between {first} and {second}{where}",
            "if_equivalent": f"{measured} is equivalent for {first} and {second}{where}",
            "sides": f"{main.words}{condition}",
        }
    *factors, last = (step.factor for step in compared.differences)
    factor_list = f"{', '.join(factors)} and {last}"
    first, second = _describe_sides(main, unnamed)
    innermost = inner_differences[-1]
    of_factor = "" if innermost.factor in unnamed else f" of {innermost.factor}"
    inner = f"The difference {innermost.words}{of_factor}"
    if inner_differences[:-1]:
        crossed = " and ".join(f"{step.factor} ({step.words})" for step in inner_differences)
        inner = f"The interaction of {crossed}"
    statement = f"{factor_list} interact in {measured}{condition}"
    return {
        "if_positive": statement,
        "if_negative": statement,
        "if_unclear": f"whether {statement}",
        "if_equivalent": (
            f"the interaction of {factor_list} in {measured}{condition} is equivalent to 0"
        ),
        "sides": "difference of differences",
        "interaction": f"{inner} is {{}} for {first} and {{}} for {second}",
    }


def _write_both_directions(statement: str, words: MeasureWords) -> dict[str, str]:
    return {
        "if_positive": statement.format(words.more),
        "if_negative": statement.format(words.less),
    }


def _describe_sides(
    step: LevelDifference, unnamed: Collection[str] = _UNNAMED_FACTORS
) -> tuple[str, str]:
    """Return both sides of a difference in words, with the factor's name if it says something."""
    *other_levels, last = step.others
    second = f"the mean of {', '.join(other_levels)} and {last}" if other_levels else last
    name = "" if step.factor in unnamed else f"{step.factor} "
    return f"{name}{step.first}", f"{name if not other_levels else ''}{second}"
