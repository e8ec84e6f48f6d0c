"""The parts of a study that is taken in several sessions, and who is who in them."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.data.frames import read_exported
from analysis.data.load import SESSION, ExportedRun
from analysis.errors import AnalysisError
from experiment.tables.schemas import PARTICIPANTS

_CODE = "code"


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its run, the number of its session, and the code of each of its participants."""

    run: ExportedRun
    session: int
    codes: Mapping[str, str]

    def renamed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a table's rows of people with a code, who are called by it."""
        people = frame["participant"].astype(str).map(self.codes)
        return frame.assign(participant=people)[people.notna()].reset_index(drop=True)


def parts_of(runs: Sequence[ExportedRun], codes: Path) -> list[Part]:
    """Return the parts in the order of their sessions.

    Args:
        runs: The exports.
        codes: The table that ``parallax recruitment parts`` wrote.

    Raises:
        AnalysisError: The table cannot be read or lacks a run.
        TableError: An export lacks its table of participants.
    """
    table = _read_codes(codes, [run.facts.run for run in runs])
    found = [Part(run, _session(run), table[run.facts.run]) for run in runs]
    return sorted(found, key=lambda part: part.session)


def _read_codes(path: Path, runs: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return each run's participants and their codes."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise AnalysisError(f"it cannot be read ({error})", where=str(path)) from error
    seen = list(rows[0]) if rows else []
    if missing := [name for name in (_CODE, *runs) if name not in seen]:
        raise AnalysisError(
            f"the table of codes lacks the column(s) {', '.join(missing)}",
            where=str(path),
            expected=f"the columns {', '.join((_CODE, *runs))}",
            remedy=f"Write it again: parallax recruitment parts {' '.join(runs)} --out {path.name}",
        )
    return {run: {row[run]: row[_CODE] for row in rows if row[run]} for run in runs}


def _session(run: ExportedRun) -> int:
    """Return the number of an export's session; a first part has no such column."""
    people = read_exported(PARTICIPANTS, run.folder, PARTICIPANTS.column_names, extended=True)
    return int(people[SESSION].iloc[0]) if SESSION in people and len(people) else 1
