"""The report's main result as a verdict, and its summary in sentences, from the tables."""

from collections.abc import Hashable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd

from analysis.data.load import PEOPLE
from analysis.findings.comparison_words import (
    describe_reduced_margin,
    exploratory_verdict,
    has_primary,
    is_answered_first,
    write_p,
)
from analysis.statistics.accuracy import JUDGED
from analysis.tables.provenance import count_noun
from experiment.studies.study import Study

_LEVEL = 0.05
# Statements besides the main result (same errors, differing constructions) use
# stricter levels, so that at most about 5 % of studies make any wrong statement about a model
# (benchmarks/headline.py: 1.1 % over all situations, 5.5 % in one of thirty).
EXPLORATORY_ALPHA = 0.005
_STRICT_P = f"p < {EXPLORATORY_ALPHA:g}".replace("0.", ".")


class Verdict(StrEnum):
    """The relation of a model's accuracy to that of participants."""

    BETTER = "better than people"
    WORSE = "worse than people"
    SAME = "equivalent to people within the margin"
    UNDECIDED = "neither shown to differ from people nor to be equivalent (inconclusive)"
    UNKNOWN = "asked about too few items, or compared with too few participants, for a conclusion"


class ErrorOverlap(StrEnum):
    """Whether a model makes errors on the same items as participants."""

    SAME = "It errs on the same items as people more often than chance"
    OTHER = "It errs on different items from people more often than chance"
    UNDECIDED = "Whether it errs on the same items as people is inconclusive"
    UNKNOWN = ""


def judge_difference(difference: Mapping[Hashable, Any]) -> Verdict:
    """Return the relation of a model's accuracy to that of participants.

    A difference within the margin counts as equal, even if it is significantly different from zero,
    because the study declared the margin in advance.

    Args:
        difference: low, high (of people minus model) and p_equivalence, from
            ``analysis.statistics.paired.people_against_models``.
    """
    low, high = difference["low"], difference["high"]
    if pd.isna(low) or pd.isna(high):
        return Verdict.UNKNOWN
    if difference["p_equivalence"] < _LEVEL:
        return Verdict.SAME
    if low > 0:
        return Verdict.WORSE
    return Verdict.BETTER if high < 0 else Verdict.UNDECIDED


def judge_errors(kappa: Mapping[Hashable, Any] | None) -> ErrorOverlap:
    """Return whether errors occur on the same items.

    Args:
        kappa: kappa and p of the kappa of participants and a model, from
            ``analysis.statistics.consistency.error_consistency``; None if there is no kappa.
    """
    if kappa is None or pd.isna(kappa["p"]):
        return ErrorOverlap.UNKNOWN
    if kappa["p"] >= EXPLORATORY_ALPHA:
        return ErrorOverlap.UNDECIDED
    return ErrorOverlap.SAME if kappa["kappa"] > 0 else ErrorOverlap.OTHER


def note_equal_scores(model: str, n_sentences: int) -> str:
    """Return the sentence about a model whose scores are all equal."""
    return (
        f"{model} gives all {n_sentences:,} sentences the same log-probability per token: that "
        "measure cannot distinguish them, and is not compared with people."
    )


def ceiling_phrase(correlation: float, ceiling: float) -> str:
    """Return the phrase on the noise ceiling after a model's correlation; may be empty."""
    if not ceiling > 0:
        return ""
    if correlation > ceiling:
        return (
            f"; that is above the noise ceiling of {ceiling:.2f}, which is an estimate as well: do "
            "not read it as better than people can be known"
        )
    return f"; the noise ceiling is estimated at {ceiling:.2f}"


_GAPS_NAMED = 3
Statistics = Mapping[str, pd.DataFrame]
Row = Mapping[Hashable, Any]


def summarise_models(
    accuracy: pd.DataFrame, study: Study, statistics: Statistics, margin: float
) -> list[str]:
    """Return for each model its difference from participants, and its exploratory statistics.

    Every share is a share of judgments: items are weighted by their number of judgments, for
    participants and models alike.

    Args:
        accuracy: Accuracies by construction in long form (see ``analysis.statistics.accuracy``).
        study: The study, for the constructions' titles.
        statistics: The comparison's statistics by name: ``people_minus_models``,
            ``error_consistency``, ``correlations`` and ``ceiling`` are used if present.
        margin: Smaller differences count as no difference.
    """
    on_judged = accuracy[accuracy["items"] == JUDGED]
    people = on_judged[on_judged["judge"] == PEOPLE]
    models = on_judged[on_judged["is_model"]]
    sentences = []
    for model, rows in models.groupby("judge", sort=False):
        if main := " ".join(_describe_model(str(model), rows, statistics, margin)):
            sentences.append(main)
        if exploratory := " ".join(_explore_model(str(model), rows, statistics, study)):
            sentences.append(f"Exploratory, {model}: {exploratory}")
    if not has_primary(statistics):
        overall = np.average(people["accuracy"], weights=people["n_judgments"].astype(float))
        sentences.append(f"People chose the expected version in {overall:.1%} of all judgments.")
    return sentences


def _describe_model(
    model: str, rows: pd.DataFrame, statistics: Statistics, margin: float
) -> Iterator[str]:
    """Yield the verdict, unless a primary comparison gives it, and the number of ties."""
    ties, items = int(rows["n_ties"].sum()), int(rows["n_items"].sum())
    if items and ties == items:
        yield (
            f"{model} gave both versions of all {count_noun(items, 'judged item')} the same "
            "score: it prefers neither, and is not compared with people."
        )
        return
    difference = _overall_row(statistics, "people_minus_models", model)
    if difference is not None and not is_answered_first(statistics, model):
        yield exploratory_verdict(statistics, model) or _describe_difference(
            model, difference, margin
        )
    if ties:
        yield (
            f"On {ties:,} of the {count_noun(items, 'judged item')} {model} gave both versions the "
            "same score, which counts as wrong."
        )


def _explore_model(
    model: str, rows: pd.DataFrame, statistics: Statistics, study: Study
) -> Iterator[str]:
    if rows["n_ties"].sum() == rows["n_items"].sum():
        return
    yield from _describe_gaps(model, statistics, study)
    yield from _describe_errors(model, statistics)
    yield from _describe_correlation(statistics, model)


def _describe_difference(model: str, difference: Row, margin: float) -> str:
    verdict_ = judge_difference(difference)
    shares = (
        f"people chose the expected version in {difference['people']:.1%} and it in "
        f"{difference['model']:.1%} of the same judgments"
    )
    if verdict_ is Verdict.UNKNOWN:
        return f"{model} is {verdict_.value}; {shares}."
    return (
        f"{model} is {verdict_.value}: {shares} (people minus {model}: "
        f"{_format_points(difference['difference'])} "
        f"percentage points, 95% interval {_format_points(difference['low'])} to "
        f"{_format_points(difference['high'])}; "
        f"margin: {_describe_margin(difference, margin)})."
    )


def _describe_margin(difference: Row, margin: float) -> str:
    """Return the margin in words; near 100 % it is reduced, and the text explains why."""
    reduced_margin = float(difference.get("margin", margin))
    if reduced_margin >= margin:
        return f"{100 * margin:g} points, that of the study"
    return (
        f"{100 * reduced_margin:.1f} points in place of the study's {100 * margin:g}, which so "
        "near to 100% would be more than twice as many errors; "
        f"{describe_reduced_margin(margin)}"
    )


def _describe_errors(model: str, statistics: Statistics) -> Iterator[str]:
    rows = statistics.get("error_consistency")
    if rows is None:
        return
    model_rows = rows[(rows["first"] == PEOPLE) & (rows["second"] == model)]
    row = model_rows.to_dict("records")[0] if len(model_rows) else None
    agreement = judge_errors(row)
    if row is None or agreement is ErrorOverlap.UNKNOWN:
        return
    kappa = f"kappa {_format_signed(row['kappa'])}, {_format_interval(row)}"
    among = rows[(rows["first"] == PEOPLE) & (rows["second"] == PEOPLE)]
    among_people = "".join(
        f"; people with people: kappa {_format_signed(pair['kappa'])}, {_format_interval(pair)}"
        for pair in among.dropna(subset="low").to_dict("records")
    )
    p = f"{write_p(row['p'])} for kappa = 0"
    if agreement is ErrorOverlap.UNDECIDED and not row["low"] <= 0 <= row["high"]:
        # The statement may use a stricter level than the 95% interval; the two do not conflict.
        p = f"{p}, and statements other than the primary comparisons need {_STRICT_P}"
    yield f"{agreement.value} ({kappa}; {p}{among_people})."


def _describe_gaps(model: str, statistics: Statistics, study: Study) -> Iterator[str]:
    """Yield sentences on differences between participants and a model after correction."""
    rows = statistics.get("people_minus_models")
    if rows is None:
        return
    model_rows = rows[(rows["judge"] == model) & (rows["construction"] != "")]
    if len(model_rows) < 2:
        return
    if model_rows["p_holm"].isna().all():
        yield "No construction has an interval: each has too few judgments, participants or frames."
        return
    differing = model_rows[model_rows["p_holm"] < EXPLORATORY_ALPHA]
    n = int(model_rows["p_holm"].notna().sum())
    if differing.empty:
        yield f"No construction of the {n} differs at {_STRICT_P} after Holm correction."
        return
    order = differing["difference"].abs().sort_values(ascending=False, kind="stable").index
    titles = {
        construction.name: f"{construction.group}: {construction.title}"
        if construction.group
        else construction.title
        for construction in study.constructions
    }
    gap_phrases = [
        f"{titles.get(row['construction'], row['construction'])} "
        f"(people {row['people']:.1%}, {model} {row['model']:.1%}; {write_p(row['p_holm'])})"
        for row in differing.loc[order[:_GAPS_NAMED]].to_dict("records")
    ]
    yield (
        f"{len(differing)} of the {n} constructions differ at {_STRICT_P} after Holm correction, "
        f"most of all {', '.join(gap_phrases)}."
        if len(differing) > 1
        else f"The only construction of the {n} that differs at {_STRICT_P} after Holm correction: "
        f"{gap_phrases[0]}."
    )


def _describe_correlation(statistics: Statistics, model: str) -> Iterator[str]:
    """Yield sentences on the model's correlation with participants, and its noise ceiling."""
    correlation = _overall_row(statistics, "correlations", model)
    if (
        correlation is None
        or pd.isna(correlation["spearman"])
        or pd.isna(correlation["spearman_low"])
    ):
        return
    sentence = (
        "Over items, its log-probability difference with the share of people who chose the "
        f"expected version: Spearman's rho = {_format_signed(correlation['spearman'])} (95% "
        f"interval {_format_signed(correlation['spearman_low'])} to "
        f"{_format_signed(correlation['spearman_high'])})"
    )
    ceiling = statistics["ceiling"]["spearman_ceiling"].item() if "ceiling" in statistics else 0
    yield f"{sentence}{ceiling_phrase(correlation['spearman'], ceiling)}."


def _overall_row(statistics: Statistics, name: str, model: str) -> Row | None:
    if name not in statistics:
        return None
    rows = statistics[name]
    selected = rows[(rows["construction"] == "") & (rows["judge"] == model)]
    return selected.to_dict("records")[0] if len(selected) else None


def _format_points(share: float) -> str:
    return f"{100 * share:+z.1f}".replace("-", "\N{MINUS SIGN}")


def _format_interval(row: Row) -> str:
    return f"95% interval {_format_signed(row['low'])} to {_format_signed(row['high'])}"


def _format_signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
