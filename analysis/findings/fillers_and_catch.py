"""Fillers and catch trials: participants' answers, separate from all other statistics."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from analysis.data.kinds import with_kinds
from analysis.findings.finding import Finding, Findings, Given
from analysis.findings.yes_no import with_expected
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.contrasts import cell_means
from analysis.statistics.detection import yes_rates
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section
from experiment.records import Kind

_BY = ["kind", "construction"]
_TITLES = {Kind.FILLER: "Fillers", Kind.CATCH: "Catch trials"}
_COUNTS = (
    Column("n_judgments", "Judgments", "count"),
    Column("n_items", "Items", "count"),
    Column("n_participants", "Participants", "count"),
)


def _run(given: Given, of: str) -> Findings:
    if given.data.others.empty:
        return Findings()
    asked = _ASKED[of]
    found = asked.count(with_kinds(given.data.others, given.run.items))
    titles = {one.name: one.title for one in given.run.study.constructions}
    labels = found["construction"].astype(str).map(lambda name: titles.get(name, name))
    if "expected" in found:
        labels = labels + ", expected: " + found["expected"].astype(str)
    kinds = [_TITLES[Kind(kind)] for kind in found["kind"].astype(str)]
    rows = found.assign(group=kinds, label=labels, kind=found["kind"].astype(str))
    table = given.context.table(
        "other_kinds",
        " and ".join(title for title in _TITLES.values() if title in kinds).capitalize(),
        f"{asked.measured} on what is no target.",
        rows.sort_values("kind", ascending=False, kind="stable"),
        (Column("label", "", "text"), Column(asked.column, asked.title, "estimate"), *_COUNTS),
        (
            "A kind is what the materials say of an item. These judgments are in no other table: "
            "they decide who is excluded, where a rule names them.",
        ),
        asked.section,
    )
    return Findings((table,), {"other_kinds": found})


def _choices(judged: pd.DataFrame) -> pd.DataFrame:
    return people_accuracy(judged, _BY)


def _ratings(judged: pd.DataFrame) -> pd.DataFrame:
    found = cell_means(judged, "rating", _BY)
    items = judged.groupby(_BY, sort=False, observed=True)["item_id"].nunique().to_numpy()
    return found.assign(n_items=items).rename(columns={"n_observations": "n_judgments"})


def _yes(judged: pd.DataFrame) -> pd.DataFrame:
    found = yes_rates(with_expected(judged), [*_BY, "expected"])
    return found.rename(columns={"n_answers": "n_judgments"})


@dataclass(frozen=True, slots=True)
class _Asked:
    measured: str
    title: str
    column: str
    section: Section
    count: Callable[[pd.DataFrame], pd.DataFrame]


_ASKED = {
    "choice": _Asked("Accuracy", "Accuracy", "accuracy", Section.PEOPLE, _choices),
    "rating": _Asked("Mean rating", "Mean", "mean", Section.RATINGS, _ratings),
    "yes_no": _Asked("Share of yes", "Yes", "yes", Section.ANSWERS, _yes),
}
OTHER_KINDS, OTHER_RATED, OTHER_YES_NO = (
    Finding(f"other_kinds_{of}", asked.section, partial(_run, of=of), of=(of,))
    for of, asked in _ASKED.items()
)
