"""The tables of several reports: means, each report's effects, accuracies, and the reports."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.findings.comparison_words import words_of
from analysis.pooled.reports import Report, name_own_models
from analysis.statistics.accuracy import JUDGED
from analysis.tables.accuracy_table import Column, Table

MEANS, BY_REPORT, ACCURACIES, REPORTS = "pooled", "by_report", "accuracies", "reports"
_LABEL = Column("label", "", "text")
_SITES_NOTE = (
    "Several sites of one language make one effect: sites count by the precision of their "
    "estimates and by how much sites of one language differ. If they differ less than by chance, "
    "as sites with the same items do, their errors count as correlated.",
)
_OF_MEANS = ("mean", "low", "high", "sd", "sd_low", "sd_high")
_OF_REPORTS = ("estimate", "low", "high", "partly", "partly_low", "partly_high")


def means_table(pooled: pd.DataFrame, noun: str, origin: tuple[str, ...]) -> Table:
    """Return the table of mean effects, from ``effects.pool_comparisons``."""
    ends = zip(_words(pooled), pooled["next_low"], pooled["next_high"], strict=True)
    further = [
        "" if np.isnan(low) else f"{words.amount(low)} to {words.amount(high)}"
        for words, low, high in ends
    ]
    means = scale_rows(pooled, _OF_MEANS)
    return Table(
        MEANS,
        "Comparisons over all reports",
        f"The mean of the {noun}s' true effects, and how much they differ.",
        means.assign(
            group="",
            label=write_titles(pooled),
            mean_low=means["low"],
            mean_high=means["high"],
            further=further,
        ),
        (
            _LABEL,
            Column("mean", "Mean effect", "estimate"),
            Column("p_corrected", "p", "p"),
            Column("sd", f"SD between {noun}s", "estimate"),
            Column("further", f"In a further {noun}", "text"),
            Column("n_reports", f"{noun.capitalize()}s", "count"),
            Column("n_participants", "Participants", "count"),
        ),
        (
            "Random effects: the variance between reports is Paule and Mandel's; the mean's "
            "interval is Hartung and Knapp's, never narrower than the normal one (95%; of primary "
            "comparisons corrected for their number); the SD's is by Q profiles. The interval of a "
            "further one counts the uncertainty of mean and SD.",
            *(_SITES_NOTE if "sd_sites" in pooled else ()),
        ),
        origin,
    )


def by_report_table(by_report: pd.DataFrame, noun: str, origin: tuple[str, ...]) -> Table:
    """Return the table of each report's effects, from ``effects.pool_comparisons``."""
    scaled = scale_rows(by_report, _OF_REPORTS)
    return Table(
        BY_REPORT,
        f"Each {noun}",
        f"Each {noun}'s own estimate, as its report has it, and the partially pooled one, "
        f"which is drawn to the mean of all {noun}s as far as its own is uncertain.",
        scaled.assign(
            group=write_titles(by_report),
            label=by_report["report"],
            estimate_low=scaled["low"],
            estimate_high=scaled["high"],
        ),
        (
            _LABEL,
            Column("estimate", "Own", "estimate"),
            Column("partly", "Partially pooled", "estimate"),
            Column("n_participants", "Participants", "count"),
            Column("n_observations", "Observations", "count"),
        ),
        (
            f"For a claim about one {noun}, use its own interval: a partially pooled effect "
            f"assumes that the {noun}s are a sample of similar ones. Partially pooled effects "
            "are averaged over the SD, with a flat prior; they need three reports.",
        ),
        origin,
    )


def reports_table(reports: Sequence[Report], origin: tuple[str, ...]) -> Table:
    """Return the table of what each report holds."""
    return Table(
        REPORTS,
        "The reports",
        "What was pooled, and in what the reports differ.",
        pd.DataFrame([report.to_row() for report in reports]).assign(group=""),
        (
            _LABEL,
            Column("language", "Language", "text"),
            Column("study", "Study", "text"),
            Column("recruiter", "Recruiter", "text"),
            Column("kept", "Kept", "count"),
            Column("excluded", "Excluded", "count"),
            Column("n_items", "Items", "count"),
            Column("n_judgments", "Answers", "count"),
            Column("deviations", "Deviations from the plan", "text"),
        ),
        (),
        origin,
    )


def accuracy_table(reports: Sequence[Report], noun: str, origin: tuple[str, ...]) -> Table | None:
    """Return the table of accuracies; None if no answers are right or wrong."""
    rows = pd.concat(
        [report.accuracies.assign(label=report.name) for report in reports], ignore_index=True
    )
    if rows.empty:
        return None
    rows = rows[rows["items"] == JUDGED].replace({"judge": name_own_models(reports)})
    judges = list(rows["judge"].unique())
    wide = rows.drop_duplicates(["construction", "label"])[["construction", "label"]]
    for place, judge in enumerate(judges):
        own = rows[rows["judge"] == judge].set_index(["construction", "label"])
        values = own[["accuracy", "low", "high"]].rename(
            columns={"accuracy": f"judge_{place}", "low": f"judge_{place}_low",
                     "high": f"judge_{place}_high"}
        )  # fmt: skip
        wide = wide.join(values, on=["construction", "label"])
    wide = wide.sort_values("construction", kind="stable").rename(columns={"construction": "group"})
    is_model = rows.drop_duplicates("judge").set_index("judge")["is_model"]
    columns = (
        Column(f"judge_{n}", "People" if not is_model[judge] else judge,
               "accuracy" if is_model[judge] else "estimate")
        for n, judge in enumerate(judges)
    )  # fmt: skip
    return Table(
        ACCURACIES, "Accuracies", f"People and models on each {noun}'s own items.", wide,
        (_LABEL, *columns),
        (f"Items differ between {noun}s, so accuracies of different {noun}s are not comparable.",),
        origin,
    )  # fmt: skip


def _words(rows: pd.DataFrame) -> list[Any]:
    return [words_of(*pair) for pair in zip(rows["measure"], rows["response"], strict=True)]


def scale_rows(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return rows with effects in the unit that the words of their measure name."""
    words = _words(rows)
    scaled = {
        name: [one.scale(value) for one, value in zip(words, rows[name], strict=True)]
        for name in names
    }
    return rows.assign(**scaled)


def write_titles(rows: pd.DataFrame) -> list[str]:
    """Return comparisons' names with the unit of their effects, and the model if there is one."""
    names = rows["name"].where(rows["judge"].eq(""), rows["name"] + ": " + rows["judge"])
    pairs = zip(names, _words(rows), strict=True)
    return [f"{name} ({words.unit or words.subject})" for name, words in pairs]
