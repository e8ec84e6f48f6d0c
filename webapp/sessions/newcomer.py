"""Store a new participant and their trials.

Each is stored by a single statement, so that two simultaneous requests of one person create only
one participant.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, Integer, String, bindparam, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, make_transient_to_detached
from sqlalchemy.orm.attributes import set_committed_value

from experiment.design.session import compose, session_number
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
        self.find_closing_time = Prepared(
            select(Run.closed_at).where(Run.id == bindparam("run", type_=Integer)), dialect
        )
        self.find_by_mark = Prepared(select(Participant.id).where(of_run, mark), dialect)
        self.find_by_name = Prepared(
            select(Participant.id)
            .join(Identity, Identity.id == Participant.person_key)
            .where(of_run, name),
            dialect,
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
        participant = Participant(id=stored[0][0], **row)
        set_committed_value(participant, "_platform_id", name)
        make_transient_to_detached(participant)
        session.add(participant)
        return participant


def find_known_participant(
    session: Session, run: Run, platform_id: str | None, visit_mark: str | None
) -> Participant | None:
    """Return the participant with this platform id or else with this visit mark, if any."""
    connection = session.connection()
    statements = _statements(connection.dialect)
    if platform_id is not None:
        rows = statements.find_by_name.fetch(connection, run=run.id, name=platform_id)
    elif visit_mark is not None:
        rows = statements.find_by_mark.fetch(connection, run=run.id, mark=visit_mark)
    else:
        return None
    return session.get_one(Participant, rows[0][0]) if rows else None


def is_closed(connection: Connection, run_id: int) -> bool:
    """Return whether a run is closed to new participants, according to the database now."""
    rows = _statements(connection.dialect).find_closing_time.fetch(connection, run=run_id)
    return any(closed_at is not None for (closed_at,) in rows)


def may_still_agree(participant: Participant) -> bool:
    """Return whether the participant declined and no platform has been informed."""
    return participant.state == State.DECLINED and is_of_link(participant.platform_id)


_TRIAL_COLUMNS = ("participant_id", "position", "run_item_id", "good_side", "options", "points")


class _TrialStatements:
    """The prepared statements that store an arriving participant's trials."""

    def __init__(self, dialect: Dialect) -> None:
        run, list_, place = (bindparam(name, type_=Integer) for name in ("run", "list", "place"))
        self.count_holders = Prepared(
            select(func.count(Participant.id)).where(
                Participant.run_id == run, Participant.list == list_, Participant.place == place
            ),
            dialect,
        )
        self.insert_trials = Prepared(insert(Trial), dialect, _TRIAL_COLUMNS)


# Prepared once per database dialect.
_trial_statements = cache(_TrialStatements)


def store_trials(
    session: Session,
    run: Run,
    study: Study,
    participant_id: int,
    place: FreePlace,
    number: int | None = None,
) -> None:
    """Store the trials of a participant whose place has just been stored.

    Args:
        session: An open session.
        run: The run.
        study: The run's study.
        participant_id: The participant.
        place: The place.
        number: The session number if it was drawn beforehand; by default the place's next number.
    """
    connection = session.connection()
    items = find_run_list(connection, run, place.list)
    trials = compose(
        items.entries,
        seed=run.seed,
        list_=place.list,
        place=place.place,
        number=number or _session_number(connection, run, study, place),
        design=study.design,
        response=response_of(study),
    )
    _trial_statements(connection.dialect).insert_trials.execute(
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
    """Return a session number, from 1, that is unique within the run.

    A participant who takes over a freed place gets the number of another round. The number depends
    on the place alone, not on the order of arrival.
    """
    holders = _trial_statements(connection.dialect).count_holders
    [(n_holders,)] = holders.fetch(connection, run=run.id, list=place.list, place=place.place)
    return session_number(study.design, place.list, place.place, n_holders - 1)
