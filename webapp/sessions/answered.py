"""SQL expressions for the answered and unanswered trials of a participant.

Each answer is looked up in a correlated subquery. With a join, PostgreSQL tends to read the whole
table of answers: it plans with table statistics, and in the first minute after many arrivals there
are none.
"""

from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, case, func, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from webapp.database.models import Response, Trial


def answer_column(
    column: InstrumentedAttribute[Any], trial_id: ColumnElement[int] | InstrumentedAttribute[int]
) -> ScalarSelect[Any]:
    """Return a subquery for a column of a trial's answer; null if the trial has none."""
    answer = aliased(Response)
    of_trial = select(getattr(answer, column.key)).where(answer.trial_id == trial_id)
    return of_trial.scalar_subquery()


def count_answered(
    participant_id: ColumnElement[int] | InstrumentedAttribute[int] | int,
) -> Select[int, int]:
    """Return a query for a participant's numbers of answered trials and of all trials."""
    trial = aliased(Trial)
    n_answered = func.count(answer_column(Response.id, trial.id))
    return select(n_answered, func.count(trial.id)).where(trial.participant_id == participant_id)


def count_unanswered(
    participant_id: ColumnElement[int] | InstrumentedAttribute[int] | int,
) -> ScalarSelect[int]:
    """Return a subquery for a participant's number of unanswered trials.

    Trials that were stored at once usually have consecutive keys. Their answers are then adjacent
    in the index and are counted there. If other participants' trials were stored at the same
    moment, each answer is looked up.
    """
    trial, other_trial, answer = aliased(Trial), aliased(Trial), aliased(Response)
    n = func.count(trial.id).label("n")
    own_trials = (
        select(n, func.min(trial.id).label("first"), func.max(trial.id).label("last"))
        .where(trial.participant_id == participant_id)
        .correlate_except(trial)
        .subquery()
    )
    are_consecutive = own_trials.c.last - own_trials.c.first + 1 == own_trials.c.n
    answers_in_range = answer.trial_id.between(own_trials.c.first, own_trials.c.last)
    count_query = select(func.count(answer.id)).where(answers_in_range).scalar_subquery()
    looked_up = (
        select(func.count(answer_column(Response.id, other_trial.id)))
        .where(other_trial.participant_id == participant_id)
        .correlate_except(other_trial)
        .scalar_subquery()
    )
    n_left = own_trials.c.n - case((are_consecutive, count_query), else_=looked_up)
    return select(n_left).scalar_subquery()
