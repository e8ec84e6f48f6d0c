"""Answers in no other table: fillers, catch trials, comprehension questions, late answers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from analysis.data.declared import response_with_deadline
from analysis.data.join import judgments
from analysis.data.kinds import add_kinds
from analysis.findings.detection import add_expected_answers
from analysis.findings.finding import Finding, FindingInputs, Findings, full_titles, titles_of
from analysis.statistics.accuracy import clustered_shares, people_accuracy
from analysis.statistics.contrasts import cell_means
from analysis.statistics.detection import yes_rates
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section
from experiment.records import Kind

_KINDS = ["kind", "construction"]
_TITLES = {Kind.FILLER: "Fillers", Kind.CATCH: "Catch trials"}
_COUNTS = (
    Column("n_judgments", "Judgments", "count"),
    Column("n_items", "Items", "count"),
    Column("n_participants", "Participants", "count"),
)


def _run(inputs: FindingInputs, of: str) -> Findings:
    if inputs.data.others.empty:
        return Findings()
    task = _TASKS[of]
    counts = task.count(add_kinds(inputs.data.others, inputs.run.items))
    titles = titles_of(inputs.run.study)
    labels = counts["construction"].astype(str).map(lambda name: titles.get(name, name))
    if "expected" in counts:
        labels = labels + ", expected: " + counts["expected"].astype(str)
    kinds = [_TITLES[Kind(kind)] for kind in counts["kind"].astype(str)]
    rows = counts.assign(group=kinds, label=labels, kind=counts["kind"].astype(str))
    table = inputs.context.table(
        "other_kinds",
        " and ".join(title for title in _TITLES.values() if title in kinds).capitalize(),
        f"{task.measured} on items that are not targets.",
        rows.sort_values("kind", ascending=False, kind="stable"),
        (Column("label", "", "text"), Column(task.column, task.title, "estimate"), *_COUNTS),
        (
            "The materials declare the kind of each item. These judgments are in no other "
            "table; an exclusion rule that names their kind uses them.",
        ),
        task.section,
    )
    return Findings((table,), {"other_kinds": counts})


def _summarise_choices(answers: pd.DataFrame) -> pd.DataFrame:
    return people_accuracy(answers, _KINDS)


def _summarise_ratings(answers: pd.DataFrame) -> pd.DataFrame:
    means = cell_means(answers, "rating", _KINDS)
    items = answers.groupby(_KINDS, sort=False, observed=True)["item_id"].nunique().to_numpy()
    return means.assign(n_items=items).rename(columns={"n_observations": "n_judgments"})


def _summarise_yes_answers(answers: pd.DataFrame) -> pd.DataFrame:
    rates = yes_rates(add_expected_answers(answers), [*_KINDS, "expected"])
    return rates.rename(columns={"n_answers": "n_judgments"})


@dataclass(frozen=True, slots=True)
class _Task:
    measured: str
    title: str
    column: str
    section: Section
    count: Callable[[pd.DataFrame], pd.DataFrame]


_TASKS = {
    "choice": _Task("Accuracy", "Accuracy", "accuracy", Section.PEOPLE, _summarise_choices),
    "rating": _Task("Mean rating", "Mean", "mean", Section.RATINGS, _summarise_ratings),
    "yes_no": _Task("Share of yes", "Yes", "yes", Section.ANSWERS, _summarise_yes_answers),
}
OTHER_KINDS, OTHER_RATED, OTHER_YES_NO = (
    Finding(f"other_kinds_{of}", task.section, partial(_run, of=of)) for of, task in _TASKS.items()
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


def _run_late(inputs: FindingInputs) -> Findings:
    response = response_with_deadline(inputs.run)
    if response is None:
        return Findings()
    answers = judgments(inputs.run, late_too=True)
    timed = answers[answers["is_late"].notna()].astype({"is_late": bool})
    if timed.empty:
        return Findings(
            left_out=("No times were measured, so it is unknown which answers were late.",)
        )
    shares, n = shares_late(timed), int(timed["is_late"].sum())
    drop = response.late_answers == "drop"
    rows = inputs.context.by_construction(shares)
    table = inputs.context.table(
        "late_answers",
        "Answers after the deadline",
        f"How many answers came later than {response.deadline_ms} ms"
        + (" (in reading, at any step)." if response.step_table else "."),
        rows.assign(
            group=full_titles(rows), label=inputs.context.name_conditions(rows).replace("", "all")
        ),
        (
            Column("label", "Condition", "text"),
            Column("late", "Late", "estimate"),
            Column("n_late", "Late answers", "count"),
            Column("n_answers", "Answers", "count"),
        ),
        (
            f"Late answers are {'left out of' if drop else 'kept in'} all other tables "
            "(late_answers = "
            f'"{response.late_answers}").',
        ),
        Section.ANSWERS,
    )
    omissions = (
        (
            f"{n:,} of {len(timed):,} answers came after the deadline of {response.deadline_ms} ms "
            "and are left out (table late_answers).",
        )
        if drop and n
        else ()
    )
    return Findings((table,), {"late_answers": shares}, omissions)


LATE_ANSWERS = Finding("late_answers", Section.ANSWERS, _run_late)


def _run_questions(inputs: FindingInputs) -> Findings:
    trials = pd.concat([inputs.data.judgments, inputs.data.others], ignore_index=True)
    with_answer = trials[trials["chose_good"].notna()]
    if with_answer.empty:
        return Findings()
    rows = with_answer.astype({"construction": str}).assign(
        right=with_answer["chose_good"].astype(float)
    )
    shares = clustered_shares(rows, "right", ["construction"], "item_id").drop(columns="n_true")
    names = {"n": "n_answers"} | {f"share{end}": f"accuracy{end}" for end in ("", "_low", "_high")}
    n_items = rows.groupby("construction", sort=False)["item_id"].nunique().to_numpy()
    accuracy = shares.rename(columns=names).assign(n_items=n_items)
    titles = titles_of(inputs.run.study)
    labels = [titles.get(name, name) for name in accuracy["construction"]]
    table = inputs.context.table(
        "reading_questions",
        "Comprehension questions",
        "Accuracy on the questions after the sentences.",
        accuracy.assign(label=labels),
        (
            Column("label", "", "text"),
            Column("accuracy", "Accuracy", "estimate"),
            Column("n_answers", "Answers", "count"),
            Column("n_items", "Items", "count"),
        ),
        (),
        Section.READING,
    )
    return Findings((table,), {"reading_questions": accuracy})


QUESTIONS = Finding("reading_questions", Section.READING, _run_questions)
