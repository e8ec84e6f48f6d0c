"""Answers in no other table: fillers, catch trials, comprehension questions, late answers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from analysis.data.declared import deadline_of
from analysis.data.join import judgments
from analysis.data.kinds import with_kinds
from analysis.findings.finding import Finding, Findings, Given, full_titles
from analysis.findings.yes_no import with_expected
from analysis.statistics.accuracy import clustered_shares, people_accuracy
from analysis.statistics.contrasts import cell_means
from analysis.statistics.detection import yes_rates
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section
from experiment.records import Kind

_KIND = ["kind", "construction"]
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
    return people_accuracy(judged, _KIND)


def _ratings(judged: pd.DataFrame) -> pd.DataFrame:
    found = cell_means(judged, "rating", _KIND)
    items = judged.groupby(_KIND, sort=False, observed=True)["item_id"].nunique().to_numpy()
    return found.assign(n_items=items).rename(columns={"n_observations": "n_judgments"})


def _yes(judged: pd.DataFrame) -> pd.DataFrame:
    found = yes_rates(with_expected(judged), [*_KIND, "expected"])
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
    Finding(f"other_kinds_{of}", asked.section, partial(_run, of=of))
    for of, asked in _ASKED.items()
)


_CONDITION = ["construction", "condition"]


def shares_late(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the share of answers after the deadline, with Wilson's clustered intervals.

    Args:
        answers: One row per answer with a measured time: construction, condition, participant,
            item_id, is_late.
    """
    rows = answers.astype(dict.fromkeys(_CONDITION, str))
    shares = clustered_shares(rows, "is_late", _CONDITION, "item_id")
    names = {"n": "n_answers", "n_true": "n_late"}
    names |= {f"share{end}": f"late{end}" for end in ("", "_low", "_high")}
    return shares.rename(columns=names).sort_values(_CONDITION, ignore_index=True)


def _run_late(given: Given) -> Findings:
    response = deadline_of(given.run)
    if response is None:
        return Findings()
    every = judgments(given.run, late_too=True)
    known = every[every["is_late"].notna()].astype({"is_late": bool})
    if known.empty:
        return Findings(
            left_out=("No time was measured, so nobody knows which answers were late.",)
        )
    found, n = shares_late(known), int(known["is_late"].sum())
    drop = response.late_answers == "drop"
    rows = given.context.by_construction(found)
    table = given.context.table(
        "late_answers",
        "Answers after the deadline",
        f"How many answers came later than {response.deadline_ms} ms"
        + (" (of a sentence that is read, any step)." if response.step_table else "."),
        rows.assign(
            group=full_titles(rows), label=rows["condition"].where(rows["condition"] != "", "all")
        ),
        (
            Column("label", "Condition", "text"),
            Column("late", "Late", "estimate"),
            Column("n_late", "Late answers", "count"),
            Column("n_answers", "Answers", "count"),
        ),
        (
            f"They are {'left out of' if drop else 'kept in'} every other table (late_answers = "
            f'"{response.late_answers}").',
        ),
        Section.ANSWERS,
    )
    said = (
        (
            f"{n:,} of {len(known):,} answers came after the deadline of {response.deadline_ms} ms "
            "and are left out (table late_answers).",
        )
        if drop and n
        else ()
    )
    return Findings((table,), {"late_answers": found}, said)


LATE_ANSWERS = Finding("late_answers", Section.ANSWERS, _run_late)


def _run_questions(given: Given) -> Findings:
    together = pd.concat([given.data.judgments, given.data.others], ignore_index=True)
    asked = together[together["chose_good"].notna()]
    if asked.empty:
        return Findings()
    rows = asked.astype({"construction": str}).assign(right=asked["chose_good"].astype(float))
    shares = clustered_shares(rows, "right", ["construction"], "item_id").drop(columns="n_true")
    names = {"n": "n_answers"} | {f"share{end}": f"accuracy{end}" for end in ("", "_low", "_high")}
    n_items = rows.groupby("construction", sort=False)["item_id"].nunique().to_numpy()
    found = shares.rename(columns=names).assign(n_items=n_items)
    known = {one.name: one.title for one in given.run.study.constructions}
    labels = [known.get(name, name) for name in found["construction"]]
    table = given.context.table(
        "reading_questions",
        "Questions",
        "How often the questions after the sentences were answered rightly.",
        found.assign(label=labels),
        (
            Column("label", "", "text"),
            Column("accuracy", "Accuracy", "estimate"),
            Column("n_answers", "Answers", "count"),
            Column("n_items", "Items", "count"),
        ),
        (),
        Section.READING,
    )
    return Findings((table,), {"reading_questions": found})


QUESTIONS = Finding("reading_questions", Section.READING, _run_questions)
