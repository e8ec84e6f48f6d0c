"""Export model participants' sessions: the tables of a run, plus prompts and replies."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.takers.plan import Plan
from analysis.takers.rows import Rows, Taker, rows_of
from analysis.takers.taking import Sitting
from experiment.materials.read import item_row
from experiment.responses.registry import tables_shown
from experiment.studies.files import write_study_files
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.codebook import MEDIA_TYPES, datapackage, readme
from experiment.tables.column import MODEL, TableSchema
from experiment.tables.files import write_table
from experiment.tables.model_participants import ASKED, PROMPTS, READ, SITTINGS
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

_STUDY, _CODEBOOK, _README = "study", "datapackage.json", "README.md"
_OF_TAKERS = (READ, ASKED, PROMPTS)
_ENTRIES = {
    *(table.name + suffix for table in (*EXPORT_TABLES, *_OF_TAKERS) for suffix in MEDIA_TYPES),
    *(_STUDY, _CODEBOOK, _README),
}
_NOTICE = """
> **A language model answered here, not people.** Each row of participants is a sitting: a session
> taken in one way.
"""


def write_sittings(plan: Plan, sittings: Sequence[Sitting], taker: Taker, folder: Path) -> None:
    """Write the sessions of one reading; the folder appears complete or not at all.

    Args:
        plan: The plan.
        sittings: The completed sessions.
        taker: The model participant.
        folder: The folder to write; an earlier folder of sessions is replaced.

    Raises:
        WritingError: The folder contains other files, or cannot be written.
    """
    rows, tables = rows_of(plan, sittings, taker), _tables(plan)
    with atomic_folder(folder, _ENTRIES) as temporary:
        for table in tables:
            for suffix in MEDIA_TYPES:
                write_table(table, rows.get(table.name, []), temporary / f"{table.name}{suffix}")
        study = plan.source.study
        write_study_files(study, temporary / _STUDY)
        facts = _facts(plan, sittings, taker, rows)
        name = f"{facts['study']}-{facts['run']}".replace("_", "-").lower()
        package = datapackage(temporary, name, study.study.title, facts, tables)
        text = json.dumps(package, indent=2, ensure_ascii=False) + "\n"
        (temporary / _CODEBOOK).write_text(text, encoding="utf-8", newline="\n")
        about = readme(study.study.title, facts, tables, notice=_NOTICE)
        (temporary / _README).write_text(about, encoding="utf-8", newline="\n")


def _tables(plan: Plan) -> list[TableSchema]:
    design, shown = plan.source.study.design, tables_shown(plan.screens.response)
    own = {table.name: table for table in (SITTINGS, *shown)}
    items = [entry.item for entries in plan.source.built.lists for entry in entries]
    own[ITEMS.name] = ITEMS.extended(item_row(items[0]))
    levels = "the list's level of a factor between participants"
    tables = [own.get(table.name, table) for table in EXPORT_TABLES]
    return [
        *(
            table.extended(design.factors, levels)
            if table.name in (LISTS.name, PARTICIPANTS.name)
            else table
            for table in tables
        ),
        *_OF_TAKERS,
    ]


def _facts(
    plan: Plan, sittings: Sequence[Sitting], taker: Taker, rows: Mapping[str, Rows]
) -> dict[str, object]:
    study, built = plan.source.study, plan.source.built
    reading = sittings[0].reading.name
    kept = sum(bool(row["kept"]) for row in rows[VERDICTS.name])
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
        "n_kept": kept,
        "n_excluded": len(sittings) - kept,
        "n_responses": len(rows[RESPONSES.name]),
        "n_unread": len(rows[TRIALS.name]) - len(rows[RESPONSES.name]),
    }
