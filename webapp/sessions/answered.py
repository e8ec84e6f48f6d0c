"""Which of a participant's trials have an answer, as parts of statements.

An answer is looked up by its trial in a subquery of its own. Joined, PostgreSQL would rather read
every answer there is: it plans by what the tables held when their statistics were made, and in the
first minute of a crowd it has none.
"""

from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, func, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from webapp.database.models import Response, Trial


def of_answer(
    column: InstrumentedAttribute[Any], trial_id: ColumnElement[int] | InstrumentedAttribute[int]
) -> ScalarSelect[Any]:
    """Return a column of a trial's answer; null where it has none."""
    answer = aliased(Response)
    found = select(getattr(answer, column.key)).where(answer.trial_id == trial_id)
    return found.scalar_subquery()


def how_many(
    participant_id: ColumnElement[int] | InstrumentedAttribute[int] | int,
) -> Select[int, int]:
    """Return what counts a participant's answered trials, and all of them."""
    trial = aliased(Trial)
    answered = func.count(of_answer(Response.id, trial.id))
    return select(answered, func.count(trial.id)).where(trial.participant_id == participant_id)


def unanswered(
    participant_id: ColumnElement[int] | InstrumentedAttribute[int] | int,
) -> ScalarSelect[int]:
    """Return how many trials of a participant have no answer."""
    both = how_many(participant_id)
    answered, all_ = both.selected_columns
    return both.with_only_columns(all_ - answered).scalar_subquery()
