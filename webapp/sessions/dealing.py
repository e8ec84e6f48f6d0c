"""Putting a session together: the trials of a place, in the order of its number."""

from functools import cache

from sqlalchemy import Connection, Dialect, Integer, bindparam, func, insert, select
from sqlalchemy.orm import Session

from experiment.design.session import compose, session_number
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.database.models import Participant, Run, Trial
from webapp.database.prepared import Prepared
from webapp.sessions.assign import FreePlace
from webapp.sessions.run_lists import run_list

_COLUMNS = ("participant_id", "position", "run_item_id", "good_side", "options", "points")


class _Statements:
    """What every arrival waits for, in one database's words."""

    def __init__(self, dialect: Dialect) -> None:
        run, list_, place = (bindparam(name, type_=Integer) for name in ("run", "list", "place"))
        self.holders = Prepared(
            select(func.count(Participant.id)).where(
                Participant.run_id == run, Participant.list == list_, Participant.place == place
            ),
            dialect,
        )
        self.store = Prepared(insert(Trial), dialect, _COLUMNS)


# Made once for each kind of database.
_statements = cache(_Statements)


def deal_trials(
    session: Session,
    run: Run,
    study: Study,
    participant_id: int,
    place: FreePlace,
    number: int | None = None,
) -> None:
    """Store the trials of a participant who has just got a place, and is stored with it.

    Args:
        session: An open session.
        run: The run.
        study: Its study.
        participant_id: The participant.
        place: The place.
        number: The session's, where it was drawn beforehand; by default the next of the place.
    """
    connection = session.connection()
    items = run_list(connection, run, place.list)
    trials = compose(
        items.entries,
        seed=run.seed,
        list_=place.list,
        place=place.place,
        number=number or _session_number(connection, run, study, place),
        design=study.design,
        response=response_of(study),
    )
    _statements(connection.dialect).store.do(
        connection,
        [
            {
                "participant_id": participant_id,
                "position": trial.position,
                "run_item_id": items.row_ids[trial.item_id],
                "good_side": trial.good_side or "",
                "options": " ".join(trial.options) or None,
                "points": trial.points,
            }
            for trial in trials
        ],
    )


def _session_number(connection: Connection, run: Run, study: Study, place: FreePlace) -> int:
    """Return a number from 1 that nobody else of the run has.

    Who takes over a place that became free gets the number of another round: it depends on the
    place alone, not on who happened to come first.
    """
    holders = _statements(connection.dialect).holders
    [(held,)] = holders.find(connection, run=run.id, list=place.list, place=place.place)
    return session_number(study.design, place.list, place.place, held - 1)
