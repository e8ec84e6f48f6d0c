"""The comparisons of several reports together: rows and sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from analysis.findings.comparison_words import ALPHA, words_of, write_p
from analysis.pooled.reports import Report
from analysis.statistics.partial_pooling import FEWEST, pool

_OWN_MODEL = "the report's own model"
_FEW = 5  # languages, below which their mean says little


def noun_of(reports: Sequence[Report]) -> str:
    """Return what the reports are of: languages, if each has another one, or else sites."""
    languages = {report.origin.language for report in reports}
    return "language" if len(languages - {""}) == len(reports) else "site"


def pool_comparisons(reports: Sequence[Report]) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Pool each comparison over the reports that answer it.

    Primary comparisons are corrected for their number by Bonferroni's method.

    Returns:
        A row for each comparison (and model): its first report's columns (see
        ``comparisons.answered``), with the attributes of ``Pooled`` and n_reports; a row for each
        comparison and report: name, judge, report, estimate, low, high, partly, partly_low,
        partly_high, n_participants, n_observations; and what is left out, in sentences.
    """
    rows = pd.concat(
        [_own_models(report.comparisons, reports).assign(report=report.name) for report in reports],
        ignore_index=True,
    )
    left_out, answered = [], []
    for (name, judge), group in rows.groupby(["name", "judge"], sort=False):
        usable = group[group["standard_error"].fillna(0) > 0]
        title = f"{name}: {judge}" if judge else str(name)
        asked = sorted(set(group["report"]) - set(usable["report"]))
        not_asked = sorted({report.name for report in reports} - set(group["report"]))
        if asked:
            left_out.append(f"{title}: {', '.join(asked)} gave no estimate with an interval.")
        if not_asked:
            left_out.append(f"{title}: {', '.join(not_asked)} did not answer this comparison.")
        if len(usable) >= FEWEST:
            answered.append(usable)
    family = sum(group["role"].iloc[0] == "primary" for group in answered)
    pooled, single = [], []
    for group in answered:
        first = group.iloc[0].to_dict()
        n_tests = family if first["role"] == "primary" else 1
        result = pool(
            group["estimate"].to_numpy(float),
            group["standard_error"].to_numpy(float),
            1 - ALPHA / n_tests,
        )
        corrected = min(1.0, n_tests * result.p)
        pooled.append(
            first
            | {key: value for key, value in asdict(result).items() if np.ndim(value) == 0}
            | {"n_in_family": n_tests, "p_corrected": corrected, "n_reports": len(group)}
            | {"n_participants": group["n_participants"].sum()}
        )
        kept = ["name", "judge", "measure", "response", "role", "report"]
        kept += ["estimate", "low", "high", "n_participants", "n_observations"]
        single.append(
            group[kept].assign(
                partly=result.partly, partly_low=result.partly_low, partly_high=result.partly_high
            )
        )
    by_report = pd.concat(single, ignore_index=True) if single else pd.DataFrame()
    return pd.DataFrame(pooled), by_report, left_out


def _own_models(rows: pd.DataFrame, reports: Sequence[Report]) -> pd.DataFrame:
    """Return comparisons with one common name for models that each report has another one of."""
    renamed = []
    for row in rows.to_dict("records"):
        judges = _judges_by_report(row["name"], reports)
        if len(set(judges)) > 1 and all(len(of_report) == 1 for of_report in judges):
            row |= {
                key: value.replace(row["judge"], _OWN_MODEL)
                for key, value in row.items()
                if isinstance(value, str) and (key == "judge" or str(key).startswith("if_"))
            }
        renamed.append(row)
    return pd.DataFrame(renamed)


def _judges_by_report(name: str, reports: Sequence[Report]) -> list[frozenset[str]]:
    judges = (
        frozenset(report.comparisons.loc[report.comparisons["name"] == name, "judge"])
        for report in reports
    )
    return [of_report for of_report in judges if of_report]


def summarise(pooled: pd.DataFrame, by_report: pd.DataFrame, noun: str) -> Iterator[str]:
    """Yield what each primary comparison says over all reports."""
    for row in pooled.to_dict("records"):
        if row["role"] != "primary":
            continue
        yield _write_sentence(row, by_report, noun)
    if len(pooled) and (pooled["n_reports"] < _FEW).any():
        yield (
            f"Fewer than {_FEW} {noun}s: their mean is uncertain, whatever each of them says. "
            f"Rely on each {noun}'s own interval."
        )
    if len(pooled) and (family := int(pooled["n_in_family"].max())) > 1:
        yield f"Intervals and p of these means are corrected for {family} comparisons (Bonferroni)."


def _write_sentence(row: Mapping[Any, Any], by_report: pd.DataFrame, noun: str) -> str:
    words = words_of(row["measure"], row["response"])
    amount, per = words.amount, row["per"]
    if row["p_corrected"] < ALPHA:
        statement = row["if_positive"] if row["mean"] > 0 else row["if_negative"]
    else:
        statement = f"{row['if_unclear']} is inconclusive"
    own = by_report[(by_report["name"] == row["name"]) & (by_report["judge"] == row["judge"])]
    above, below = (own["low"] > 0).sum(), (own["high"] < 0).sum()
    sentence = (
        f"{row['name']}: {statement}, as the mean of {row['n_reports']} {noun}s: "
        f"{words.with_unit(row['mean'])}{per} (95% interval {amount(row['low'])} to "
        f"{amount(row['high'])}; {write_p(row['p_corrected'])}). The {noun}s' true effects differ "
        f"by an SD of {amount(row['sd'], signed=False)} (95% interval "
        f"{amount(row['sd_low'], signed=False)} to {amount(row['sd_high'], signed=False)})"
    )
    if not np.isnan(row["next_low"]):
        sentence += (
            f"; in a further {noun} the effect is between {amount(row['next_low'])} and "
            f"{amount(row['next_high'])} (95%)"
        )
    return (
        f"{sentence}. Its own interval is above 0 in {above} and below 0 in {below} of "
        f"{len(own)} {noun}s."
    )
