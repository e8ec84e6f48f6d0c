"""Limit how many people may arrive from one network address.

The limit counts the arrivals of one hour. When a run is full, ``webapp.sessions.waitlist`` divides
its free places fairly among addresses. Visitors with a personal link, visitors confirmed by a
platform, and visitors with an unknown address are not counted. All servers of a database count
together. Each process remembers recently refused addresses, so that a flood of requests does not
reach the database.

Addresses are deleted after an hour. The fact that a participant is counted stays for as long as
they may take part: if they request a place after an hour, they are counted at their address then.
"""

from datetime import datetime, timedelta
from functools import cache
from hashlib import sha256
from threading import Lock

from sqlalchemy import (
    Dialect,
    Integer,
    String,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.core.i18n import gettext
from webapp.core.settings import Settings
from webapp.database.locks import advisory_lock
from webapp.database.models import ArrivalAddress, Participant
from webapp.database.models.base import UtcDateTime
from webapp.database.prepared import Prepared
from webapp.errors import RequestError

KEPT_FOR = timedelta(hours=1)
_OPEN_STATES = (State.ARRIVED, State.WORKING, State.ANSWERED, State.ABANDONED)
_REFUSAL_TIME = timedelta(seconds=5)
_MOST_REMEMBERED = 10_000


class CrowdedError(RequestError):
    """Too many people are arriving from one address at this moment."""

    def __init__(self) -> None:
        super().__init__(
            gettext("Many people are taking part right now. Please reload the page in a minute."),
            status=429,
            code="busy",
        )


class Refusals:
    """The addresses that this process refused in the last seconds."""

    def __init__(self) -> None:
        self._until: dict[str, datetime] = {}
        self._lock = Lock()

    def check(self, digest: str, now: datetime) -> None:
        """Raise an error if the address was refused recently.

        Raises:
            CrowdedError: A visitor from the address was refused within the last seconds.
        """
        if self._until.get(digest, now) > now:
            raise CrowdedError

    def note(self, digest: str, now: datetime) -> None:
        """Refuse all visitors from an address for some seconds."""
        with self._lock:
            if len(self._until) >= _MOST_REMEMBERED:
                self._until.clear()
            self._until[digest] = now + _REFUSAL_TIME


class TooManyArrivalsError(CrowdedError):
    """The address has reached its limit of arrivals per hour."""


def wait_for_simultaneous_arrivals(session: Session, digest: str) -> None:
    """Wait for simultaneous arrivals from the same address to commit, so that they are counted."""
    if digest and session.get_bind().dialect.name == "postgresql":
        key = int.from_bytes(sha256(digest.encode()).digest()[:8], signed=True)
        advisory_lock(session.connection(), key, wait=True)


def count_arrival(
    session: Session, participant: Participant, digest: str, settings: Settings, now: datetime
) -> None:
    """Count a new arrival at its address, in the caller's transaction.

    Args:
        session: An open session that writes, and has waited for simultaneous arrivals.
        participant: The new participant, or one who declined before and agrees now; for any other
            participant, nothing happens.
        digest: The digest of their address; empty if it is unknown.
        settings: The installation's settings, which contain the limit.
        now: The time at which the participant arrived or agreed.

    Raises:
        TooManyArrivalsError: The address has reached its limit of arrivals per hour.
    """
    if not digest or now not in (participant.arrived_at, participant.consented_at):
        return
    session.flush()
    connection = session.connection()
    statements = _statements(connection.dialect)
    who, limit = participant.id, settings.arrivals_per_hour
    inserted = statements.insert_if_allowed.fetch(
        connection, who=who, digest=digest, at=now, since=now - KEPT_FOR, limit=limit
    )
    if not inserted and not statements.find_digest.fetch(connection, who=who):
        raise TooManyArrivalsError


def forget_addresses(session: Session, now: datetime) -> int:
    """Delete addresses older than an hour, and return for how many participants.

    Participants who may still take part stay counted, without an address.
    """
    old = ArrivalAddress.at <= now - KEPT_FOR
    may_continue = exists().where(
        Participant.id == ArrivalAddress.participant_id, Participant.state.in_(_OPEN_STATES)
    )
    deleted = delete(ArrivalAddress).where(old, ~may_continue)
    cleared = update(ArrivalAddress).where(old, ArrivalAddress.digest != "").values(digest="")
    return sum(
        len(session.execute(statement.returning(ArrivalAddress.participant_id)).all())
        for statement in (deleted, cleared)
    )


def update_counted_address(
    session: Session, participant: Participant, digest: str, now: datetime
) -> str:
    """Return the digest at which a returning participant is counted; empty if they are not counted.

    If their address was deleted after an hour, they are counted at their current address.

    Args:
        session: An open session that writes.
        participant: The returning participant.
        digest: The digest of their current address; empty if it is unknown.
        now: The time.
    """
    arrival_digest = find_arrival_digest(session, participant)
    if arrival_digest != "" or not digest:
        return arrival_digest or ""
    of_participant = ArrivalAddress.participant_id == participant.id
    session.execute(update(ArrivalAddress).where(of_participant).values(digest=digest, at=now))
    return digest


class _Statements:
    """The prepared statements that every arrival executes."""

    def __init__(self, dialect: Dialect) -> None:
        participant_id = bindparam("who", type_=Integer)
        digest = bindparam("digest", type_=String)
        at, since = (bindparam(name, type_=UtcDateTime) for name in ("at", "since"))
        of_participant = ArrivalAddress.participant_id == participant_id
        self.find_digest = Prepared(select(ArrivalAddress.digest).where(of_participant), dialect)
        n_recent = (
            select(func.count(ArrivalAddress.id))
            .where(ArrivalAddress.digest == digest, ArrivalAddress.at > since)
            .scalar_subquery()
        )
        limit = bindparam("limit", type_=Integer)
        allowed = select(participant_id, digest, at).where(
            or_(limit == 0, n_recent < limit), ~exists().where(of_participant)
        )
        self.insert_if_allowed = Prepared(
            insert(ArrivalAddress)
            .from_select(("participant_id", "digest", "at"), allowed)
            .returning(ArrivalAddress.id),
            dialect,
        )


# Prepared once per database dialect.
_statements = cache(_Statements)


def find_arrival_digest(session: Session, participant: Participant) -> str | None:
    """Return the digest of the address from which a participant came.

    Returns:
        None if the participant is not counted; empty if they came more than an hour ago.
    """
    session.flush()
    connection = session.connection()
    rows = _statements(connection.dialect).find_digest.fetch(connection, who=participant.id)
    return rows[0][0] if rows else None
