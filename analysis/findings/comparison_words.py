"""The sentences of a study's comparisons, and how each measure is worded."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.statistics.paired import LEAST_MARGIN_SHARE
from analysis.statistics.resample import LEVEL
from experiment.comparisons.contrast import PEOPLE
from experiment.studies.analysis_plan import (
    D_PRIME,
    DIFFERENT_ENTRIES,
    ENTRIES,
    NUMBER_OF,
    SHARE_OF,
)

NAME = "comparisons"
ALPHA = 1 - LEVEL
_PERCENT = 100.0
_TYPED_RESPONSE = "typed"


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
        means: What levels are, if they are no plain means, such as "geometric means".
    """

    subject: str
    more: str
    less: str
    unit: str
    answers: str
    scale: Callable[[float], float]
    decimals: int
    level: Callable[[float], str]
    means: str = ""

    def amount(self, value: float, *, signed: bool = True) -> str:
        """Return a difference in the unit, without the unit's name."""
        number_text = f"{self.scale(value):{'+' if signed else ''}z.{self.decimals}f}"
        return number_text.replace("-", "\N{MINUS SIGN}")

    def with_unit(self, value: float, *, signed: bool = True) -> str:
        """Return a difference with its unit; d' is its own unit."""
        return f"{self.amount(value, signed=signed)} {self.unit}".rstrip()

    @property
    def heading(self) -> str:
        """The measured quantity with the unit of differences, as the heading of a table."""
        return f"{self.subject}, in {self.unit}" if self.unit else self.subject


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


_MEASURE_WORDS: Mapping[str, MeasureWords] = {
    "accuracy": MeasureWords(
        "Accuracy", "is higher", "is lower", "percentage points", "judgments",
        _to_percentage_points, 1, _write_share,
    ),
    "rating": MeasureWords(
        "The mean rating", "is higher", "is lower", "scale points", "ratings",
        _return_unchanged, 2, _write_decimals,
    ),
    "yes": MeasureWords(
        'The rate of "yes" responses', "is higher", "is lower", "percentage points", "answers",
        _to_percentage_points, 1, _write_share,
    ),
    D_PRIME: MeasureWords(
        "Sensitivity (d')", "is higher", "is lower", "", "answers",
        _return_unchanged, 2, _write_decimals,
    ),
    "log_rt": MeasureWords(
        "Reading time", "is longer", "is shorter", "%", "reading times",
        _to_slowdown_percent, 1, _write_milliseconds, "geometric means ",
    ),
    DIFFERENT_ENTRIES: MeasureWords(
        "The number of different entries", "is higher", "is lower", "entries", "lists",
        _return_unchanged, 2, _write_decimals, "means ",
    ),
    ENTRIES: MeasureWords(
        "The number of entries", "is higher", "is lower", "entries", "lists",
        _return_unchanged, 2, _write_decimals, "means ",
    ),
}  # fmt: skip


def words_of(measure: str, response: str = "") -> MeasureWords:
    """Return how a report words differences of a measure, such as "yes" or "share of bad".

    Args:
        measure: The measure.
        response: The study's type of response: typed answers are accepted or not.
    """
    if measure == "accuracy" and response == _TYPED_RESPONSE:
        return replace(_MEASURE_WORDS[measure], subject="The share of accepted answers")
    if measure.startswith(SHARE_OF):
        option = measure.removeprefix(SHARE_OF)
        if response == _TYPED_RESPONSE:
            subject = f"The share of answers in the category {option}"
            return replace(_MEASURE_WORDS["accuracy"], subject=subject)
        return replace(_MEASURE_WORDS["accuracy"], subject=f"The share of the option {option}")
    if measure.startswith(NUMBER_OF):
        subject = f"The number of entries in the category {measure.removeprefix(NUMBER_OF)}"
        return replace(_MEASURE_WORDS[DIFFERENT_ENTRIES], subject=subject)
    return _MEASURE_WORDS[measure]


def comparison_sentences(statistics: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """Yield a sentence for each primary comparison, in the order of the study.

    Interactions that are shown come first, because they qualify the other effects of their factors.
    """
    rows = statistics.get(NAME)
    if rows is None:
        return
    primary = rows[rows["role"] == "primary"]
    in_order = sorted(primary.to_dict("records"), key=lambda row: not _is_interaction_shown(row))
    for row in in_order:
        yield _write_sentence(row)
        if _is_interaction_shown(row):
            yield from _simple_effects(row, rows)
    yield from _reading_advice(in_order)
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
            yield f"This report answers {len(primary)} of the study's {family} primary comparisons."
        yield f"Intervals and p of {them} are corrected for their number (Bonferroni)."

    is_declared = (rows["role"] == "exploratory") & rows["is_declared"] & rows["is_planned"]
    for row in rows[is_declared & (rows["covariates"] != "")].to_dict("records"):
        yield f"Exploratory: {_write_sentence(row)}"
    for row in rows[~rows["is_planned"]].to_dict("records"):
        yield f"Not planned: {_write_sentence(row)}"


def _simple_effects(interaction: Mapping[Hashable, Any], rows: pd.DataFrame) -> Iterator[str]:
    """Yield the effects of one factor at each level of the other, after their interaction."""
    same = [rows[name] == interaction[name] for name in ("factors", "constructions", "regions")]
    is_simple = np.logical_and.reduce([*same, rows["at"] != "", rows["role"] == "exploratory"])
    effects = [
        f"{row['sides']} {_format_estimate(row, words_of(row['measure'], row['response']))}"
        for row in rows[is_simple & rows["low"].notna()].to_dict("records")
    ]
    if effects:
        yield f"Simple effects, exploratory and not corrected: {'; '.join(effects)}."


def _reading_advice(rows: Sequence[Mapping[Hashable, Any]]) -> Iterator[str]:
    """Yield how to read main effects next to a shown interaction, and inconclusive comparisons."""
    if any(map(_is_interaction_shown, rows)) and not all(row["interaction"] for row in rows):
        yield (
            "A difference whose factor takes part in an interaction is an average over the other "
            "factor's levels, which differ."
        )
    answered_rows = [row for row in rows if not (pd.isna(row["low"]) and pd.isna(row["high"]))]
    if any(row["p_corrected"] >= ALPHA and not row["is_equivalent"] for row in answered_rows):
        yield (
            "Inconclusive does not mean equal: the data are compatible with every difference in "
            "the interval."
        )


def _is_interaction_shown(row: Mapping[Hashable, Any]) -> bool:
    return bool(row["interaction"]) and row["p_corrected"] < ALPHA


def _write_sentence(row: Mapping[Hashable, Any]) -> str:
    words = words_of(row["measure"], row["response"])
    if row["is_of_judges"]:
        verdict = _judges_verdict(row, words)
        if row["is_declared"]:
            return f"{row['name']}: {verdict}"
        # A model's name stays as it is written.
        is_word = verdict.startswith(("whether ", f"{PEOPLE} "))
        return verdict[0].upper() + verdict[1:] if is_word else verdict
    if pd.isna(row["low"]) and pd.isna(row["high"]):
        estimate = words.with_unit(row["estimate"])
        difference = "" if pd.isna(row["estimate"]) else f" (the difference is {estimate})"
        return (
            f"{row['name']}: no answer, because there are too few {words.answers}, participants "
            f"or frames{difference}."
        )
    return f"{row['name']}: {_write_verdict(row, words, _write_sides(row, words))}"


def _write_verdict(row: Mapping[Hashable, Any], words: MeasureWords, sides: str) -> str:
    """Return the verdict with its numbers: a difference, equivalent, or inconclusive."""
    between = ", between participants" if row["between"] else ""
    if between and row["interaction"]:
        between = f" ({row['between']} varies between participants)"
    if row["p_corrected"] < ALPHA:
        statement = row["if_positive"] if row["estimate"] > 0 else row["if_negative"]
        numbers = _format_estimate(row, words)
        return f"{statement}{between}{sides}{numbers}.{_size_verdict(row, words)}"
    if row["is_equivalent"]:
        numbers = _format_estimate(row, words, is_equivalence=True)
        within = _write_margin(row, words)
        return (
            f"{row['if_equivalent']} within \N{PLUS-MINUS SIGN}{within}{between}{sides}{numbers}."
        )
    within = ""
    if not pd.isna(row["smallest_effect"]):
        margin = _write_margin(row, words)
        within = f", and so is equivalence within \N{PLUS-MINUS SIGN}{margin}"
    numbers = _format_estimate(row, words)
    return f"{row['if_unclear']}{between} is inconclusive{within}{sides}{numbers}."


def _write_margin(row: Mapping[Hashable, Any], words: MeasureWords) -> str:
    """Return the margin of equivalence, and where it comes from."""
    margin = f"{words.with_unit(row['smallest_effect'], signed=False)}{row['per']}"
    return f"{margin} ({row['margin_source']})"


def _size_verdict(row: Mapping[Hashable, Any], words: MeasureWords) -> str:
    """Return how a difference from zero compares with the margin, if there is one."""
    if pd.isna(row["smallest_effect"]):
        return ""
    margin = _write_margin(row, words)
    if row["is_equivalent"]:
        return f" It is smaller than {margin}."
    if max(row["low"], -row["high"]) > row["smallest_effect"]:
        return f" It is larger than {margin}."
    return f" Its size relative to {margin} is inconclusive."


def _write_sides(row: Mapping[Hashable, Any], words: MeasureWords) -> str:
    """Return the value of each side of a comparison, to print between verdict and estimate."""
    first, second = row.get("first", np.nan), row.get("second", np.nan)
    if pd.isna(first) or pd.isna(second):
        return ", "
    if not row["interaction"]:
        levels = f"{words.level(first)} vs {words.level(second)}"
        return f", {words.means}{levels}{row['scale']}: "
    differences = row["interaction"].format(words.amount(first), words.amount(second))
    kind = "first minus the second, a difference of differences"
    if row["measure"] == "log_rt":
        kind = "first relative to the second, a ratio of ratios"
    means = (words.means or "means").strip()
    return (
        f". Cell {means}: {row['cells']}{row['scale']}. {differences}; the {kind} and not a simple "
        "effect, is "
    )


def _judges_verdict(row: Mapping[Hashable, Any], words: MeasureWords) -> str:
    """Return the verdict on people and a model, or two models; it is declared or implied.

    A difference within the margin is equivalent even if it is significantly different from zero.
    """
    judge = row["compared"].split(" - ")[0]
    answers = words.answers if PEOPLE in (judge, row["judge"]) else "items"
    shares = (
        f": {judge} in {row['first']:.1%} and {row['judge']} in {row['second']:.1%} of the same "
        f"{answers}"
    )
    if pd.isna(row["low"]) and pd.isna(row["high"]):
        return (
            f"{row['if_unclear']} is inconclusive, because there are too few {words.answers}, "
            f"participants or frames{shares}."
        )
    if row["is_equivalent"]:
        numbers = _format_estimate(row, words, is_equivalence=True)
        within = _write_margin(row, words)
        return f"{row['if_equivalent']} within \N{PLUS-MINUS SIGN}{within}{shares}, {numbers}."
    return _write_verdict(row, words, f"{shares}, ")


def exploratory_verdict(statistics: Mapping[str, pd.DataFrame], model: str) -> str:
    """Return an exploratory comparison's verdict on one of several models; empty without one."""
    rows = statistics.get(NAME)
    if rows is None:
        return ""
    several = rows[(rows["role"] == "exploratory") & (rows["n_in_family"] > 1)]
    for row in several[several["judge"] == model].to_dict("records"):
        verdict = _judges_verdict(row, words_of(row["measure"]))
        return f"Exploratory, corrected for the {row['n_in_family']} models: {verdict}"
    return ""


def has_primary(statistics: Mapping[str, pd.DataFrame]) -> bool:
    """Return whether a primary comparison has an answer."""
    rows = statistics.get(NAME)
    return rows is not None and bool((rows["role"] == "primary").any())


def is_answered_first(statistics: Mapping[str, pd.DataFrame], model: str) -> bool:
    """Return whether a primary comparison compares people with this model."""
    rows = statistics.get(NAME)
    if rows is None:
        return False
    primary = rows[rows["role"] == "primary"]
    pairs = [{row["judge"], row["compared"].split(" - ")[0]} for row in primary.to_dict("records")]
    return {PEOPLE, model} in pairs


def _format_estimate(
    row: Mapping[Hashable, Any], words: MeasureWords, *, is_equivalence: bool = False
) -> str:
    """Return an estimate with its interval and p; of an equivalence, those that show it."""
    names = ("equivalence_low", "equivalence_high") if is_equivalence else ("low", "high")
    low, high = (words.amount(row[name]) for name in names)
    adjusted = "" if row["n_in_family"] == 1 else "Bonferroni-adjusted "
    interval = f"{adjusted}{'90' if is_equivalence else '95'}% interval {low} to {high}"
    p = write_p(row["p_corrected"])
    if is_equivalence:
        p = (
            f"two one-sided tests of equivalence: {write_p(row['p_equivalence'])}; difference from "
            f"0: {p}"
        )
    elif np.isinf(row["low"]):
        interval = f"{adjusted}95% interval up to {high}, one-sided"
    elif np.isinf(row["high"]):
        interval = f"{adjusted}95% interval from {low}, one-sided"
    covariate_note = f"; {row['covariates']} held constant" if row["covariates"] else ""
    estimate = f"{words.with_unit(row['estimate'])}{row['per']}"
    return f"{estimate} ({interval}; {p}{covariate_note})"


def describe_reduced_margin(of_study: float) -> str:
    """Return where a margin that is reduced near 100% comes from.

    Args:
        of_study: The study's own margin.
    """
    return (
        "computed from these data, not set in advance: the error rate of the more accurate, at "
        f"least {of_study / LEAST_MARGIN_SHARE:.1%}"
    )


def write_p(p: float) -> str:
    """Return a p value as tables print it: "p < .001", "p = .023", "p = 1.000"."""
    return "p < .001" if p < 0.001 else f"p = {f'{p:.3f}'.lstrip('0')}"
