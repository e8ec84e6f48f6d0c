"""The sentences of a study's comparisons, and how each measure is worded."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.findings.design import CONDITION, VERSION
from analysis.statistics.resample import LEVEL
from experiment.comparisons.contrast import PEOPLE, JudgeDifference, LevelDifference, Slope
from experiment.comparisons.planned import PlannedComparison
from experiment.studies.analysis_plan import D_PRIME, SHARE_OF

NAME = "comparisons"
ALPHA = 1 - LEVEL
_PERCENT = 100.0


@dataclass(frozen=True, slots=True)
class MeasureWords:
    """How a report words differences of a measure.

    Attributes:
        subject: The measured quantity, such as "Accuracy".
        more: The verb phrase for a positive difference, such as "is higher".
        less: The same for a negative one.
        unit: The unit of a difference.
        answers: What is counted, such as "judgments".
        scale: Converts a difference to the unit.
        decimals: How many decimals are printed.
        level: Writes the measure itself, such as "84.1%".
    """

    subject: str
    more: str
    less: str
    unit: str
    answers: str
    scale: Callable[[float], float]
    decimals: int
    level: Callable[[float], str]

    def amount(self, value: float, *, signed: bool = True) -> str:
        """Return a difference in the unit, without the unit's name."""
        number_text = f"{self.scale(value):{'+' if signed else ''}z.{self.decimals}f}"
        return number_text.replace("-", "\N{MINUS SIGN}")


def _to_percentage_points(value: float) -> float:
    return _PERCENT * value


def _to_slowdown_percent(value: float) -> float:
    return _PERCENT * float(np.expm1(value))


def _return_unchanged(value: float) -> float:
    return value


def _write_share(value: float) -> str:
    return f"{value:.1%}"


def _write_decimals(value: float) -> str:
    return f"{value:z.2f}".replace("-", "\N{MINUS SIGN}")


def _write_milliseconds(log_rt: float) -> str:
    return f"{np.exp(log_rt):,.0f} ms"


_WORDS: Mapping[str, MeasureWords] = {
    "accuracy": MeasureWords(
        "Accuracy", "is higher", "is lower", "percentage points", "judgments",
        _to_percentage_points, 1, _write_share,
    ),
    "rating": MeasureWords(
        "The mean rating", "is higher", "is lower", "scale points", "ratings",
        _return_unchanged, 2, _write_decimals,
    ),
    "yes": MeasureWords(
        "The share of yes", "is higher", "is lower", "percentage points", "answers",
        _to_percentage_points, 1, _write_share,
    ),
    D_PRIME: MeasureWords(
        "Sensitivity (d')", "is higher", "is lower", "units of d'", "answers",
        _return_unchanged, 2, _write_decimals,
    ),
    "log_rt": MeasureWords(
        "Reading", "is slower", "is faster", "per cent", "reading times",
        _to_slowdown_percent, 1, _write_milliseconds,
    ),
}  # fmt: skip


def words_of(measure: str) -> MeasureWords:
    """Return how a report words differences of a measure, such as "yes" or "share of bad"."""
    if measure.startswith(SHARE_OF):
        option = measure.removeprefix(SHARE_OF)
        return replace(_WORDS["accuracy"], subject=f"The share of the option {option}")
    return _WORDS[measure]


def comparison_sentences(statistics: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield a sentence for each primary comparison, in the order of the study."""
    rows = statistics.get(NAME)
    if rows is None:
        return
    primary = rows[rows["role"] == "primary"]
    for row in primary.to_dict("records"):
        yield _write_sentence(row)
    is_derived = len(primary) > 0 and not primary["is_declared"].any()
    if is_derived:
        yield (
            "The study declared no comparisons; "
            f"{'this one follows' if len(primary) == 1 else 'these follow'} from its design."
        )
    if len(primary) and (family := int(primary["n_in_family"].max())) > 1:
        if family == len(primary):
            them = f"these {family} {'' if is_derived else 'primary '}comparisons"
        else:
            them = f"all {family} primary comparisons of the study"
        yield f"Intervals and p of {them} are corrected for their number (Bonferroni)."

    for row in rows[~rows["is_planned"]].to_dict("records"):
        yield f"Not planned: {_write_sentence(row)}"


def _write_sentence(row: Mapping[Hashable, Any]) -> str:
    words = words_of(row["measure"])
    numbers = _format_estimate(row, words)
    if row["if_equivalent"]:
        verdict = _judges_verdict(row, words, numbers)
        if row["is_declared"]:
            return f"{row['name']}: {verdict}"
        # A model's name stays as it is written.
        is_word = verdict.startswith(("whether ", f"{PEOPLE} "))
        return verdict[0].upper() + verdict[1:] if is_word else verdict
    if pd.isna(row["low"]) and pd.isna(row["high"]):
        return (
            f"{row['name']}: no answer, because there are too few {words.answers}, participants "
            f"or frames (the difference is {words.amount(row['estimate'])} {words.unit})."
        )
    sides = _write_sides(row, words)
    if row["p_corrected"] < ALPHA:
        statement = row["if_positive"] if row["estimate"] > 0 else row["if_negative"]
        return f"{row['name']}: {statement}{sides}{numbers}{_size_verdict(row, words)}."
    if row["is_equivalent"]:
        difference = f"the difference {row['sides']}".rstrip()
        return (
            f"{row['name']}: {difference} is smaller than {_smallest_effect(row, words)}"
            f"{sides}{_format_estimate(row, words, is_equivalence=True)}."
        )
    return f"{row['name']}: {row['if_unclear']} remains open{sides}{numbers}."


def _smallest_effect(row: Mapping[Hashable, Any], words: MeasureWords) -> str:
    smallest = words.amount(row["smallest_effect"], signed=False)
    return f"{smallest} {words.unit}{row['per']}, the smallest effect of interest"


def _size_verdict(row: Mapping[Hashable, Any], words: MeasureWords) -> str:
    """Return whether a difference from zero is of interest, if the study declares the least."""
    if pd.isna(row["smallest_effect"]):
        return ""
    smallest = _smallest_effect(row, words)
    if row["is_equivalent"]:
        return f"; it is smaller than {smallest}"
    if max(row["low"], -row["high"]) > row["smallest_effect"]:
        return f"; it is larger than {smallest}"
    return f"; whether it is larger than {smallest}, remains open"


def _write_sides(row: Mapping[Hashable, Any], words: MeasureWords) -> str:
    """Return what both sides of a comparison come to, as it stands between verdict and estimate."""
    first, second = row.get("first", np.nan), row.get("second", np.nan)
    if pd.isna(first) or pd.isna(second):
        return ", "
    if not row["interaction"]:
        return f", {words.level(first)} against {words.level(second)}: "
    return (
        f": {row['interaction'].format(words.amount(first), words.amount(second))}, "
        f"{'as a ratio of ratios ' if row['measure'] == 'log_rt' else 'a difference of '}"
    )


def _judges_verdict(row: Mapping[Hashable, Any], words: MeasureWords, numbers: str) -> str:
    """Return the verdict on people and a model, or two models; it is declared or implied.

    A difference within the margin counts as equal even if it is significantly different from zero,
    because the margin was declared in advance.
    """
    margin = f"{words.amount(row['smallest_effect'], signed=False)} {words.unit}"
    judge = row["compared"].split(" - ")[0]
    answers = words.answers if PEOPLE in (judge, row["judge"]) else "items"
    shares = (
        f"{judge} in {row['first']:.1%} and {row['judge']} in {row['second']:.1%} of the same "
        f"{answers}"
    )
    if pd.isna(row["low"]) and pd.isna(row["high"]):
        return (
            f"{row['if_unclear']} remains open, because there are too few {words.answers}, "
            f"participants or frames: {shares}."
        )
    if row["is_equivalent"]:
        within = _format_estimate(row, words, is_equivalence=True)
        return f"{row['if_equivalent']} {margin}: {shares}, {within}."
    if row["p_corrected"] < ALPHA:
        statement = row["if_positive"] if row["estimate"] > 0 else row["if_negative"]
        is_larger = max(row["low"], -row["high"]) > row["smallest_effect"]
        conjunction, shown = ("that", "is shown") if is_larger else ("whether", "remains open")
        return (
            f"{statement}: {shares}, {numbers}; {conjunction} it is larger than {margin}, within "
            f"which both would count as equal, {shown}."
        )
    return (
        f"{row['if_unclear']} remains open, and so does whether the difference is smaller than "
        f"{margin}, which would count as equal: {shares}, {numbers}."
    )


def exploratory_verdict(statistics: Mapping[str, pd.DataFrame], model: str) -> str:
    """Return an exploratory comparison's verdict on one of several models; empty without one."""
    rows = statistics.get(NAME)
    if rows is None:
        return ""
    several = rows[(rows["role"] == "exploratory") & (rows["n_in_family"] > 1)]
    for row in several[several["judge"] == model].to_dict("records"):
        words = words_of(row["measure"])
        verdict = _judges_verdict(row, words, _format_estimate(row, words))
        return f"Exploratory, corrected for the {row['n_in_family']} models: {verdict}"
    return ""


def is_answered_first(statistics: Mapping[str, pd.DataFrame], model: str) -> bool:
    """Return whether a primary comparison compares people with this model."""
    rows = statistics.get(NAME)
    if rows is None:
        return False
    primary = rows[rows["role"] == "primary"]
    pairs = [{row["judge"], row["compared"].split(" - ")[0]} for row in primary.to_dict("records")]
    return {PEOPLE, model} in pairs


def statements(comparison: PlannedComparison, judge: str) -> dict[str, str]:
    """Return what a positive, a negative, an unclear and a difference within the margin says.

    An interaction's words have a place for the difference at each side.
    """
    words = {"if_equivalent": "", "interaction": "", "per": "", "sides": ""}
    return words | _write_statements(comparison, judge)


def _write_statements(comparison: PlannedComparison, judge: str) -> dict[str, str]:
    words, compared = words_of(comparison.measure), comparison.compared
    measured = words.subject[0].lower() + words.subject[1:]
    if isinstance(compared, JudgeDifference):
        verb = "choose" if compared.first == PEOPLE else "chooses"
        model, other_judge = (compared.first, judge) if judge == PEOPLE else (judge, compared.first)
        statement = f"{compared.first} {verb} the expected version {{}} often than {judge}"
        return {
            "if_positive": statement.format("more"),
            "if_negative": statement.format("less"),
            "if_unclear": f"whether {statement.format('more or less')}",
            "if_equivalent": f"{model} is as accurate as {other_judge} within the margin of",
        }
    if isinstance(compared, Slope):
        of_model = f" of {judge}" if judge else ""
        variable = f"{compared.variable}{of_model}"
        return _write_both_directions(f"{measured} {{}} with higher {variable}", words) | {
            "if_unclear": f"whether {measured} changes with {variable}",
            "per": " per bit" if judge else f" per unit of {compared.variable}",
        }
    at = ", ".join(f"{factor} {level}" for factor, level in compared.at)
    condition = f" at {at}" if at else ""
    main, *other_differences = compared.differences
    if not other_differences:
        first, second = _describe_sides(main)
        statement = f"{measured} {{}} for {first} than for {second}{condition}"
        unclear = f"whether {measured} differs between {first} and {second}{condition}"
        return _write_both_directions(statement, words) | {
            "if_unclear": unclear,
            "sides": f"{main.words}{condition}",
        }
    *factors, last = (step.factor for step in compared.differences)
    factor_list = f"{', '.join(factors)} and {last}"
    first, second = _describe_sides(other_differences[-1])
    inner = f"the difference {main.words}"
    if other_differences[:-1]:
        crossed = " and ".join(
            f"{step.factor} ({step.words})" for step in compared.differences[:-1]
        )
        inner = f"the interaction of {crossed}"
    statement = f"{factor_list} interact in {measured}{condition}"
    return {
        "if_positive": statement,
        "if_negative": statement,
        "if_unclear": f"whether {statement}",
        "interaction": f"{inner} is {{}} for {first} and {{}} for {second}",
    }


def _write_both_directions(statement: str, words: MeasureWords) -> dict[str, str]:
    return {
        "if_positive": statement.format(words.more),
        "if_negative": statement.format(words.less),
    }


def _describe_sides(step: LevelDifference) -> tuple[str, str]:
    """Return both sides of a difference in words, with the factor's name if it says something."""
    *other_levels, last = step.others
    second = f"the mean of {', '.join(other_levels)} and {last}" if other_levels else last
    name = "" if step.factor in (CONDITION, VERSION) else f"{step.factor} "
    return f"{name}{step.first}", f"{name if not other_levels else ''}{second}"


def _format_estimate(
    row: Mapping[Hashable, Any], words: MeasureWords, *, is_equivalence: bool = False
) -> str:
    """Return an estimate with its interval and p; of an equivalence, the interval that shows it."""
    names = ("equivalence_low", "equivalence_high") if is_equivalence else ("low", "high")
    low, high = (words.amount(row[name]) for name in names)
    interval = f"95% interval {low} to {high}"
    if is_equivalence:
        kind = "90%" if row["n_in_family"] == 1 else "simultaneous 90%"
        interval = f"{kind} interval {low} to {high}, as two one-sided tests at 5% require"
    elif np.isinf(row["low"]):
        interval = f"95% interval up to {high}, one-sided"
    elif np.isinf(row["high"]):
        interval = f"95% interval from {low}, one-sided"
    covariate_note = f"; {row['covariates']} held constant" if row["covariates"] else ""
    difference = "difference from 0: " if is_equivalence else ""
    estimate = f"{words.amount(row['estimate'])} {words.unit}{row['per']}"
    return f"{estimate} ({interval}; {difference}{_write_p(row['p_corrected'])}{covariate_note})"


def _write_p(p: float) -> str:
    if p < 0.001:
        return "p < .001"
    return "p > .999" if p > 0.999 else f"p = {p:.3f}".replace("0.", ".")
