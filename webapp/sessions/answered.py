"""Which of a participant's trials have an answer, as parts of statements.

An answer is looked up by its trial in a subquery of its own. Joined, PostgreSQL would rather read
every answer there is: it plans by what the tables held when their statistics were made, and in the
first minute of a crowd it has none.
"""

from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, case, func, select
from sqlalchemy.orm import InstrumentedAttribute, aliased

from webapp.database.models import Response, Trial


def of_answer(
    column: InstrumentedAttribute[Any], trial_id: ColumnElement[int] | InstrumentedAttribute[int]
) -> ScalarSelect[Any]:
    """Return a column of a trial's answer; null where it has none."""
    answer = aliased(Response)
    of_trial = select(getattr(answer, column.key)).where(answer.trial_id == trial_id)
    return of_trial.scalar_subquery()


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
    """Return how many trials of a participant have no answer.

    Trials that were dealt at once mostly have keys in a row, with nobody else's between them: then
    their answers stand in a row of the index, and are counted there. Where others were dealt
    theirs at the same moment, each is looked up.
    """
    trial, each, answer = aliased(Trial), aliased(Trial), aliased(Response)
    n = func.count(trial.id).label("n")
    theirs = (
        select(n, func.min(trial.id).label("first"), func.max(trial.id).label("last"))
        .where(trial.participant_id == participant_id)
        .correlate_except(trial)
        .subquery()
    )
    in_a_row = theirs.c.last - theirs.c.first + 1 == theirs.c.n
    keys = answer.trial_id.between(theirs.c.first, theirs.c.last)
    counted = select(func.count(answer.id)).where(keys).scalar_subquery()
    looked_up = (
        select(func.count(of_answer(Response.id, each.id)))
        .where(each.participant_id == participant_id)
        .correlate_except(each)
        .scalar_subquery()
    )
    left = theirs.c.n - case((in_a_row, counted), else_=looked_up)
    return select(left).scalar_subquery()
