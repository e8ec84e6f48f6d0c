"""The table of a study's primary or exploratory comparisons, and what each outcome says."""

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from analysis.findings.comparison_words import NAME, MeasureWords, words_of, write_p
from analysis.findings.design import CONDITION, VERSION
from analysis.findings.finding import Context
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.comparisons.contrast import PEOPLE, JudgeDifference, LevelDifference, Slope
from experiment.comparisons.planned import PlannedComparison


def comparisons_table(
    context: Context, rows: pd.DataFrame, role: str, *, were_frames_drawn: bool
) -> Table:
    """Return the table of the primary or of the exploratory comparisons.

    Args:
        context: The study and the origin of the numbers.
        rows: The comparisons of this role, from ``comparisons.answered``.
        role: ``primary`` or ``exploratory``.
        were_frames_drawn: Whether frames were drawn where models differ.
    """
    is_primary = role == "primary"
    family = int(rows["n_in_family"].max())
    corrected = "Intervals: 95%, of each comparison by itself; p is not corrected."
    if family > 1:
        of = "the {} primary comparisons" if is_primary else "the {} models of one comparison"
        corrected = (
            f"Intervals and p are corrected for {of.format(family)} (Bonferroni): an interval "
            "excludes 0 exactly when p is below .05."
        )
        corrected += "" if is_primary else " Other exploratory comparisons are not corrected."
    words = [
        words_of(measure, response)
        for measure, response in zip(rows["measure"], rows["response"], strict=True)
    ]
    scaled = rows.assign(
        group=[of_measure.heading for of_measure in words],
        label=[_write_label(row) for row in rows.to_dict("records")],
        **{
            end: [one.scale(value) for one, value in zip(words, rows[end], strict=True)]
            for end in ("estimate", "low", "high")
        },
        unit=[of_measure.unit for of_measure in words],
        p_shown=rows["p_corrected"],
    )
    return context.table(
        NAME if is_primary else f"{NAME}_exploratory",
        _write_title(rows, is_primary=is_primary),
        _write_caption(rows, context),
        scaled,
        (
            Column("label", "", "text"),
            Column("estimate", "Difference", "estimate"),
            Column("p_shown", "p" if family == 1 else "p (corrected)", "p"),
            Column("n_observations", "Observations", "count"),
            Column("n_participants", "Participants", "count"),
            Column("n_frames", "Frames", "count"),
        ),
        (
            corrected,
            "Standard errors are clustered by participant and by frame (an item in all its "
            "conditions). Differences are computed before rounding.",
            *_design_notes(rows),
            *_equivalence_notes(rows),
            *(_weight_notes(rows) if were_frames_drawn else ()),
        ),
        Section.COMPARISONS,
    )


def _write_label(row: Mapping[Hashable, Any]) -> str:
    """Return a comparison's name, and which side the difference is taken from."""
    name = row["name"] if row["is_planned"] else f"{row['name']} (not planned)"
    if row["is_of_judges"]:
        sides = f"{row['compared'].split(' - ')[0]} minus {row['judge']}"
    else:
        sides = row["sides"] or row["judge"]
    return name if not sides or sides in name else f"{name}: {sides}"


def _design_notes(rows: pd.DataFrame) -> Iterator[str]:
    """Yield which factors vary between participants, and why intervals may be off their centre."""
    if factors := [name for name in rows["between"].unique() if name]:
        yield f"Between participants: {', '.join(factors)}."
    is_within = ~rows["is_of_judges"] & (rows["between"] == "") & (rows["sides"] != "")
    if is_within.any():
        yield (
            "Differences within participants, except as said."
            if factors
            else ("Differences within participants.")
        )
    if rows["is_of_judges"].any():
        yield (
            "With models, an interval joins Wilson's intervals of two accuracies, which are not "
            "symmetric: the difference need not be at its centre."
        )


def _equivalence_notes(rows: pd.DataFrame) -> Iterator[str]:
    """Yield a note on each comparison whose difference is smaller than is of interest."""
    for row in rows[rows["is_equivalent"].eq(other=True)].to_dict("records"):
        words = words_of(row["measure"], row["response"])
        low, high = (words.amount(row[f"equivalence_{end}"]) for end in ("low", "high"))
        smallest = words.with_unit(row["smallest_effect"], signed=False)
        yield (
            f"{row['name']}: equivalent, because the interval of two one-sided tests, {low} to "
            f"{high}, lies within \N{PLUS-MINUS SIGN}{smallest} ({write_p(row['p_equivalence'])})."
        )


def _weight_notes(rows: pd.DataFrame) -> Iterator[str]:
    """Yield which comparisons weight frames by their probabilities of being drawn."""
    is_slope = ~rows["is_of_judges"] & (rows["sides"] == "")
    if not is_slope.all():
        yield (
            "Frames are weighted by the inverse of their probability of being drawn: comparisons "
            "hold for all frames that could be drawn."
        )
    if is_slope.any():
        yield (
            f"Slopes are not weighted: {', '.join(rows.loc[is_slope, 'name'].unique())} "
            f"{'holds' if rows.loc[is_slope, 'name'].nunique() == 1 else 'hold'} for the frames "
            "that were shown, which were drawn where models differ."
        )


def _write_title(rows: pd.DataFrame, *, is_primary: bool) -> str:
    planned = rows[rows["is_planned"]]
    if is_primary and not planned.empty and not planned["is_declared"].any():
        return "Comparisons of the design"
    return "Primary comparisons" if is_primary else "Exploratory comparisons"


def _write_caption(rows: pd.DataFrame, context: Context) -> str:
    planned = rows[rows["is_planned"]]
    if planned.empty:
        return "Comparisons that the study did not plan."
    if planned["is_declared"].all():
        when = ", declared before the data were collected" if context.origin.run.study else ""
        return f"The study's questions{when}."
    return "The study declared no comparisons; these follow from its design."


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
