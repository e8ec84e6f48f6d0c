"""Multiverse analysis: every main result recomputed under alternative exclusion rules.

Steegen, S., Tuerlinckx, F., Gelman, A., & Vanpaemel, W. (2016). Increasing transparency through a
multiverse analysis. Perspectives on Psychological Science, 11(5), 702-712.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.data.frames import read_exported_table
from analysis.data.join import Joined, judgments, select_items
from analysis.data.kinds import find_targets
from analysis.data.load import ExportedRun
from analysis.data.own_columns import header, list_own_columns
from analysis.findings.finding import Context, Finding, Findings
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.agreement import add_model_preferences, preferences
from analysis.statistics.consistency import kappas_with_people
from analysis.statistics.correlation import spearman
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.errors import ParallaxError
from experiment.exclusion.base import Answered, Everyone
from experiment.exclusion.rules import load_rule, setting_in_words, verdict
from experiment.integrity.certificate import Certificate
from experiment.participation import State
from experiment.records import Judgment, Kind, Side
from experiment.studies.question import asked_questions
from experiment.studies.study import Rule, Study
from experiment.tables.observation_tables import INTEGRITY

# The rules are slow: Python code, applied to one participant at a time.
MOST_RESPONSES = 500_000
_INTEGER_STEPS = (-2, -1, 1, 2)
_NUMBER_FACTORS = (0.5, 0.75, 1.25, 1.5)
_MODEL_RESULTS = (
    ("accuracy", "Accuracy"),
    ("spearman", "Correlation with people"),
    ("kappa", "Error consistency with people"),
)


@dataclass(frozen=True, slots=True)
class Universe:
    """One alternative setting of the exclusion rules.

    Attributes:
        name: The difference from the run, such as "errors allowed: 2".
        rules: The rules.
    """

    name: str
    rules: tuple[Rule, ...]


def universes(study: Study) -> list[Universe]:
    """Return the rules as set, no rules, and each setting of each rule moved up and down.

    An integer moves by one and by two, any other number by 25% and by 50%; settings that the rule
    rejects are left out.
    """
    rules = tuple(study.exclusion)
    settings = [Universe("as run", rules)]
    if rules:
        settings.append(Universe("nobody excluded", ()))
    for index, rule in enumerate(rules):
        for changed, name in _vary_settings(rule):
            settings.append(Universe(name, (*rules[:index], changed, *rules[index + 1 :])))
    return settings


def _vary_settings(rule: Rule) -> Iterator[tuple[Rule, str]]:
    for key, value in (rule.model_extra or {}).items():
        for changed_value in _changed_values(value):
            changed = Rule.model_validate({**rule.model_dump(), key: changed_value})
            if _is_accepted(changed):
                yield changed, setting_in_words(rule.rule, key, float(changed_value))


def _changed_values(value: object) -> list[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    if isinstance(value, int):
        return [value + step for step in _INTEGER_STEPS]
    return [value * factor for factor in _NUMBER_FACTORS]


def _is_accepted(rule: Rule) -> bool:
    try:
        load_rule(rule)
    except ParallaxError:
        return False
    return True


def multiverse_findings(run: ExportedRun, data: Joined, context: Context) -> Findings:
    """Return the main results, one column for each universe.

    These are participants' accuracies, and each model's accuracy on the judged items and its
    correlation and error consistency with participants, which also depend on the kept participants.
    The result is empty if the study has no rule or the run exceeds ``MOST_RESPONSES``.

    Args:
        run: The exported run; the rules are applied again to every participant who finished.
        data: Each model's decisions.
        context: The study and the origin of the numbers.
    """
    chosen = universes(run.study)
    if len(chosen) == 1:
        return Findings()
    if len(run.responses) > MOST_RESPONSES:
        return Findings(left_out=(_note_too_many(len(run.responses)),))
    sessions, by_kept = _sessions_as_judged(run), dict[frozenset[str], pd.DataFrame]()
    # Join once: each universe keeps a subset of these rows.
    everyone = judgments(replace(run, verdicts=_judge_sessions(sessions, ())))
    on_seen = select_items(data.decisions, run.responses["item_id"])
    frame, columns = (
        _make_labels(context.study, list(data.decisions)),
        [Column("label", "", "text")],
    )
    for universe in chosen:
        verdicts = _judge_sessions(sessions, universe.rules)
        kept_people, key = frozenset(verdicts.loc[verdicts["kept"], "participant"]), universe.name
        n_kept = len(kept_people)
        if not kept_people:
            continue
        if kept_people not in by_kept:
            kept_judgments = everyone[everyone["participant"].isin(kept_people)].reset_index(
                drop=True
            )
            targets = find_targets(kept_judgments, run.items)
            kept_judgments = (
                kept_judgments[targets].reset_index(drop=True) if targets.any() else kept_judgments
            )
            by_kept[kept_people] = _main_results(kept_judgments, on_seen)
        values = by_kept[kept_people]
        renamed = {"value": key, "low": f"{key}_low", "high": f"{key}_high"}
        universe_values = values.rename(columns=renamed)
        frame = frame.merge(universe_values, "left", on="number").assign(
            **{f"{key}_participants": n_kept}
        )
        columns.append(Column(key, f"{n_kept} kept", "estimate", spanner=universe.name))
    return Findings((_make_table(frame, columns, context),))


def _note_too_many(n_responses: int) -> str:
    return (
        f"The table of other thresholds was left out: the rules are applied to one participant "
        f"at a time, which is too slow for {n_responses:,} responses (at most {MOST_RESPONSES:,})."
    )


def _make_table(frame: pd.DataFrame, columns: Sequence[Column], context: Context) -> Table:
    return context.table(
        "multiverse",
        "Other thresholds",
        "The main results under other settings of the exclusion rules.",
        frame,
        columns,
        (
            "People's accuracy with intervals: 95%, two-way clustered. Models: accuracy on the "
            "judged items; Spearman's correlation, over items, of people's share with the model's "
            "difference; kappa of being right, mean over participants.",
        ),
        Section.EXCLUSIONS,
    )


def _make_labels(study: Study, models: Sequence[str]) -> pd.DataFrame:
    rows = [("", "All judgments", "all")]
    rows += [
        (construction.group, construction.title, f"construction {construction.name}")
        for construction in study.constructions
    ]
    rows += [(model, title, f"{key} {model}") for model in models for key, title in _MODEL_RESULTS]
    return pd.DataFrame(rows, columns=["group", "label", "number"])


def _sessions_as_judged(run: ExportedRun) -> dict[str, Answered]:
    """Return the answers of each participant who finished, as the rules see them."""
    people, own_names = run.participants, list_own_columns(run.items)
    finished = people.loc[people["state"] == State.FINISHED, "participant"]
    rows = (
        run.responses[run.responses["participant"].isin(finished)]
        .merge(run.trials[["participant", "position", "kind"]], on=["participant", "position"])
        .merge(run.items[["item_id", "construction", "condition", *own_names]], on="item_id")
        .sort_values(["participant", "position"])
    )
    answers_by_person: dict[str, list[Judgment]] = {}
    for person, own_rows in rows.groupby("participant", sort=False, observed=True):
        records = own_rows.to_dict("records")
        answers_by_person[str(person)] = [_make_judgment(row, own_names) for row in records]
    n_shown, answers = (
        run.trials["participant"].value_counts(),
        _read_questionnaire(run, answers_by_person),
    )
    # Simulated participants were judged without a questionnaire, too.
    certificates = {} if run.facts.simulated else read_certificates(run.folder)
    sessions = {
        person: Answered(
            tuple(person_answers),
            answers.get(person),
            int(n_shown[person]),
            certificate=certificates.get(person),
        )
        for person, person_answers in answers_by_person.items()
    }
    everyone = Everyone(list(sessions.values()))
    return {person: session.among(everyone) for person, session in sessions.items()}


def _read_questionnaire(run: ExportedRun, people: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return each participant's questionnaire answers; empty if the run has none."""
    if run.answers is None:
        return {}
    answers: dict[str, dict[str, str]] = {person: {} for person in people}
    for row in run.answers[run.answers["participant"].isin(list(answers))].to_dict("records"):
        answers[row["participant"]][row["field"]] = str(row["value"])
    return {
        person: dict.fromkeys(asked_questions(run.study.questionnaire, fields), "") | fields
        for person, fields in answers.items()
    }


def _make_judgment(row: dict[Hashable, Any], own_names: Sequence[str]) -> Judgment:
    return Judgment(
        position=row["position"],
        item_id=row["item_id"],
        kind=Kind(row["kind"]),
        construction=row["construction"],
        chose_good=row["chose_good"],
        chosen_side=Side(row["chosen_side"]),
        rt_ms=None if pd.isna(row["rt_ms"]) else row["rt_ms"],
        condition=row["condition"],
        extra=tuple((header(name), str(row[name])) for name in own_names),
    )


def _judge_sessions(sessions: dict[str, Answered], rules: Sequence[Rule]) -> pd.DataFrame:
    verdicts = {person: verdict(rules, session) for person, session in sessions.items()}
    return pd.DataFrame(
        {
            "participant": list(verdicts),
            "kept": [outcome.kept for outcome in verdicts.values()],
            "rule": [outcome.rule for outcome in verdicts.values()],
        }
    ).astype({"kept": bool})


def _main_results(
    kept_judgments: pd.DataFrame, decided: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    return pd.concat([_people_results(kept_judgments), *_model_results(kept_judgments, decided)])


def _people_results(kept_judgments: pd.DataFrame) -> pd.DataFrame:
    frames = []
    for key, prefix in (("all", ""), ("construction", "construction ")):
        rows = people_accuracy(kept_judgments.assign(all="all"), [key])
        renamed = rows.rename(columns={"accuracy": "value"}).assign(number=prefix + rows[key])
        frames.append(renamed[["number", "value", "low", "high"]])
    return pd.concat(frames, ignore_index=True)


def _model_results(
    kept_judgments: pd.DataFrame, decided: Mapping[str, pd.DataFrame]
) -> Iterator[pd.DataFrame]:
    preferred = preferences(kept_judgments)
    kappas = kappas_with_people(kept_judgments, decided).set_index("judge")["kappa"]
    for model, frame in decided.items():
        matched = add_model_preferences(preferred, frame)
        values = (
            matched["correct"].mean(),
            spearman(matched["share_good"].to_numpy(), matched["difference_nats"].to_numpy()),
            kappas[model],
        )
        numbers = [f"{key} {model}" for key, _ in _MODEL_RESULTS]
        yield pd.DataFrame({"number": numbers, "value": values})


MULTIVERSE = Finding(
    "multiverse",
    Section.EXCLUSIONS,
    lambda inputs: multiverse_findings(inputs.run, inputs.data, inputs.context),
    slow=True,
)


# Exports lack these fields, and no rule needs them: the exported score is computed from them.
_NOT_EXPORTED = ("counting", "methods", "types", "is_measured")
_FIELDS = tuple(
    name for name in Certificate.__dataclass_fields__ if name not in ("signals", *_NOT_EXPORTED)
)


def read_certificates(folder: Path) -> dict[str, Certificate]:
    """Return an export's certificates by participant; empty if the export has none.

    Raises:
        TableError: The table does not fit its schema.
    """
    if not any((folder / f"{INTEGRITY.name}{suffix}").exists() for suffix in (".parquet", ".csv")):
        return {}
    table = read_exported_table(INTEGRITY, folder, INTEGRITY.column_names)
    return {row["participant"]: _parse_certificate(row) for row in table.to_dict("records")}


def _parse_certificate(row: Mapping[Hashable, Any]) -> Certificate:
    fields: dict[str, Any] = {n: None if pd.isna(row[n]) else row[n] for n in _FIELDS}
    return Certificate(
        **fields,
        is_measured=False,
        counting=(),
        methods=(),
        types=(),
        signals=_parse_signals(row["signals"]),
    )


def _parse_signals(text: str) -> tuple[tuple[str, float], ...]:
    pairs = (signal.partition("=") for signal in text.split())
    return tuple((name, float(nats)) for name, _, nats in pairs)
