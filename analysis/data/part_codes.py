"""Parts of a study taken in several sessions: match their participants and items."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from experiment.errors import why_unread

_CODE = "code"
_SHOWN = 5
_Rows = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its run, its session number, and its participants' codes."""

    run: ExportedRun
    session: int
    codes: Mapping[str, str]

    def renamed(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Keep rows of participants with a code, and replace each participant by the code."""
        people = frame["participant"].astype(str).map(self.codes)
        return frame.assign(participant=people)[people.notna()].reset_index(drop=True)


def parts_of(runs: Sequence[ExportedRun], codes: Path) -> list[Part]:
    """Return the parts in the order of their sessions.

    Args:
        runs: The exports.
        codes: The table written by ``parallax recruitment parts``.

    Raises:
        AnalysisError: A run is given twice, or the table cannot be read, lacks a run, or does not
            match each participant to exactly one code.
    """
    names = [run.facts.run for run in runs]
    if twice := _repeated(names):
        raise AnalysisError(
            f"the run {twice[0]} is given {names.count(twice[0])} times, so that each of its "
            "judgments would count as often",
            where=", ".join(str(run.folder) for run in runs if run.facts.run == twice[0]),
            expected="each part once",
            remedy="Name every run with one --run",
        )
    table = _read_codes(codes, names)
    found = [Part(run, run.facts.session, table[run.facts.run]) for run in runs]
    return sorted(found, key=lambda part: part.session)


def _read_codes(path: Path, runs: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the code of each participant, by run."""
    again = f"Write the table again: parallax recruitment parts {' '.join(runs)} --out {path.name}"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [{key: (row[key] or "").strip() for key in row if key} for row in reader]
            seen = list(reader.fieldnames or [])
    except (OSError, ValueError, csv.Error) as error:
        raise AnalysisError(
            f"the table of codes cannot be read ({why_unread(error)})",
            where=str(path),
            expected="a CSV file in UTF-8, as `parallax recruitment parts` writes it",
            remedy=again,
        ) from error
    if missing := [name for name in (_CODE, *runs) if seen.count(name) != 1]:
        lacks = [name for name in missing if name not in seen]
        problem = f"lacks the column(s) {', '.join(lacks)}" if lacks else (
            f"has the column(s) {', '.join(missing)} more than once"
        )  # fmt: skip
        raise AnalysisError(
            f"the table of codes {problem}",
            where=str(path),
            expected=f"the columns {', '.join((_CODE, *runs))}, each of them once",
            remedy=again,
        )
    if problem := _unsound(rows, runs):
        raise AnalysisError(
            f"the table of codes {problem}",
            where=str(path),
            expected="a row for each person: a code that no other row has, and in each run's "
            "column one participant, or nothing",
            remedy=again,
        )
    return {run: {row[run]: row[_CODE] for row in rows if row[run]} for run in runs}


def _unsound(rows: _Rows, runs: Sequence[str]) -> str:
    """Return why the table of codes is invalid; empty if it is valid."""
    blank = [row for row in rows if not row[_CODE]]
    if people := [row[run] for row in blank for run in runs if row[run]]:
        return f"has no code for {_listed(people)}"
    if twice := _repeated(row[_CODE] for row in rows if row not in blank):
        return f"has the code(s) {_listed(twice)} in several rows"
    for run in runs:
        if twice := _repeated(row[run] for row in rows if row[run]):
            return f"names the participant(s) {_listed(twice)} of the run {run} in several rows"
    return ""


def _repeated(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _SHOWN
    return ", ".join(values[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


_MARK = "@"
OF_TRIALS = ("trials", "responses", "readings")


def apart(parts: Sequence[Part]) -> tuple[pd.DataFrame, list[Part]]:
    """Return the items of all parts, and the parts with their items renamed where ids collide."""
    items, renamed = together([part.run.items for part in parts])
    found = []
    for part, names in zip(parts, renamed, strict=True):
        tables = {
            table: frame.assign(item_id=frame["item_id"].astype(str).replace(names))
            for table in OF_TRIALS
            if (frame := getattr(part.run, table)) is not None and "item_id" in frame
        }
        found.append(replace(part, run=replace(part.run, **tables)))
    return items, found


def together(tables: Sequence[pd.DataFrame]) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Return the items of all parts, and for each part a mapping of renamed item ids.

    Items with the same id but other words or another condition get the suffix ``@`` plus the number
    of the first part that contains them, from 1; so do their frames.

    Args:
        tables: Each part's items, in the order of sessions.
    """
    taken = {str(name) for items in tables for name in items["item_id"]}
    used: set[str] = set()
    rows: list[dict[str, str]] = []
    ids: dict[tuple[tuple[str, str], ...], str] = {}
    renamed = []
    for place, items in enumerate(tables, start=1):
        names = {}
        for row in items.astype(str).to_dict("records"):
            own = {str(key): str(value) for key, value in row.items()}
            name, content = own["item_id"], tuple(sorted(own.items()))
            if content not in ids:
                ids[content] = _marked(name, place, taken) if name in used else name
                used.add(ids[content])
                if ids[content] != name:
                    frame = f"{own['frame']}{_MARK}{place}" if own["frame"] else ""
                    own |= {"item_id": ids[content], "frame": frame}
                rows.append(own)
            if ids[content] != name:
                names[name] = ids[content]
        renamed.append(names)
    return pd.DataFrame(rows).fillna(""), renamed


def _marked(name: str, place: int, taken: set[str]) -> str:
    """Return an id for a part's item that no other item has, and mark it as taken."""
    marked = f"{name}{_MARK}{place}"
    while marked in taken:
        marked += _MARK
    taken.add(marked)
    return marked
