"""Store a new participant and their trials.

Each is stored by a single statement, so that two simultaneous requests of one person create only
one participant.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, Integer, String, bindparam, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, make_transient_to_detached
from sqlalchemy.orm.attributes import instance_dict

from experiment.design.session import compose
from experiment.participation import State
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.core.tokens import new_reference
from webapp.database.models import Identity, Link, Participant, Run, Trial
from webapp.database.models.identity import identity_key
from webapp.database.prepared import Prepared
from webapp.sessions.assign import FreePlace
from webapp.sessions.lookup import is_of_link
from webapp.sessions.run_lists import find_run_list

_COLUMNS = tuple(column.name for column in Participant.__table__.columns if column.name != "id")
_EMPTY_ROW: dict[str, Any] = dict.fromkeys(_COLUMNS)


class _Statements:
    """The prepared statements that every arrival executes."""

    def __init__(self, dialect: Dialect) -> None:
        of_run = Participant.run_id == bindparam("run", type_=Integer)
        mark = Participant.visit_mark == bindparam("mark", type_=String)
        name = Identity.hash == bindparam("name", type_=Identity.hash.type)
        insert = sqlite.insert if dialect.name == "sqlite" else postgresql.insert
        this_run = Run.id == bindparam("run", type_=Integer)
        self.find_closing_time = Prepared(select(Run.closed_at).where(this_run), dialect)
        by_mark = select(Participant.id).where(of_run, mark)
        by_name = (
            select(Participant.id)
            .join(Identity, Identity.id == Participant.person_key)
            .where(of_run, name)
        )
        self.find_by_mark, self.find_by_name = (
            Prepared(select(Run.closed_at, known.scalar_subquery()).where(this_run), dialect)
            for known in (by_mark, by_name)
        )
        self.insert_participant = Prepared(
            insert(Participant).on_conflict_do_nothing().returning(Participant.id),
            dialect,
            _COLUMNS,
        )


# Prepared once per database dialect.
_statements = cache(_Statements)


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A visitor who is about to become a participant.

    Attributes:
        run: The run.
        at: The time of the arrival.
        platform_id: The platform's id of the visitor; None if unknown.
        visit_mark: The mark of the submitted consent page; used without a platform id.
        link: The invitation link that was used, if any.
    """

    run: Run
    at: datetime
    platform_id: str | None
    visit_mark: str | None
    link: Link | None

    def enter(self, session: Session, state: State, **columns: object) -> Participant | None:
        """Store the visitor and return the new participant; None if they are already one."""
        connection = session.connection()
        name = self.platform_id
        row = _EMPTY_ROW | {
            "run_id": self.run.id,
            "ref": new_reference(),
            "code": new_reference(),
            "person_key": None if name is None else identity_key(connection, name),
            "visit_mark": self.visit_mark,
            "link_id": None if self.link is None else self.link.id,
            "state": state,
            "watched": False,
            "arrived_at": self.at,
            **columns,
        }
        stored = _statements(connection.dialect).insert_participant.fetch(connection, **row)
        if not stored:
            return None
        # As if loaded: setting each attribute would record a change.
        participant = Participant()
        instance_dict(participant).update(row, id=stored[0][0], _platform_id=name)
        make_transient_to_detached(participant)
        session.add(participant)
        return participant


def find_known_participant(
    session: Session, run: Run, platform_id: str | None, visit_mark: str | None
) -> tuple[Participant | None, bool]:
    """Return the participant with this platform id or else with this visit mark, if any.

    The second value is whether the run is closed to new participants, according to the database
    now.
    """
    connection = session.connection()
    statements = _statements(connection.dialect)
    if platform_id is not None:
        rows = statements.find_by_name.fetch(connection, run=run.id, name=platform_id)
    elif visit_mark is not None:
        rows = statements.find_by_mark.fetch(connection, run=run.id, mark=visit_mark)
    else:
        return None, is_closed(connection, run.id)
    [(closed_at, id_)] = rows
    return session.get_one(Participant, id_) if id_ else None, closed_at is not None


def is_closed(connection: Connection, run_id: int) -> bool:
    """Return whether a run is closed to new participants, according to the database now."""
    rows = _statements(connection.dialect).find_closing_time.fetch(connection, run=run_id)
    return any(closed_at is not None for (closed_at,) in rows)


def may_still_agree(participant: Participant) -> bool:
    """Return whether the participant declined and no platform has been informed."""
    return participant.state == State.DECLINED and is_of_link(participant.platform_id)


_TRIAL_COLUMNS = ("participant_id", "position", "run_item_id", "good_side", "options", "points")


@cache
def _prepare_trials(dialect: Dialect) -> Prepared:
    """Return the statement that stores an arriving participant's trials, one per dialect."""
    return Prepared(insert(Trial), dialect, _TRIAL_COLUMNS)


def store_trials(
    session: Session,
    run: Run,
    study: Study,
    participant_id: int,
    place: FreePlace,
    number: int,
) -> None:
    """Store the trials of a participant whose place has just been stored.

    Args:
        session: An open session.
        run: The run.
        study: The run's study.
        participant_id: The participant.
        place: The place.
        number: The session's number, from 1, unique within the run.
    """
    connection = session.connection()
    items = find_run_list(connection, run, place.list)
    trials = compose(
        items.entries,
        seed=run.seed,
        list_=place.list,
        place=place.place,
        number=number,
        design=study.design,
        response=response_of(study),
    )
    _prepare_trials(connection.dialect).execute(
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
