"""Sources of the sessions to take: a study with audited lists, or the participants of a run."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.data.frames import read_exported_table
from analysis.errors import AnalysisError
from experiment.authoring.check import require_sound
from experiment.design.lists import BuiltLists
from experiment.plugins import unknown_name
from experiment.records import Kind, ListEntry, Side, Trial
from experiment.responses.base import GivenAnswer, ResponseType
from experiment.responses.registry import tables_shown
from experiment.studies.files import study_files
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.column import TableSchema
from experiment.tables.schemas import PARTICIPANTS
from experiment.takers.session import Screens, TakerSession

_DESCRIPTION = "datapackage.json"


@dataclass(frozen=True, slots=True)
class Source:
    """The study that provides the sessions.

    Attributes:
        study: The study.
        built: Its lists, which passed the audit.
        export: The run's export folder; None for a study.
    """

    study: Study
    built: BuiltLists
    export: Path | None = None

    @property
    def files_hash(self) -> str:
        """A hash that changes when any of the study's files changes."""
        digest = hashlib.sha256()
        for name, content in sorted(study_files(self.study).items()):
            digest.update(f"{name}\n{hashlib.sha256(content).hexdigest()}\n".encode())
        return digest.hexdigest()


def find_source(study_or_export: str, seed: int | None) -> Source:
    """Return a study with its lists, or those of the run in an export folder.

    Args:
        study_or_export: A built-in study, a study folder, or an export folder.
        seed: The seed of the lists; None for the run's own, or 1.

    Raises:
        ParallaxError: The study does not exist or is invalid, its lists fail the audit, or the
            materials of the export's study differ from the run's.
    """
    export = Path(study_or_export)
    if not (export / _DESCRIPTION).is_file():
        study = load_study(study_or_export)
        return Source(study, require_sound(study, 1 if seed is None else seed).built)
    facts = json.loads((export / _DESCRIPTION).read_text("utf-8")).get("parallax", {})
    study = load_study(str(export / "study"))
    if seed is not None and seed != facts.get("seed"):
        raise AnalysisError(
            f"the run has the seed {facts.get('seed')}, but --seed is {seed}",
            where=study_or_export,
            remedy="Leave --seed out to take the sessions that the run's people had",
        )
    built = require_sound(study, int(facts["seed"]), launched=True).built
    if built.materials_hash != facts.get("materials_hash"):
        raise AnalysisError(
            f"the materials have changed since the run: their hash is {built.materials_hash[:12]}, "
            f"the run's {str(facts.get('materials_hash'))[:12]}",
            where=str(export / "study"),
            expected="the study as it was exported",
            remedy="Export the run again, or name the study itself to take its present sessions",
        )
    return Source(study, built, export)


# A participant's answers, by trial position.
Answers = Mapping[int, GivenAnswer]


@dataclass(frozen=True, slots=True)
class Person:
    """A participant of the run whose session the model takes.

    Attributes:
        ref: The participant's random reference in the export.
        session: The trials as the participant saw them.
        answers: The participant's answers; trials without an answer are absent.
    """

    ref: str
    session: TakerSession
    answers: Answers


def find_people(source: Source, screens: Screens, refs: Sequence[str]) -> tuple[Person, ...]:
    """Return the named participants of the run that a source was exported from, in order.

    Args:
        source: An exported run.
        screens: Prepares the trials.
        refs: The participants' references.

    Raises:
        UnknownNameError: A participant is not in the run.
        AnalysisError: The source is a study without participants, a participant had no trials, or
            had a trial that is not in their list.
        TableError: A table is missing or violates its schema.
    """
    if source.export is None:
        raise AnalysisError(
            "--participant names somebody of a run, but a study was given, which nobody has taken",
            where=source.study.name,
            expected="the folder of an exported run",
            remedy="Name the folder that `parallax export RUN` wrote",
        )
    trial_table, response_table = tables_shown(screens.response)
    people = read_exported_table(PARTICIPANTS, source.export, ("participant", "list", "place"))
    of_trials = _group_by_person(_read_columns(trial_table, source.export, _TRIAL_COLUMNS))
    of_answers = _group_by_person(_read_columns(response_table, source.export, _ANSWER_COLUMNS))
    places = {str(row["participant"]): row for row in people.to_dict("records")}
    people_ = []
    for number, ref in enumerate(dict.fromkeys(refs), start=1):
        if ref not in places:
            raise unknown_name("participant", ref, places)
        if ref not in of_trials:
            raise AnalysisError(
                f'the participant "{ref}" was shown no trial',
                where=str(source.export),
                expected="somebody who took part",
            )
        session = _make_session(source, screens, number, places[ref], of_trials[ref])
        people_.append(Person(ref, session, dict(_parse_answers(of_answers.get(ref, [])))))
    return tuple(people_)


_TRIAL_COLUMNS = ("participant", "position", "item_id", "kind", "good_side", "options")
_ANSWER_COLUMNS = ("participant", "position", "chosen_side", "rating")
Row = Mapping[Any, Any]


def _read_columns(table: TableSchema, folder: Path, columns: Sequence[str]) -> pd.DataFrame:
    return read_exported_table(
        table, folder, [name for name in columns if name in table.column_names]
    )


def _group_by_person(frame: pd.DataFrame) -> dict[str, list[Row]]:
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    rows_by_person: dict[str, list[Row]] = {}
    for row in rows:
        rows_by_person.setdefault(str(row["participant"]), []).append(row)
    return rows_by_person


def _make_session(
    source: Source, screens: Screens, number: int, place: Row, rows: Sequence[Row]
) -> TakerSession:
    list_ = int(place["list"])
    by_id = {entry.item.item_id: entry for entry in source.built.lists[list_]}
    trials = tuple(
        screens.trial(_make_trial(row, entry, screens.response), entry)
        for row in sorted(rows, key=lambda row: int(row["position"]))
        for entry in [_find_list_entry(source, by_id, row)]
    )
    return TakerSession(number, list_, int(place["place"] or 0), trials)


def _find_list_entry(source: Source, by_id: Mapping[str, ListEntry], row: Row) -> ListEntry:
    item_id = str(row["item_id"])
    if item_id not in by_id:
        raise AnalysisError(
            f'the participant "{row["participant"]}" was shown the item "{item_id}", which is not '
            "in their list",
            where=str(source.export),
            expected="trials of the study as it was exported",
            remedy="Export the run again",
        )
    return by_id[item_id]


def _make_trial(row: Row, entry: ListEntry, response: ResponseType) -> Trial:
    side = Side(str(row["good_side"])) if row["good_side"] else None
    options = tuple(str(row.get("options") or "").split())
    points = response.arrangement(entry.item, options).points if options else None
    return Trial(
        int(row["position"]), entry.item.item_id, Kind(str(row["kind"])), side, options, points
    )


def _parse_answers(rows: Sequence[Row]) -> Iterator[tuple[int, GivenAnswer]]:
    for row in rows:
        if row.get("rating") is not None:
            yield int(row["position"]), GivenAnswer(rating=int(row["rating"]))
        elif row.get("chosen_side"):
            yield int(row["position"]), GivenAnswer(side=Side(str(row["chosen_side"])))
