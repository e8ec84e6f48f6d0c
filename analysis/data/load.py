"""Load the inputs of a comparison: an export folder and files of model scores."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from pydantic import ValidationError

from analysis.data.facts import RunFacts, ScoreFacts
from analysis.data.frames import open_parquet, read_exported_table, read_parquet
from analysis.data.own_columns import prefix_own_columns
from analysis.data.score_sums import refuse_impossible_scores
from analysis.errors import AnalysisError
from experiment.errors import describe_validation_error, why_unread
from experiment.responses.registry import known_response, tables_shown
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.column import JUDGE, MODEL, Column, TableSchema
from experiment.tables.schemas import (
    ANSWERS,
    ITEMS,
    PARTICIPANTS,
    RESPONSES,
    SCORES,
    TRIALS,
    VERDICTS,
)

# The name of the human participants in tables of judges.
PEOPLE = "people"
_DESCRIPTION = "datapackage.json"
_PARTICIPANT_COLUMNS = (
    "participant", "number", "simulated", "state", "list", "place", "consented_at",
    JUDGE.name,
)  # fmt: skip
# The session in which an answer was given; trials and judgments have this column only
# if the run has several parts (``analysis.data.longitudinal``).
SESSION_COLUMN = "session"
# Participants are ordered by their position in the design: references are drawn
# anew in each run, and resampling must not depend on them.
_PLACE_COLUMNS = ["list", "place", "number"]
_TRIAL_COLUMNS = ("participant", "position", "item_id", "kind", "good_side", JUDGE.name)
_RESPONSE_COLUMNS = (
    "participant",
    "position",
    "item_id",
    "chosen_side",
    "chose_good",
    "rt_ms",
    "input_method",
    JUDGE.name,
)
_VERDICT_COLUMNS = ("participant", "kept", "rule")
_SCORE_COLUMNS = (
    "item_id",
    "construction",
    "condition",
    "contrast",
    "variant",
    "logprob_nats",
    "n_unknown",
)


Facts = TypeVar("Facts", bound=ScoreFacts)


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """An export folder, read and checked; each frame has the columns that analyses need.

    Texts of trials and responses may be categorical, since there may be millions of rows. Judgments
    are analysed in the order of the participants; the order does not depend on their random
    references, so that random draws are reproducible.
    """

    folder: Path
    facts: RunFacts
    study: Study
    items: pd.DataFrame
    participants: pd.DataFrame
    trials: pd.DataFrame
    responses: pd.DataFrame
    verdicts: pd.DataFrame
    answers: pd.DataFrame | None = None  # questionnaire answers; None if the run has none
    readings: pd.DataFrame | None = None  # one row per word; None unless read in steps
    parts: tuple["ExportedRun", ...] = ()  # the exported parts, if the run joins several
    # The ends of imported ratings whose scale has no points from 1, such as a slider's.
    rating_ends: tuple[float, float] | None = None
    whole_study: Study | None = None  # with all tasks or scales, if the run has one of them alone
    part: str = ""  # the name of that task or scale

    @property
    def of_parts(self) -> bool:
        """Whether the run joins several parts of a study (see ``analysis.data.longitudinal``)."""
        return SESSION_COLUMN in self.trials


@dataclass(frozen=True, slots=True)
class Scores:
    """A checked score file: one row per item and version; texts may be categorical."""

    path: Path
    facts: ScoreFacts
    frame: pd.DataFrame


def load_run(folder: Path, *, models: bool = False) -> ExportedRun:
    """Read and check an export folder.

    Args:
        folder: The folder.
        models: Whether to expect model participants instead of human ones.

    Raises:
        AnalysisError: The folder is not an export, its description is incomplete, or its answers
            are not from the expected kind of judge.
        TableError: A table is missing or violates its schema.
        StudyError: The study folder in the export is invalid.
    """
    facts = _read_run_facts(folder)
    study = load_study(str(folder / "study"))
    of_trials, of_responses = _response_tables(study)
    of_people = PARTICIPANTS.with_columns(_score_columns(study))
    judge_tables = require_one_judge(
        {
            name: read_exported_table(schema, folder, columns, categorical=schema is not of_people)
            for name, schema, columns in (
                (
                    "participants",
                    of_people,
                    (*_PARTICIPANT_COLUMNS, *(column.name for column in _score_columns(study))),
                ),
                ("trials", of_trials, _columns_to_read(of_trials, TRIALS, _TRIAL_COLUMNS)),
                (
                    "responses",
                    of_responses,
                    _columns_to_read(of_responses, RESPONSES, _RESPONSE_COLUMNS),
                ),
            )
        },
        folder,
        models=models,
    )
    return ExportedRun(
        folder=folder,
        facts=facts,
        study=study,
        items=prefix_own_columns(
            read_exported_table(ITEMS, folder, ITEMS.column_names, extended=True)
        ),
        participants=_order_by_place(judge_tables["participants"]),
        trials=judge_tables["trials"],
        responses=_check_times(judge_tables["responses"], folder),
        verdicts=read_exported_table(VERDICTS, folder, _VERDICT_COLUMNS),
        answers=read_exported_table(ANSWERS, folder, ANSWERS.column_names),
        readings=_read_steps(study, folder),
    )


def _read_steps(study: Study, folder: Path) -> pd.DataFrame | None:
    """Return the measurements of each word; None unless the study is read step by step."""
    response = known_response(study)
    if response is None or response.step_table is None:
        return None
    table = response.step_table
    return read_exported_table(table, folder, table.column_names, categorical=True)


def _check_times(responses: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return the responses after checking that no reaction time is infinite or negative."""
    times = responses["rt_ms"].dropna().to_numpy(dtype=float)
    wrong = times[~(np.isfinite(times) & (times >= 0))]
    if len(wrong):
        raise AnalysisError(
            f"rt_ms is {wrong[0]:g} in {len(wrong)} of {len(responses)} responses",
            where=str(folder / "responses"),
            expected="milliseconds, a finite number from 0, or nothing where none was measured",
        )
    return responses


def _response_tables(study: Study) -> tuple[TableSchema, TableSchema]:
    """Return the tables of trials and responses, with the columns of the study's response type."""
    response = known_response(study)
    return tables_shown(response) if response else (TRIALS, RESPONSES)


def _score_columns(study: Study) -> tuple[Column, ...]:
    """Return the columns of participants' scores, if the study has word tests."""
    response = known_response(study)
    return response.score_columns if response else ()


def _columns_to_read(
    table: TableSchema, usual: TableSchema, columns: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns to read, plus those that the table adds to the standard one."""
    return (*columns, *(name for name in table.column_names if name not in usual.column_names))


def _order_by_place(participants: pd.DataFrame) -> pd.DataFrame:
    """Return the participants in an order that does not depend on their references."""
    ordered = participants.sort_values(_PLACE_COLUMNS, kind="stable", ignore_index=True)
    return ordered.drop(columns=["number", "place"])


def _read_run_facts(folder: Path) -> RunFacts:
    path = folder / _DESCRIPTION
    if not path.is_file():
        raise AnalysisError(
            f"the folder holds no {_DESCRIPTION}",
            where=str(folder),
            expected="a folder that `parallax export RUN` wrote",
        )
    try:
        return RunFacts.model_validate(json.loads(path.read_text("utf-8"))["parallax"])
    except (ValueError, KeyError, TypeError) as error:
        raise _facts_error(error, path, 'its "parallax" entry') from error


def load_scores(path: Path) -> Scores:
    """Read and check a file of model scores.

    Raises:
        AnalysisError: The file does not name its model and materials.
        TableError: The file is missing or violates the schema.
    """
    frame = read_parquet(SCORES, path, _SCORE_COLUMNS, categorical=True)
    refuse_impossible_scores(path)
    return Scores(path, read_score_facts(path), frame)


def read_score_facts(path: Path) -> ScoreFacts:
    """Read the metadata of a score file, without the scores (see ``read_facts``)."""
    return read_facts(SCORES, path, ScoreFacts)


def read_facts(table: TableSchema, path: Path, kind: type[Facts]) -> Facts:
    """Read the metadata of a file of scores, which has the schema ``table``.

    Raises:
        AnalysisError: The file does not name its model and materials.
        TableError: The file is missing or not Parquet.
    """
    metadata = open_parquet(table, path).metadata.metadata or {}
    try:
        return kind.model_validate({k.decode(): v.decode() for k, v in metadata.items()})
    except ValueError as error:
        raise _facts_error(error, path, "the Parquet file's metadata") from error


def load_all_scores(paths: Sequence[Path]) -> list[Scores]:
    """Read several score files, each of a different model.

    Raises:
        AnalysisError: Two files are of the same model, or a model has the name that tables use for
            the human participants.
    """
    loaded = [load_scores(path) for path in paths]
    if clashing_paths := [
        str(model_scores.path) for model_scores in loaded if model_scores.facts.model == PEOPLE
    ]:
        raise AnalysisError(
            f'a model is called "{PEOPLE}", as the participants are in every table',
            where=", ".join(clashing_paths),
            remedy="Give the model another name and score the materials again",
        )
    if not loaded:
        return []
    model, count = Counter(scores.facts.model for scores in loaded).most_common(1)[0]
    if count > 1:
        files = ", ".join(str(scores.path) for scores in loaded if scores.facts.model == model)
        raise AnalysisError(
            f'{count} score files are for a model "{model}"',
            where=files,
            remedy="Leave out all but one of the files, or give the models different names",
        )
    return loaded


def _facts_error(error: Exception, path: Path, location: str) -> AnalysisError:
    if isinstance(error, ValidationError):
        validation_errors = error.errors(include_url=False)
        problem = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {describe_validation_error(e)}"
            for e in validation_errors
        )
    else:
        problem = f"it cannot be read ({why_unread(error)})"
    return AnalysisError(
        f"{location} does not say where the data come from: {problem}",
        where=str(path),
        remedy="Create the file again with the command that wrote it",
    )


def require_one_judge(
    tables: Mapping[str, pd.DataFrame], folder: Path, *, models: bool
) -> dict[str, pd.DataFrame]:
    """Remove the column for the kind of judge, after checking that all rows have the expected kind.

    Args:
        tables: The run's tables by name, each with that column.
        folder: The folder of the tables, for messages.
        models: Whether to expect model participants instead of human ones.

    Raises:
        AnalysisError: A row is of another kind of judge.
    """
    by_models = {
        name: (frame[JUDGE.name] == MODEL).to_numpy(bool) for name, frame in tables.items()
    }
    for name, is_model in by_models.items():
        if is_model.any() and not is_model.all():
            raise AnalysisError(
                f'the table "{name}" mixes judges: {int(is_model.sum())} of '
                f"{len(is_model)} rows are a language model's, the others people's",
                where=str(folder),
                expected="rows of people alone, or of models alone",
                remedy="Export the run again, and keep folders of model participants outside it",
            )
    for name, is_model in by_models.items():
        if is_model.size and is_model.any() != models:
            raise _wrong_judge_error(name, folder, models=models)
    return {name: frame.drop(columns=JUDGE.name) for name, frame in tables.items()}


def _wrong_judge_error(name: str, folder: Path, *, models: bool) -> AnalysisError:
    if models:
        return AnalysisError(
            f"the table \"{name}\" holds people's answers, not a model's",
            where=str(folder),
            expected="a folder that `parallax take` wrote",
            remedy="Give people's runs with --run",
        )
    return AnalysisError(
        f"the table \"{name}\" holds a language model's answers, not people's",
        where=str(folder),
        expected="a folder that `parallax export RUN` wrote",
        remedy="Give takers' folders with --takers in addition to the run of people",
    )
