"""Mixed sessions: the trials of each task, as an export of a study with only that task."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from analysis.data.load import SESSION_COLUMN, ExportedRun
from analysis.data.scales import find_scales, make_study_of_part, select_scale
from analysis.errors import AnalysisError
from experiment.plugins import unknown_name
from experiment.responses.base import ResponseType
from experiment.responses.registry import known_response, tables_shown
from experiment.studies.study import Study

_TASK_COLUMN = "task"


def split_run(run: ExportedRun, task: str, out: Path) -> Iterator[tuple[ExportedRun, Path]]:
    """Yield each run to compare separately, and the folder of its report.

    Args:
        run: The exported run.
        task: The only task or scale to compare; empty for all, each in a folder of its name, or for
            a run with one type of trial.
        out: The folder for all reports.

    Raises:
        AnalysisError: The run has no such task.
    """
    if scales := find_scales(run.study):
        for name in [task] if task else scales.named_scales:
            yield select_scale(run, scales, name), out if task else out / name
        return
    mixed_tasks = _find_tasks(run.study)
    if task or mixed_tasks is None:
        yield (select_task(run, task) if task else run), out
        return
    for name in mixed_tasks.types:
        yield select_task(run, name), out / name


def select_task(run: ExportedRun, task: str) -> ExportedRun:
    """Return the trials of one task of mixed sessions, as a run with only that task.

    Participants, verdicts and questionnaires stay unchanged: verdicts apply to the whole session.

    Args:
        run: The exported run.
        task: The task's name.

    Raises:
        AnalysisError: The task does not exist, or none of its trials was answered.
    """
    response = _find_tasks(run.study)
    if response is None:
        raise AnalysisError(
            f'the study "{run.study.name}" has no tasks: its response is "{run.study.response}"',
            where=str(run.folder),
            remedy="Leave the task out",
        )
    if task not in response.types:
        raise AnalysisError(
            unknown_name("task", task, response.types).problem,
            where=str(run.folder),
            expected=f"one of {', '.join(response.types)}",
        )
    of_trials, of_responses = tables_shown(response.types[task])
    responses = _rows_of_task(run.responses, task, of_responses.column_names)
    if responses.empty:
        raise AnalysisError(
            f'nobody answered a trial of the task "{task}"',
            where=str(run.folder),
            expected="answers to its trials",
        )
    constructions = set(
        run.items.loc[run.items["item_id"].isin(responses["item_id"]), "construction"]
    )
    study = make_study_of_part(run.study, response, task).model_copy(
        update={
            "constructions": [
                construction
                for construction in run.study.constructions
                if construction.name in constructions
            ]
        }
    )
    return replace(
        run,
        study=study,
        trials=_rows_of_task(run.trials, task, of_trials.column_names),
        responses=responses,
        readings=_readings_of_task(run, responses, response.types[task]),
        whole_study=run.study,
        part=task,
    )


def _find_tasks(study: Study) -> ResponseType | None:
    """Return the type of mixed sessions; None if the sessions have one type of trial."""
    response = known_response(study)
    return response if response and response.types else None


def _rows_of_task(frame: pd.DataFrame, task: str, known_columns: Sequence[str]) -> pd.DataFrame:
    columns = [name for name in frame.columns if name in known_columns or name == SESSION_COLUMN]
    part = frame.loc[frame[_TASK_COLUMN] == task, columns].reset_index(drop=True)
    for name in part.select_dtypes("category").columns:
        part[name] = part[name].cat.remove_unused_categories()
    return part


def _readings_of_task(
    run: ExportedRun, responses: pd.DataFrame, response: ResponseType
) -> pd.DataFrame | None:
    """Return the reading steps of the answered trials; None if the task is not read in steps."""
    if response.step_table is None or run.readings is None:
        return None
    keys = ["participant", "position"]
    answered = pd.MultiIndex.from_frame(responses[keys].astype({"participant": str}))
    index = pd.MultiIndex.from_frame(run.readings[keys].astype({"participant": str}))
    columns = [name for name in run.readings.columns if name in response.step_table.column_names]
    return run.readings.loc[index.isin(answered), columns].reset_index(drop=True)
