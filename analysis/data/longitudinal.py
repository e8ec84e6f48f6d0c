"""Join the separately exported parts of one study into one run of returning participants."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from analysis.data.load import SESSION_COLUMN, ExportedRun
from analysis.errors import AnalysisError
from experiment.errors import find_repeated, why_unread
from experiment.participation import State
from experiment.studies.study import Construction

_CODE_COLUMN = "code"
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


def order_parts(runs: Sequence[ExportedRun], codes: Path) -> list[Part]:
    """Return the parts in the order of their sessions.

    Args:
        runs: The exports.
        codes: The table written by ``parallax recruitment parts``.

    Raises:
        AnalysisError: A run is given twice, or the table cannot be read, lacks a run, or does not
            match each participant to exactly one code.
    """
    names = [run.facts.run for run in runs]
    if repeated := find_repeated(names):
        raise AnalysisError(
            f"the run {repeated[0]} is given {names.count(repeated[0])} times, so each of its "
            "judgments would count several times",
            where=", ".join(str(run.folder) for run in runs if run.facts.run == repeated[0]),
            expected="each part once",
            remedy="Give each run once, with its own --run",
        )
    table = _read_codes(codes, names)
    parts = [Part(run, run.facts.session, table[run.facts.run]) for run in runs]
    return sorted(parts, key=lambda part: part.session)


def _read_codes(path: Path, runs: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the code of each participant, by run."""
    remedy = f"Write the table again: parallax recruitment parts {' '.join(runs)} --out {path.name}"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [{key: (row[key] or "").strip() for key in row if key} for row in reader]
            headers = list(reader.fieldnames or [])
    except (OSError, ValueError, csv.Error) as error:
        raise AnalysisError(
            f"the table of codes cannot be read ({why_unread(error)})",
            where=str(path),
            expected="a CSV file in UTF-8, as `parallax recruitment parts` writes it",
            remedy=remedy,
        ) from error
    if missing := [name for name in (_CODE_COLUMN, *runs) if headers.count(name) != 1]:
        absent = [name for name in missing if name not in headers]
        problem = f"lacks the column(s) {', '.join(absent)}" if absent else (
            f"has the column(s) {', '.join(missing)} more than once"
        )  # fmt: skip
        raise AnalysisError(
            f"the table of codes {problem}",
            where=str(path),
            expected=f"the columns {', '.join((_CODE_COLUMN, *runs))}, each of them once",
            remedy=remedy,
        )
    if problem := _describe_invalid_codes(rows, runs):
        raise AnalysisError(
            f"the table of codes {problem}",
            where=str(path),
            expected="a row for each person: a code that no other row has, and in each run's "
            "column one participant, or nothing",
            remedy=remedy,
        )
    return {run: {row[run]: row[_CODE_COLUMN] for row in rows if row[run]} for run in runs}


def _describe_invalid_codes(rows: _Rows, runs: Sequence[str]) -> str:
    """Return why the table of codes is invalid; empty if it is valid."""
    blank = [row for row in rows if not row[_CODE_COLUMN]]
    if people := [row[run] for row in blank for run in runs if row[run]]:
        return f"has no code for {_list_first(people)}"
    if repeated := find_repeated(row[_CODE_COLUMN] for row in rows if row not in blank):
        return f"has the code(s) {_list_first(repeated)} in several rows"
    for run in runs:
        if repeated := find_repeated(row[run] for row in rows if row[run]):
            in_words = _list_first(repeated)
            return f"names the participant(s) {in_words} of the run {run} in several rows"
    return ""


def _list_first(values: Sequence[str]) -> str:
    n_more = len(values) - _SHOWN
    return ", ".join(values[:_SHOWN]) + (f" and {n_more} more" if n_more > 0 else "")


_PART_MARK = "@"
TRIAL_TABLES = ("trials", "responses", "readings")


def rename_colliding_items(parts: Sequence[Part]) -> tuple[pd.DataFrame, list[Part]]:
    """Return the items of all parts, and the parts with their items renamed where ids collide."""
    items, renamed = join_items([part.run.items for part in parts])
    renamed_parts = []
    for part, names in zip(parts, renamed, strict=True):
        tables = {
            table: frame.assign(item_id=frame["item_id"].astype(str).replace(names))
            for table in TRIAL_TABLES
            if (frame := getattr(part.run, table)) is not None and "item_id" in frame
        }
        renamed_parts.append(replace(part, run=replace(part.run, **tables)))
    return items, renamed_parts


def join_items(tables: Sequence[pd.DataFrame]) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Return the items of all parts, and for each part a mapping of renamed item ids.

    Items with the same id but other words or another condition get the suffix ``@`` plus the number
    of the first part that contains them, from 1; so do their frames.

    Args:
        tables: Each part's items, in the order of sessions.
    """
    taken_ids = {str(name) for items in tables for name in items["item_id"]}
    used: set[str] = set()
    rows: list[dict[str, str]] = []
    ids: dict[tuple[tuple[str, str], ...], str] = {}
    renamed = []
    for number, items in enumerate(tables, start=1):
        names = {}
        for row in items.astype(str).to_dict("records"):
            values = {str(key): str(value) for key, value in row.items()}
            name, content = values["item_id"], tuple(sorted(values.items()))
            if content not in ids:
                ids[content] = _mark_id(name, number, taken_ids) if name in used else name
                used.add(ids[content])
                if ids[content] != name:
                    frame = f"{values['frame']}{_PART_MARK}{number}" if values["frame"] else ""
                    values |= {"item_id": ids[content], "frame": frame}
                rows.append(values)
            if ids[content] != name:
                names[name] = ids[content]
        renamed.append(names)
    return pd.DataFrame(rows).fillna(""), renamed


def _mark_id(name: str, number: int, taken: set[str]) -> str:
    """Return an id for a part's item that no other item has, and mark it as taken."""
    marked_id = f"{name}{_PART_MARK}{number}"
    while marked_id in taken:
        marked_id += _PART_MARK
    taken.add(marked_id)
    return marked_id


def join_parts(runs: Sequence[ExportedRun], codes: Path) -> ExportedRun:
    """Join the parts of a study into one run; a returning participant is one participant.

    A participant keeps the list of the first part. Trial positions are counted on from one part to
    the next; the column ``session`` gives each trial's part. Sessions in which a participant was
    excluded are left out; a participant who was kept in no part is excluded. Items with the same id
    but other words or another condition get new ids (``part_items``). Participants without a code
    (their data were erased, or they have no known origin) are left out.

    Args:
        runs: The parts, at least two.
        codes: The table written by ``parallax recruitment parts``: each code with its participant
            in each run.

    Raises:
        AnalysisError: A run is given twice, the table of codes is invalid or lacks a run, the parts
            have different response types, or a participant has no list in the first part or changes
            the level of a between-participant factor.
    """
    parts = order_parts(runs, codes)
    first_run = parts[0].run
    _refuse_other_tasks(parts)
    people = _join_participants(parts, codes)
    _refuse_other_levels(parts, people)
    exported = tuple(part.run for part in parts)
    items, parts = rename_colliding_items(parts)
    trials = _join_trial_tables(parts)
    verdicts = pd.concat([part.renamed(part.run.verdicts) for part in parts], ignore_index=True)
    return replace(
        first_run,
        folder=codes,
        facts=first_run.facts.model_copy(
            update={
                "run": " ".join(part.run.facts.run for part in parts),
                "still_filling": any(part.run.facts.still_filling for part in parts),
            }
        ),
        study=first_run.study.model_copy(
            # Exclusion rules were applied to each part separately.
            update={"constructions": _join_constructions(parts), "exclusion": []}
        ),
        items=items,
        participants=_collect_first_participant_rows(people),
        trials=trials["trials"],
        responses=trials["responses"],
        verdicts=_choose_verdicts(verdicts),
        answers=_collect_first_answers(parts),
        readings=trials.get("readings"),
        parts=exported,
    )


def _join_participants(parts: Sequence[Part], codes: Path) -> pd.DataFrame:
    """Return the participants of all parts, one row per participant and part."""
    people = pd.concat([part.renamed(part.run.participants) for part in parts], ignore_index=True)
    if people.empty:
        raise AnalysisError(
            "no participant of the runs is in the table of codes",
            where=str(codes),
            expected="the participants of the exports",
            remedy="Write the table again: parallax recruitment parts RUN1 RUN2",
        )
    return people


def _refuse_other_tasks(parts: Sequence[Part]) -> None:
    first_study = parts[0].run.study
    for part in parts[1:]:
        study = part.run.study
        task = (study.response, study.trial.parameters, study.design.factors)
        if task != (first_study.response, first_study.trial.parameters, first_study.design.factors):
            raise AnalysisError(
                f'the study "{study.name}" differs in its task from "{first_study.name}"',
                where=str(part.run.folder),
                expected="parts with the same response, parameters and factors between people",
                remedy="Compare this part by itself, with its --run alone",
            )


def _refuse_other_levels(parts: Sequence[Part], people: pd.DataFrame) -> None:
    """Raise if a participant's level of a between-participant factor differs between parts."""
    first_lists = people.drop_duplicates("participant").set_index("participant")["list"]
    _refuse_later_lists(parts, first_lists[first_lists.isna()].index)
    lists = first_lists.to_dict()
    levels = parts[0].run.study.design.levels
    for part in parts:
        participants = part.renamed(part.run.participants).dropna(subset="list")
        for person, number in zip(participants["participant"], participants["list"], strict=True):
            if part.run.study.design.levels(int(number)) != levels(int(lists[person])):
                raise AnalysisError(
                    f"the participant with the code {person} has other levels "
                    f"of the between-participant factors than in an earlier part",
                    where=str(part.run.folder),
                    expected="the same levels for each person in every part",
                    remedy="Compare this part by itself, with its --run alone",
                )


def _refuse_later_lists(parts: Sequence[Part], without: "pd.Index[str]") -> None:
    """Raise if a participant has a list in a later part but none in the first."""
    for part in parts:
        participants = part.renamed(part.run.participants).dropna(subset="list")["participant"]
        if len(late := participants[participants.isin(without)]):
            raise AnalysisError(
                f"the participant with the code {late.iloc[0]} has no list in their first "
                "part, but has one in this part",
                where=str(part.run.folder),
                expected="only people who were given a list, in the table of codes",
                remedy="Write the table again: parallax recruitment parts RUN1 RUN2",
            )


def _join_trial_tables(parts: Sequence[Part]) -> dict[str, pd.DataFrame]:
    """Return the trial tables of kept sessions, with positions that continue over the parts."""
    frames_by_table: dict[str, list[pd.DataFrame]] = {}
    offset = 0
    for part in parts:
        kept_participants = part.run.verdicts.loc[part.run.verdicts["kept"], "participant"].astype(
            str
        )
        for table in TRIAL_TABLES:
            if (frame := getattr(part.run, table)) is None:
                continue
            kept_rows = frame[frame["participant"].astype(str).isin(set(kept_participants))]
            kept_rows = kept_rows.assign(position=kept_rows["position"] + offset)
            if table == "trials":
                kept_rows = kept_rows.assign(**{SESSION_COLUMN: part.session})
            frames_by_table.setdefault(table, []).append(part.renamed(kept_rows))
        offset += int(part.run.trials["position"].max()) if len(part.run.trials) else 0
    return {
        table: pd.concat(frames, ignore_index=True) for table, frames in frames_by_table.items()
    }


def _join_constructions(parts: Sequence[Part]) -> list[Construction]:
    by_name = {
        construction.name: construction
        for part in reversed(parts)
        for construction in part.run.study.constructions
    }
    order = dict.fromkeys(
        construction.name for part in parts for construction in part.run.study.constructions
    )
    return [by_name[name] for name in order]


def _collect_first_participant_rows(people: pd.DataFrame) -> pd.DataFrame:
    """Return each participant's first row, marked as finished if every part was finished."""
    finished = people["state"].astype(str) == State.FINISHED.value
    order = people.assign(unfinished=~finished)
    state = order.sort_values("unfinished", ascending=False, kind="stable").drop_duplicates(
        "participant"
    )
    rows = people.drop_duplicates("participant", ignore_index=True)
    states = state.set_index("participant")["state"]
    return rows.assign(state=rows["participant"].map(states))


def _choose_verdicts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return one verdict per participant: kept if any part kept them, else the first part's."""
    order = verdicts.sort_values("kept", ascending=False, kind="stable")
    return order.drop_duplicates("participant", ignore_index=True)


def _collect_first_answers(parts: Sequence[Part]) -> pd.DataFrame | None:
    """Return each participant's first answer to each question; None without questionnaires."""
    answers = [part.renamed(part.run.answers) for part in parts if part.run.answers is not None]
    if not answers:
        return None
    return pd.concat(answers).drop_duplicates(["participant", "field"], ignore_index=True)
