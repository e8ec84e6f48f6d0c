"""Export model participants' sessions: the tables of a run, plus prompts and replies."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp, isinf
from pathlib import Path

from analysis.takers.plan import Plan
from analysis.takers.taking import ReadTrial, Sitting
from experiment.errors import StudyError
from experiment.exclusion.base import Answered, Everyone
from experiment.exclusion.rules import verdict
from experiment.materials.item_rows import item_row
from experiment.records import Judgment, Verdict
from experiment.responses.registry import tables_shown
from experiment.studies.files import write_study_files
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.codebook import MEDIA_TYPES, datapackage, readme
from experiment.tables.column import JUDGE, MODEL, TableSchema
from experiment.tables.files import write_table
from experiment.tables.model_participants import MODEL_QUESTIONS, PROMPTS, READ, SITTINGS
from experiment.tables.schemas import (
    EXPORT_TABLES,
    ITEMS,
    LISTS,
    PARTICIPANTS,
    RESPONSES,
    TRIALS,
    VERDICTS,
)
from experiment.version import code_version

Rows = list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class Taker:
    """The model participant, and the time of its sessions.

    Attributes:
        model: The model's name.
        trained_on: The model's training text.
        identity: A value that changes with the model.
        tier: How much the model reveals about an answer.
        started_at: The start of the take; every row has this time, so that interrupted and
            uninterrupted takes give the same bytes.
    """

    model: str
    trained_on: str
    identity: str
    tier: str
    started_at: datetime


def make_rows(plan: Plan, sittings: Sequence[Sitting], taker: Taker) -> dict[str, Rows]:
    """Return the rows of every non-empty table, by table name."""
    return {
        **_design_rows(plan),
        PARTICIPANTS.name: [
            _session_row(plan, sitting, number, taker)
            for number, sitting in enumerate(sittings, start=1)
        ],
        TRIALS.name: [_trial_row(sitting, read) for sitting, read in _iterate_answers(sittings)],
        RESPONSES.name: [
            _response_row(plan, sitting, read, taker)
            for sitting, read in _iterate_answers(sittings)
            if read.given is not None
        ],
        VERDICTS.name: list(make_verdict_rows(plan, sittings)),
        READ.name: [_read_row(sitting, read) for sitting, read in _iterate_answers(sittings)],
        MODEL_QUESTIONS.name: [
            row
            for sitting, read in _iterate_answers(sittings)
            for row in _prompt_rows_of_trial(sitting, read)
        ],
        PROMPTS.name: _prompt_rows(sittings),
    }


def _design_rows(plan: Plan) -> dict[str, Rows]:
    lists, study = plan.source.built.lists, plan.source.study
    items = {entry.item.item_id: entry.item for entries in lists for entry in entries}
    return {
        ITEMS.name: [item_row(item) for item in items.values()],
        LISTS.name: [
            {
                "list": number,
                "item_id": entry.item.item_id,
                "kind": entry.kind,
                **study.design.levels(number),
            }
            for number, entries in enumerate(lists)
            for entry in entries
        ],
    }


def _iterate_answers(sittings: Sequence[Sitting]) -> Iterator[tuple[Sitting, ReadTrial]]:
    for sitting in sittings:
        for answer in sitting.read:
            yield sitting, answer


def _session_row(plan: Plan, sitting: Sitting, number: int, taker: Taker) -> dict[str, object]:
    prompted, session = sitting.reading.prompted, sitting.session
    person = plan.person(session)
    return {
        "participant": sitting.ref,
        "number": number,
        "simulated": True,
        "state": "finished",
        "list": session.list_,
        "place": session.place,
        "arrived_at": taker.started_at,
        "consented_at": None,
        "returned_at": None,
        "finished_at": taker.started_at,
        "model": taker.model,
        "reading": sitting.reading.name,
        "context": str(sitting.way.context) if prompted else "",
        "labels": sitting.way.labels,
        "order": sitting.way.order,
        "thinking": ("yes" if sitting.way.thinking else "no") if prompted else "",
        "session": session.number,
        "person": person.ref if person else "",
        JUDGE.name: MODEL,
        **plan.source.study.design.levels(session.list_),
    }


def _trial_key(sitting: Sitting, read: ReadTrial) -> dict[str, object]:
    return {
        "participant": sitting.ref,
        "position": read.trial.trial.position,
        "item_id": read.trial.trial.item_id,
        JUDGE.name: MODEL,
    }


def _trial_row(sitting: Sitting, read: ReadTrial) -> dict[str, object]:
    trial = read.trial.trial
    return {
        **_trial_key(sitting, read),
        "kind": trial.kind,
        "good_side": trial.good_side,
        "options": " ".join(trial.options),
    }


def _response_row(plan: Plan, sitting: Sitting, read: ReadTrial, taker: Taker) -> dict[str, object]:
    assert read.given is not None
    response, trial = plan.screens.response, read.trial
    judgment = response.score_answer(trial.arrangement, read.given)
    row = {
        **dict.fromkeys(tables_shown(response)[1].column_names),
        **_trial_key(sitting, read),
        "chosen_side": judgment.chosen_side,
        "chose_good": judgment.chose_good,
        "version": " ".join(trial.trial.options),
        "rating": judgment.rating,
        "input_method": MODEL,
        "recorded_at": taker.started_at,
    }
    if response.details:
        row["details"] = read.given.details
    return response.derive_all_columns(row)


def _read_row(sitting: Sitting, read: ReadTrial) -> dict[str, object]:
    return {
        **_trial_key(sitting, read),
        "outcome": read.outcome,
        "weights": _to_json([None if isinf(weight) else weight for weight in read.weights]),
        "p_good": read.p_good,
        "mass": _label_probability(read) if _has_mass(sitting, read) else None,
    }


def _has_mass(sitting: Sitting, read: ReadTrial) -> bool:
    """Return whether answers have probabilities of their own: not where whole texts are scored."""
    return sitting.reading.prompted or all(
        ask.after is not None and not ask.after.strip() for ask in read.asks
    )


def _label_probability(read: ReadTrial) -> float:
    """Return the total probability of all labels, over the prompts of a trial."""
    masses = [
        sum(exp(logprob) for logprob in reply.logprobs_nats if logprob is not None)
        for reply in read.replies
    ]
    return sum(masses) / len(masses)


def _prompt_rows_of_trial(sitting: Sitting, read: ReadTrial) -> Iterator[dict[str, object]]:
    for number, (ask, reply) in enumerate(zip(read.asks, read.replies, strict=True), start=1):
        logprobs, raw = _to_json(reply.logprobs_nats), _to_json(reply.texts) if reply.texts else ""
        yield {
            **_trial_key(sitting, read),
            "ask": number,
            "prompt_sha256": _hash_text(ask.prompt),
            "answers": _to_json(ask.answers),
            "logprobs_nats": logprobs,
            "raw": raw,
            "read_by": _to_json(reply.read_by) if reply.read_by else "",
            "thoughts": _to_json(reply.thoughts) if reply.thoughts else "",
            "hidden_tokens": reply.n_hidden,
            "fingerprints": _to_json(reply.fingerprints) if reply.fingerprints else "",
            "seed": reply.seed,
            "raw_sha256": _hash_text(f"{logprobs}\n{raw}"),
        }


def _prompt_rows(sittings: Sequence[Sitting]) -> Rows:
    prompts = dict.fromkeys(
        ask.prompt for _, read in _iterate_answers(sittings) for ask in read.asks
    )
    return [{"prompt_sha256": _hash_text(prompt), "prompt": prompt} for prompt in prompts]


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _to_json(values: Sequence[object]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def make_verdict_rows(plan: Plan, sittings: Sequence[Sitting]) -> Iterator[dict[str, object]]:
    """Yield a verdict row for each session, by the rules for human participants."""
    answered_sessions = [_collect_answers(plan, sitting) for sitting in sittings]
    everyone = Everyone(answered_sessions)
    for sitting, session_answers in zip(sittings, answered_sessions, strict=True):
        session_verdict = _decide_verdict(plan, session_answers.among(everyone))
        yield {
            "participant": sitting.ref,
            "kept": session_verdict.kept,
            "rule": session_verdict.rule,
            "evidence": session_verdict.evidence,
        }


def _decide_verdict(plan: Plan, session_answers: Answered) -> Verdict:
    try:
        return verdict(plan.source.study.exclusion, session_answers)
    except StudyError:
        if session_answers.n_trials == len(session_answers):
            raise
        # A rule that counts trials, all of whose answers could not be parsed.
        evidence = (
            f"{len(session_answers)} of {session_answers.n_trials} trials have a readable answer"
        )
        return Verdict(kept=False, rule="unreadable", evidence=evidence)


def _collect_answers(plan: Plan, sitting: Sitting) -> Answered:
    judgments = tuple(
        Judgment(
            position=read.trial.trial.position,
            item_id=read.trial.trial.item_id,
            kind=read.trial.trial.kind,
            construction=read.trial.entry.item.construction,
            rt_ms=None,
            condition=read.trial.entry.item.condition,
            extra=read.trial.entry.item.extra,
            **plan.screens.response.score_answer(read.trial.arrangement, read.given).fields(),
        )
        for read in sitting.read
        if read.given is not None
    )
    return Answered(judgments, n_trials=len(sitting.read))


_STUDY, _CODEBOOK, _README = "study", "datapackage.json", "README.md"
_TAKER_TABLES = (READ, MODEL_QUESTIONS, PROMPTS)
_FILE_NAMES = {
    *(table.name + suffix for table in (*EXPORT_TABLES, *_TAKER_TABLES) for suffix in MEDIA_TYPES),
    *(_STUDY, _CODEBOOK, _README),
}
_NOTICE = """
> **A language model answered here, not people.** Each row of participants is a sitting: a session
> taken in one way.
"""


def write_sessions(plan: Plan, sittings: Sequence[Sitting], taker: Taker, folder: Path) -> None:
    """Write the sessions of one reading; the folder appears complete or not at all.

    Args:
        plan: The plan.
        sittings: The completed sessions.
        taker: The model participant.
        folder: The folder to write; an earlier folder of sessions is replaced.

    Raises:
        WritingError: The folder contains other files, or cannot be written.
    """
    rows, tables = make_rows(plan, sittings, taker), _export_tables(plan)
    with atomic_folder(folder, _FILE_NAMES) as temporary:
        for table in tables:
            for suffix in MEDIA_TYPES:
                write_table(table, rows.get(table.name, []), temporary / f"{table.name}{suffix}")
        study = plan.source.study
        write_study_files(study, temporary / _STUDY)
        facts = _export_facts(plan, sittings, taker, rows)
        name = f"{facts['study']}-{facts['run']}".replace("_", "-").lower()
        package = datapackage(temporary, name, study.study.title, facts, tables)
        text = json.dumps(package, indent=2, ensure_ascii=False) + "\n"
        (temporary / _CODEBOOK).write_text(text, encoding="utf-8", newline="\n")
        about = readme(study.study.title, facts, tables, notice=_NOTICE)
        (temporary / _README).write_text(about, encoding="utf-8", newline="\n")


def _export_tables(plan: Plan) -> list[TableSchema]:
    design, response_tables = plan.source.study.design, tables_shown(plan.screens.response)
    special_tables = {table.name: table for table in (SITTINGS, *response_tables)}
    items = [entry.item for entries in plan.source.built.lists for entry in entries]
    special_tables[ITEMS.name] = ITEMS.extended(item_row(items[0]))
    levels = "the list's level of a factor between participants"
    tables = [special_tables.get(table.name, table) for table in EXPORT_TABLES]
    return [
        *(
            table.extended(design.factors, levels)
            if table.name in (LISTS.name, PARTICIPANTS.name)
            else table
            for table in tables
        ),
        *_TAKER_TABLES,
    ]


def _export_facts(
    plan: Plan, sittings: Sequence[Sitting], taker: Taker, rows: Mapping[str, Rows]
) -> dict[str, object]:
    study, built = plan.source.study, plan.source.built
    reading = sittings[0].reading.name
    n_kept = sum(bool(row["kept"]) for row in rows[VERDICTS.name])
    return {
        "run": f"{taker.model}-{reading}",
        "study": study.name,
        "study_version": study.study.version,
        "study_citation": study.study.citation,
        "seed": built.seed,
        "materials_hash": built.materials_hash,
        "rendering": study.materials.shown_to_people,
        "response": study.response,
        "lockout_ms": study.trial.lockout_ms,
        "recruiter": "taker",
        "simulated": True,
        "launched_at": taker.started_at.isoformat(),
        "code_version": code_version(),
        "exported_by": code_version(),
        "judge": MODEL,
        "model": taker.model,
        "trained_on": taker.trained_on,
        "model_identity": taker.identity,
        "tier": taker.tier,
        "reading": reading,
        "n_participants": len(sittings),
        "n_finished": len(sittings),
        "n_kept": n_kept,
        "n_excluded": len(sittings) - n_kept,
        "n_responses": len(rows[RESPONSES.name]),
        "n_unread": len(rows[TRIALS.name]) - len(rows[RESPONSES.name]),
    }
