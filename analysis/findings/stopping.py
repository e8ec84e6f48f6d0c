"""What a study's stopping rule says of its comparisons: intervals that are valid at every look."""

from collections.abc import Iterator

import pandas as pd

from analysis.data.frames import read_exported_table
from analysis.data.own_columns import make_items
from analysis.findings.comparison_words import words_of
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.errors import ParallaxError
from experiment.participation import State
from experiment.stopping.questions import (
    AskedComparison,
    Person,
    list_asked_comparisons,
    look_at_answers,
)
from experiment.stopping.rule import Look
from experiment.stopping.values import LOG_RT
from experiment.studies.stopping import Stopping
from experiment.tables.schemas import LISTS, PARTICIPANTS

NAME = "stopping"
_WORKING_STATES = (State.WORKING, State.ANSWERED)
_PERCENT = 100.0


def _run(inputs: FindingInputs) -> Findings:
    rule = inputs.run.study.stopping
    if rule is None:
        return Findings()
    if inputs.run.of_parts:
        return Findings(
            left_out=(
                "The stopping rule is not applied: several parts of a study are analysed "
                "together, and each part has its own rule. To apply a rule, compare one part "
                "alone, with its --run.",
            )
        )
    try:
        looks = [(asked, look_at_answers(asked, people)) for asked, people in _list_asked(inputs)]
    except ParallaxError as error:
        return Findings(left_out=(f"The stopping rule cannot be applied: {error}",))
    if not looks:
        return Findings()
    rows = pd.DataFrame([_describe_look(asked, look) for asked, look in looks])
    return Findings((_make_table(inputs, rule, rows),), {NAME: rows})


def _list_asked(inputs: FindingInputs) -> Iterator[tuple[AskedComparison, list[Person]]]:
    """Yield each comparison of the rule, with the participants in the order of arrival."""
    run = inputs.run
    of_lists = read_exported_table(LISTS, run.folder, ("list", "item_id"))
    lists: dict[int, set[str]] = {}
    for list_, item in of_lists[["list", "item_id"]].itertuples(index=False, name=None):
        lists.setdefault(int(list_), set()).add(str(item))
    columns = ("participant", "number", "state", "list", "place")
    arrived = read_exported_table(PARTICIPANTS, run.folder, columns).sort_values("number")
    arrived = arrived[arrived["list"].notna()]
    verdicts = run.verdicts.set_index(run.verdicts["participant"].astype(str))["kept"]
    # The rule divides its alpha among the comparisons of all tasks and scales.
    study, constructions = run.whole_study or run.study, _list_constructions(inputs)
    for asked in list_asked_comparisons(study, list(make_items(run.items)), lists):
        if asked.scale not in ("", run.part) or not constructions & {*asked.planned.constructions}:
            continue
        answers = run.readings if asked.values.measure == LOG_RT else run.responses
        assert answers is not None
        if asked.scale:
            answers = answers.rename(columns={"rating": asked.values.column})
        rows = _list_rows(answers, asked.values.column)
        yield (
            asked,
            [
                Person(
                    int(person["list"]),
                    int(person["place"]),
                    _is_kept(person["state"], verdicts.get(str(person["participant"]))),
                    rows.get(str(person["participant"]), []),
                )
                for person in arrived.to_dict("records")
            ],
        )


def _is_kept(state: str, verdict: bool | None) -> bool | None:
    """Return whether a participant is kept; None while they work, or wait for a verdict."""
    if verdict is not None:
        return bool(verdict)
    return None if state in (*_WORKING_STATES, State.FINISHED) else False


def _list_constructions(inputs: FindingInputs) -> set[str]:
    """Return the constructions of the run, or of its only task."""
    items = inputs.run.items
    answered = items["item_id"].isin(inputs.run.responses["item_id"])
    return {str(name) for name in items.loc[answered, "construction"].unique()}


def _list_rows(answers: pd.DataFrame, column: str) -> dict[str, list[dict[str, object]]]:
    names = ("item_id", "position", "version", column, "rt_ms", "relative_region")
    used = answers[[name for name in names if name in answers]].astype(object)
    used = used.where(used.notna(), None)
    people = answers["participant"].astype(str)
    return {
        str(person): [{str(key): value for key, value in row.items()} for row in rows]
        for person, rows in (
            (person, of_person.to_dict("records")) for person, of_person in used.groupby(people)
        )
    }


def _describe_look(asked: AskedComparison, look: Look) -> dict[str, object]:
    return {
        "name": asked.name,
        "measure": asked.values.measure,
        "reason": "" if look.reason is None else str(look.reason),
        "n_at_stop": look.n_at_stop,
        "n_participants": look.n_participants,
        "estimate": look.estimate,
        "low": look.low,
        "high": look.high,
        "level": look.level,
    }


def _make_table(inputs: FindingInputs, rule: Stopping, rows: pd.DataFrame) -> Table:
    words = [words_of(measure) for measure in rows["measure"]]
    scaled = rows.assign(
        label=rows["name"],
        unit=[of_measure.unit for of_measure in words],
        state=[
            f"stopped with {row['n_at_stop']} participants: {row['reason']}"
            if row["reason"]
            else "not answered yet"
            for row in rows.to_dict("records")
        ],
        **{
            end: [
                of_measure.scale(value) for of_measure, value in zip(words, rows[end], strict=True)
            ]
            for end in ("estimate", "low", "high")
        },
    )
    return inputs.context.table(
        NAME,
        "The stopping rule",
        f"The comparisons that the study's rule waits for ({rule.words}).",
        scaled,
        (
            Column("label", "", "text"),
            Column("estimate", "Difference", "estimate"),
            Column("unit", "Unit", "text"),
            Column("state", "The rule", "text"),
            Column("n_participants", "Participants", "count"),
        ),
        tuple(_write_notes(rule, rows)),
        Section.COMPARISONS,
    )


def _write_notes(rule: Stopping, rows: pd.DataFrame) -> Iterator[str]:
    level = f"{_PERCENT * rows['level'].iloc[0]:.4g}%"
    if rule.rule == "any_time":
        yield (
            f"Intervals: {level} confidence sequences (by betting; Waudby-Smith and Ramdas, 2024): "
            f"in {level} of studies they contain the mean at every look, so they stay valid "
            "no matter who looked, how often, and why the study stopped."
        )
    else:
        yield (
            f"Intervals: {level} repeated confidence intervals of the last planned look that was "
            "reached (alpha spending; Lan and DeMets, 1983), valid at all planned looks together "
            "and at no others."
        )
    yield (
        "They are about these items. The other intervals of this report, and their p, assume "
        "a number of participants that was fixed beforehand; after a stop that depends on the "
        "answers they are not valid, and their estimates lie too far from 0."
    )
    if rule.bounds:
        low, high = rule.bounds
        yield (
            f"The difference is the mean of participants' differences limited to {low:g} to "
            f"{high:g}: those beyond count as the limit."
        )
    if (rows["measure"] == LOG_RT).any():
        yield (
            "For reading times, each participant's difference is one of mean logarithms of times."
        )


STOPPING = Finding(NAME, Section.COMPARISONS, _run)
