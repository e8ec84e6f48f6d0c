"""Convert stored trials, answers and traces to the form that response types and tables read."""

import json
from collections.abc import Generator, Mapping
from typing import Any, cast

from sqlalchemy import Select
from sqlalchemy.orm import Session

from experiment.records import Side
from experiment.responses.base import Arrangement, GivenAnswer
from experiment.responses.trace import read_trace
from experiment.tables.column import JUDGE, PERSON, PROGRAM
from webapp.database.models import Response, Run, Trial
from webapp.sessions.measurements import read_details, read_steps


def get_arrangement(trial: Trial) -> Arrangement:
    """Return the arrangement of a stored trial's screen."""
    side = Side(trial.good_side) if trial.good_side else None
    return Arrangement(side, tuple((trial.options or "").split()), trial.points)


def get_given_answer(stored: Response) -> GivenAnswer:
    """Return a stored answer."""
    return GivenAnswer(
        Side(stored.chosen_side) if stored.chosen_side else None,
        stored.rating,
        read_steps(stored.steps),
        read_details(stored.steps),
    )


def read_row_measures(row: Mapping[str, object]) -> dict[str, object]:
    """Return the steps and the details of a row of responses, of those that its query selects."""
    measures: dict[str, object] = {}
    if "n_steps" in row:
        measures["steps"] = read_steps(cast("str | None", row["n_steps"]))
    if "details" in row:
        measures["details"] = read_details(cast("str | None", row["details"]))
    return measures


def split_task(row: dict[str, object]) -> dict[str, object]:
    """Return a trial of a mixed session, its stored options split into task and options."""
    task, _, options = str(row["task"]).partition(" ")
    return row | {"task": task} | ({"options": options} if "options" in row else {})


def serialise_detail(row: dict[str, object]) -> dict[str, object]:
    """Return an event with its details as text."""
    return row | {"detail": json.dumps(row["detail"], ensure_ascii=False, sort_keys=True)}


_ROWS_AT_A_TIME = 2_000


def stream_trace_rows(
    session: Session, run: Run, query: Select[Any]
) -> Generator[dict[str, object]]:
    """Yield a row for each moment of each answered trial.

    Args:
        session: An open session.
        run: The run.
        query: Participant, position and trace of each answer that may be used.
    """
    judge = PROGRAM if run.simulated else PERSON
    with session.execute(query.execution_options(yield_per=_ROWS_AT_A_TIME)) as result:
        for person, position, trace in result:
            for number, moment in enumerate(read_trace(trace), start=1):
                yield {
                    "participant": person,
                    "position": position,
                    "moment": number,
                    "kind": moment.kind,
                    "at_ms": moment.at_ms,
                    "x_px": moment.x_px,
                    "y_px": moment.y_px,
                    JUDGE.name: judge,
                }
