"""Write all data of a run as one folder, for analysts and archives."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.studies.files import write_study_files
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.codebook import MEDIA_TYPES, datapackage, readme
from experiment.tables.column import TableSchema
from experiment.tables.files import spreadsheet_safe, write_table
from experiment.tables.observation_tables import HUMANNESS, READINGS, TRACES
from experiment.tables.schemas import ANSWERS, EXPORT_TABLES
from experiment.version import code_version
from webapp.database.models import Participant, Place, Response, Run, Trial, Verdict
from webapp.errors import RunError
from webapp.gate.gate import refuse
from webapp.gate.installation import Operation
from webapp.runs.design_columns import DesignColumns, design_columns
from webapp.runs.export_queries import export_rows, export_tables
from webapp.runs.parts import part_number
from webapp.runs.runs import study_as_launched
from webapp.sessions.consent_texts import consent_texts

SUFFIXES = tuple(MEDIA_TYPES)
STUDY, CONSENT, CODEBOOK, README = "study", "consent", "datapackage.json", "README.md"
_ENTRIES = {
    *(
        table.name + suffix
        for table in (*EXPORT_TABLES, READINGS, TRACES, HUMANNESS)
        for suffix in SUFFIXES
    ),
    *(STUDY, CONSENT, CODEBOOK, README),
}


def export(session: Session, run: Run, folder: Path) -> dict[str, object]:
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
    refuse(Operation.EXPORT, session.connection())
    study = study_as_launched(session, run)
    number = part_number(session, run, study)
    provenance = _provenance(session, run, study) | ({"session": number} if number else {})
    if not provenance["n_responses"]:
        raise RunError(
            f'the run "{run.ref}" has nothing to export: no one has answered a trial yet',
            remedy="Send participants to the run first",
        )
    with atomic_folder(folder, _ENTRIES) as temporary:
        columns = design_columns(session, run, study, number)
        tables = [columns.extended(table) for table in export_tables(session, run, study)]
        _write_tables(session, run, tables, columns, temporary)
        write_study_files(study, temporary / STUDY)
        _write_consent_texts(session, run, temporary / CONSENT)
        _write_codebook(temporary, study, provenance, tables)
    return provenance


def _provenance(session: Session, run: Run, study: Study) -> dict[str, object]:
    counts = _counts(session, run)
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
        "still_filling": _still_filling(session, run),
        "code_version": run.code_version,
        "exported_by": code_version(),
        **counts,
        "n_simulated": counts["n_participants"] if run.simulated else 0,
    }


def _still_filling(session: Session, run: Run) -> bool:
    """Return whether participants may still arrive, so that the data can still change."""
    free = select(Place.id).where(Place.run_id == run.id, Place.participant_id.is_(None)).limit(1)
    return run.closed_at is None and not run.simulated and session.scalar(free) is not None


def _counts(session: Session, run: Run) -> dict[str, int]:
    everybody = select(func.count()).select_from(Participant).where(Participant.run_id == run.id)
    people = everybody.where(Participant.restricted_at.is_(None))
    judged = people.join(Verdict, Verdict.participant_id == Participant.id)
    answers = people.join(Trial, Trial.participant_id == Participant.id).join(
        Response, Response.trial_id == Trial.id
    )
    queries = {
        "n_participants": people,
        "n_finished": people.where(Participant.state == State.FINISHED),
        "n_kept": judged.where(Verdict.kept.is_(True)),
        "n_excluded": judged.where(Verdict.kept.is_(False)),
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
        for suffix in SUFFIXES:
            # Closed also if writing fails, because PostgreSQL keeps the remaining rows ready.
            with closing(export_rows(session, run, table)) as stored:
                rows: Iterable[Mapping[str, object]] = columns.completed(table, stored)
                texts = ("value",) if table.name == ANSWERS.name else columns.free_texts(table)
                if suffix == ".csv" and texts:
                    rows = map(partial(_for_spreadsheets, texts), rows)
                write_table(table, rows, folder / f"{table.name}{suffix}")


def _for_spreadsheets(texts: Sequence[str], row: Mapping[str, object]) -> Mapping[str, object]:
    return {**row, **{name: spreadsheet_safe(str(row[name])) for name in texts}}


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
