"""What a study declares about its data: repeated units, between-participant factors, deadline.

The unit that repeats over conditions is the sampling unit of intervals and random effects.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.load import ExportedRun
from analysis.data.own_columns import PREFIX
from experiment.responses.answer import LATE_COLUMN
from experiment.responses.base import ResponseType
from experiment.responses.registry import known_response
from experiment.tables.schemas import PARTICIPANTS

UNIT = "frame"
Codes = NDArray[np.intp]


def participant_columns(run: ExportedRun) -> tuple[str, ...]:
    """Return the columns of judgments that are constant within a participant."""
    study = run.study
    names = {question.name for question in study.questionnaire} | _score_names(run)
    covariates = [name for name in study.analysis.covariates if name in names]
    return tuple(f"{PREFIX}{name}" for name in (*study.design.factors, *covariates))


def add_participant_columns(judgments: pd.DataFrame, run: ExportedRun) -> pd.DataFrame:
    """Add the levels of between-participant factors, and chosen answers and scores, to judgments.

    Each new column is named ``own_`` plus the name of the factor, question or score, like the
    columns that the study adds to its items. Answers are numbers if all of them are numeric. A
    level is empty if the participant's list is unknown.
    """
    new_columns = {}
    for name in run.study.design.factors:
        lists = judgments["list"].dropna().unique().tolist()
        levels = {
            list_number: run.study.design.levels(int(list_number))[name] for list_number in lists
        }
        new_columns[f"{PREFIX}{name}"] = judgments["list"].map(levels).fillna("").astype("category")
    people = judgments["participant"].astype(str)
    for column in participant_columns(run)[len(new_columns) :]:
        answers = _values_by_person(run, column.removeprefix(PREFIX))
        values = people.map(answers)
        numbers = pd.to_numeric(values, errors="coerce")
        is_answered = values.notna() & (values != "")
        is_numeric = bool(numbers[is_answered].notna().all())
        new_columns[column] = numbers if is_numeric else values.fillna("").astype("category")
    return judgments.assign(**new_columns)


def _score_names(run: ExportedRun) -> set[str]:
    return set(map(str, run.participants)) - set(PARTICIPANTS.column_names)


def _values_by_person(run: ExportedRun, field: str) -> dict[str, object]:
    """Return each participant's score of this name, or else the answer to the question."""
    if field in _score_names(run):
        people = run.participants["participant"].astype(str)
        return dict(zip(people, run.participants[field], strict=True))
    if run.answers is None:
        return {}
    rows = run.answers[run.answers["field"] == field]
    return dict(zip(rows["participant"].astype(str), rows["value"].astype(str), strict=True))


def number_frames(items: pd.DataFrame) -> Codes:
    """Return the frame number of each item; items made from one template share a frame.

    The items of a frame share all words except those that the conditions change. They are not
    independent: a frame that is hard in one condition is hard in the others. An item without a
    frame is its own frame.

    Args:
        items: The table of items; its order decides the numbers, from 0.
    """
    frame = items["frame"].astype(str)
    has_no_frame = (frame == "").to_numpy()
    key = items["template"].astype(str) + "\0" + frame
    key = key.where(~has_no_frame, "\0" + items["item_id"].astype(str))
    return pd.factorize(key)[0].astype(np.intp)


def clustering_column(judgments: pd.DataFrame) -> str:
    """Return the column that clusters judgments, in addition to their participants.

    The column is the frame if judgments have one; otherwise the item.
    """
    return UNIT if UNIT in judgments else "item_id"


def response_with_deadline(run: ExportedRun) -> ResponseType | None:
    """Return the response type of a run if its trials had a deadline; else None."""
    if LATE_COLUMN.name not in run.responses:
        return None
    response = known_response(run.study)
    return response if response and response.deadline_ms is not None else None


def find_late_responses(run: ExportedRun) -> NDArray[np.bool_]:
    """Return which responses came after the deadline; False without a measured time."""
    is_late: NDArray[np.bool_] = (
        run.responses[LATE_COLUMN.name].astype("boolean").fillna(value=False).to_numpy(dtype=bool)
    )
    return is_late


def find_dropped_late_responses(run: ExportedRun) -> NDArray[np.bool_] | None:
    """Return which late responses the analysis leaves out; None if the study leaves out none.

    Responses after the deadline are left out unless ``late_answers`` keeps them.
    """
    response = response_with_deadline(run)
    return (
        find_late_responses(run)
        if response is not None and response.late_answers == "drop"
        else None
    )
