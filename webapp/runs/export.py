"""Write all data of a run as one folder, for analysts and archives.

Tables get the columns that the study's design adds to them, each with its role.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.materials.formats.columns import column_headers
from experiment.materials.item_rows import item_from_row
from experiment.participation import State
from experiment.records import Side
from experiment.responses.registry import response_of
from experiment.responses.yes_no.yes_no import YesNo, score_words
from experiment.studies.files import write_study_files
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.codebook import MEDIA_TYPES, datapackage, readme
from experiment.tables.codes import CODES
from experiment.tables.column import Column, Role, TableSchema, roles_of_items
from experiment.tables.files import open_table, split_rows, spreadsheet_safe
from experiment.tables.observation_tables import HUMANNESS, READINGS, TRACES
from experiment.tables.schemas import ANSWERS, EXPORT_TABLES, ITEMS, LISTS, PARTICIPANTS
from experiment.version import code_version
from webapp.database.models import (
    Answer,
    Participant,
    Place,
    Response,
    Run,
    RunItem,
    Trial,
    Verdict,
)
from webapp.errors import RunError
from webapp.gate.gate import refuse_if_blocked
from webapp.gate.installation import Operation
from webapp.runs.export_queries import list_export_tables, stream_rows
from webapp.runs.parts import find_part_number
from webapp.runs.runs import load_launched_study
from webapp.sessions.consent_texts import consent_texts

_BLOCK_COLUMN = Column(
    "block", "string", "the block of the session that the item is in", role=Role.BLOCK
)
_SESSION_COLUMN = Column(
    "session",
    "integer",
    "which session this is of a study that is taken in parts, from 1",
    role=Role.SESSION,
)


@dataclass(frozen=True, slots=True)
class DesignColumns:
    """The design columns of a study's tables: their names, roles and values.

    Attributes:
        study: The study.
        roles: The role of each of the researcher's own item columns.
        blocks: The block of each item, by the item's id; empty if the session has no blocks.
        answers: For each question that the study's analysis names, the answers by participant.
        scores: For each score of the study's word tests, the scores by participant.
        session: The number of the session; None if no part of the study precedes it.
    """

    study: Study
    roles: Mapping[str, Role]
    blocks: Mapping[str, str]
    answers: Mapping[str, Mapping[str, str]]
    scores: Mapping[str, Mapping[str, float]]
    session: int | None = None

    def extended(self, table: TableSchema) -> TableSchema:
        """Return a table with its design columns and the columns' roles."""
        if table.name == ITEMS.name:
            headers = column_headers(self.study.materials.headers)
            roles = [
                replace(
                    column,
                    role=self.roles.get(column.name, column.role),
                    description=column.description + headers.get(column.name, ""),
                )
                for column in table.columns
            ]
            return table.with_columns(roles)
        if table.name == ANSWERS.name:
            return self._add_questions(table)
        if table.name not in (LISTS.name, PARTICIPANTS.name):
            return table
        level_description = "the list's level of a factor between participants"
        added = [
            Column(name, "string", level_description, role=Role.BETWEEN_PARTICIPANTS)
            for name in self.study.design.factors
        ]
        if table.name == LISTS.name and self.blocks:
            added.append(_BLOCK_COLUMN)
        if table.name == PARTICIPANTS.name:
            added += [_SESSION_COLUMN] if self.session else []
            answer_description = "the answer to this question of the questionnaire"
            added += [
                Column(name, "string", answer_description, role=Role.ANSWER, is_free_text=True)
                for name in self.answers
                if name not in table.column_names
            ]
            added += response_of(self.study).score_columns
        existing_names = set(table.column_names)
        return table.with_columns([column for column in added if column.name not in existing_names])

    def _add_questions(self, table: TableSchema) -> TableSchema:
        """Return the table of answers with the wording and the allowed values of each field."""
        check = self.study.comprehension
        before = (*self.study.screening, *(check.questions if check else ()))
        question_texts = "; ".join(
            f"{q.name}: {q.in_words}" for q in (*before, *self.study.questionnaire)
        )
        return table.with_columns(
            replace(column, description=f"{column.description}. {question_texts}")
            if column.name == "field" and question_texts
            else column
            for column in table.columns
        )

    def completed(
        self, table: TableSchema, rows: Iterable[Mapping[str, object]]
    ) -> Iterator[Mapping[str, object]]:
        """Yield the rows of a table with the values of the design columns."""
        if table.name not in (LISTS.name, PARTICIPANTS.name):
            yield from rows
            return
        for row in rows:
            design_values: dict[str, object] = {**self._get_levels(row["list"])}
            if table.name == LISTS.name and self.blocks:
                design_values["block"] = self.blocks[str(row["item_id"])]
            if table.name == PARTICIPANTS.name:
                design_values |= {_SESSION_COLUMN.name: self.session} if self.session else {}
                person = str(row["participant"])
                design_values |= {
                    name: answers_by_person.get(person, "")
                    for name, answers_by_person in self.answers.items()
                }
                design_values |= {name: of.get(person) for name, of in self.scores.items()}
            yield design_values | dict(row)

    def _get_levels(self, list_: object) -> dict[str, str]:
        if isinstance(list_, int):
            return self.study.design.levels(list_)
        return dict.fromkeys(self.study.design.factors, "")


def make_design_columns(
    session: Session, run: Run, study: Study, number: int | None = None
) -> DesignColumns:
    """Return the design columns of a run's study, from its frozen items and its answers.

    Args:
        session: A reading session.
        run: The run.
        study: Its study.
        number: The number of the session among several, as ``find_part_number`` returns it.
    """
    items = [dict(row) for row in stream_rows(session, run, ITEMS)]
    own_columns = [name for name in (items[0] if items else ()) if name not in ITEMS.column_names]
    blocks = study.design.block_of if any(study.design.block_of.values()) else {}
    question_names = {question.name for question in study.questionnaire}
    chosen = [name for name in study.analysis.covariates if name in question_names]
    texts = [{key: str(value) for key, value in row.items()} for row in items]
    return DesignColumns(
        study=study,
        roles=roles_of_items(texts, own_columns, study.analysis.factors),
        blocks={row["item_id"]: blocks.get(row["template"], "") for row in texts} if blocks else {},
        answers={name: _load_answers(session, run, name) for name in chosen},
        scores=score_participants(session, run, study),
        session=number,
    )


def _load_answers(session: Session, run: Run, field: str) -> dict[str, str]:
    query = (
        select(Participant.ref, Answer.value)
        .join(Answer, Answer.participant_id == Participant.id)
        .where(Participant.run_id == run.id, Answer.field == field)
    )
    return {str(ref): str(value) for ref, value in session.execute(query)}


STUDY, CONSENT, CODEBOOK, README = "study", "consent", "datapackage.json", "README.md"
_EXPORT_NAMES = {
    *(
        table.name + suffix
        for table in (*EXPORT_TABLES, READINGS, TRACES, HUMANNESS, CODES)
        for suffix in MEDIA_TYPES
    ),
    *(STUDY, CONSENT, CODEBOOK, README),
}


def export_run(session: Session, run: Run, folder: Path) -> dict[str, object]:
    """Write every table of a run, its study and its codebook; on failure, no folder appears.

    Args:
        session: A reading session, so that all tables show the same moment.
        run: The run.
        folder: The destination; an earlier export there is replaced.

    Returns:
        The provenance and size of the data, as the codebook has it under ``parallax``.

    Raises:
        RunError: There are no answers yet, or the study's files are not in the database.
        WritingError: The folder is not an earlier export, or cannot be written.
        GateError: A fault blocks exports until it is repaired.
    """
    refuse_if_blocked(Operation.EXPORT, session.connection())
    study = load_launched_study(session, run)
    number = find_part_number(session, run, study)
    provenance = _describe_provenance(session, run, study) | ({"session": number} if number else {})
    if not provenance["n_responses"]:
        raise RunError(
            f'the run "{run.ref}" has nothing to export: no one has answered a trial yet',
            remedy="Send participants to the run first",
        )
    with atomic_folder(folder, _EXPORT_NAMES) as temporary:
        columns = make_design_columns(session, run, study, number)
        tables = [columns.extended(table) for table in list_export_tables(session, run, study)]
        _write_tables(session, run, tables, columns, temporary)
        write_study_files(study, temporary / STUDY)
        _write_consent_texts(session, run, temporary / CONSENT)
        _write_codebook(temporary, study, provenance, tables)
    return provenance


def _describe_provenance(session: Session, run: Run, study: Study) -> dict[str, object]:
    counts = _count_participants(session, run)
    return {
        "run": run.ref,
        "study": run.study,
        "study_version": run.study_version,
        "study_citation": study.study.citation,
        "seed": run.seed,
        "materials_hash": run.materials_hash,
        "rendering": study.materials.shown_to_people,
        "response": study.response,
        "lockout_ms": study.trial.lockout_ms,
        "recruiter": run.recruiter,
        "simulated": run.simulated,
        "launched_at": run.launched_at.isoformat(),
        "still_filling": _is_still_filling(session, run),
        "code_version": run.code_version,
        "exported_by": code_version(),
        **counts,
        "n_simulated": counts["n_participants"] if run.simulated else 0,
    }


def _is_still_filling(session: Session, run: Run) -> bool:
    """Return whether participants may still arrive, so that the data can still change."""
    free = select(Place.id).where(Place.run_id == run.id, Place.participant_id.is_(None)).limit(1)
    return run.closed_at is None and not run.simulated and session.scalar(free) is not None


def has_answers(session: Session, run: Run) -> bool:
    """Return whether there is an answer to export."""
    answers = (
        select(Response.id)
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(Participant.run_id == run.id, Participant.restricted_at.is_(None))
    )
    return session.scalar(answers.limit(1)) is not None


def _count_participants(session: Session, run: Run) -> dict[str, int]:
    everybody = select(func.count()).select_from(Participant).where(Participant.run_id == run.id)
    people = everybody.where(Participant.restricted_at.is_(None))
    with_verdict = people.join(Verdict, Verdict.participant_id == Participant.id)
    answers = people.join(Trial, Trial.participant_id == Participant.id).join(
        Response, Response.trial_id == Trial.id
    )
    queries = {
        "n_participants": people,
        "n_finished": people.where(Participant.state == State.FINISHED),
        "n_kept": with_verdict.where(Verdict.kept.is_(True)),
        "n_excluded": with_verdict.where(Verdict.kept.is_(False)),
        "n_responses": answers,
        "n_restricted": everybody.where(Participant.restricted_at.is_not(None)),
    }
    return {name: session.execute(query).scalar_one() for name, query in queries.items()}


def _write_tables(
    session: Session,
    run: Run,
    tables: Sequence[TableSchema],
    columns: DesignColumns,
    folder: Path,
) -> None:
    for table in tables:
        escape = partial(_escape_for_spreadsheets, table.free_texts)
        # Closed also if writing fails, because PostgreSQL keeps the remaining rows ready.
        with (
            closing(stream_rows(session, run, table)) as stored,
            open_table(table, folder / f"{table.name}.csv") as append_text,
            open_table(table, folder / f"{table.name}.parquet") as append_parquet,
        ):
            for rows in split_rows(columns.completed(table, stored)):
                append_parquet(rows)
                append_text([escape(row) for row in rows] if table.free_texts else rows)


def _escape_for_spreadsheets(
    texts: Sequence[str], row: Mapping[str, object]
) -> Mapping[str, object]:
    return {**row, **{name: spreadsheet_safe(str(row[name] or "")) for name in texts}}


def _write_consent_texts(session: Session, run: Run, folder: Path) -> None:
    folder.mkdir()
    for text, _ in consent_texts(session, run):
        (folder / f"{text.version}.txt").write_bytes(text.text.encode())


def _write_codebook(
    folder: Path,
    study: Study,
    provenance: Mapping[str, object],
    tables: Sequence[TableSchema],
) -> None:
    name = f"{provenance['study']}-{provenance['run']}".replace("_", "-").lower()
    package = datapackage(folder, name, study.study.title, provenance, tables)
    text = json.dumps(package, indent=2, ensure_ascii=False) + "\n"
    (folder / CODEBOOK).write_text(text, encoding="utf-8", newline="\n")
    about = readme(study.study.title, provenance, tables)
    (folder / README).write_text(about, encoding="utf-8", newline="\n")


_ROWS_AT_A_TIME = 2_000


def score_participants(session: Session, run: Run, study: Study) -> dict[str, dict[str, float]]:
    """Return each score of a run's word tests, by its name and the participant's reference.

    Args:
        session: A reading session.
        run: The run.
        study: Its study, as it was launched.
    """
    response = response_of(study)
    names = [column.name for column in response.score_columns]
    if not names:
        return {}
    query = (
        select(Participant.ref, RunItem.item, Trial.good_side, Response.chosen_side)
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .join(Response, Response.trial_id == Trial.id)
        .where(Participant.run_id == run.id, Participant.restricted_at.is_(None))
    )
    answers: dict[tuple[str, str], list[tuple[Side, bool]]] = defaultdict(list)
    rows = session.execute(query.execution_options(yield_per=_ROWS_AT_A_TIME))
    for ref, item, good_side, chosen_side in rows:
        type_ = response.of_item(item_from_row(item))
        if isinstance(type_, YesNo) and type_.score and good_side:
            answers[type_.score, ref].append((Side(good_side), chosen_side == good_side))
    scores: dict[str, dict[str, float]] = {name: {} for name in names}
    for (name, ref), given in answers.items():
        if (score := score_words(given)) is not None:
            scores[name][ref] = score
    return scores
