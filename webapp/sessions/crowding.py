"""Limits on how many people may arrive from one network address.

Two limits: how many arrive from an address within an hour, and how many places of a run are held
from it at a time by people who have not answered a single trial. Visitors with a personal link, or
with a link that a platform signed, are not counted, nor are those whose address is unknown. All
servers of a database count together; each process remembers whom it has just refused, so that a
flood does not reach the database.
"""

from datetime import datetime, timedelta
from hashlib import sha256
from threading import Lock

from sqlalchemy import delete, exists, func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.core.i18n import gettext
from webapp.core.settings import Settings
from webapp.database.locks import advisory_lock
from webapp.database.models import ArrivalAddress, Participant, Response, RunCount, Trial
from webapp.database.row_counts import PLACES
from webapp.errors import RequestError

KEPT_FOR = timedelta(hours=1)
_REFUSED_FOR = timedelta(seconds=5)
_MOST_REMEMBERED = 10_000
# Of a small run too, somebody and whoever sits beside them can begin.
_ALWAYS = 2


class CrowdedError(RequestError):
    """Too many people come from one address at this moment."""

    def __init__(self) -> None:
        super().__init__(
            gettext(
                "Many people are taking part right now. Your answers so far are safe. Please reload"
                " the page in a few seconds."
            ),
            status=429,
            code="busy",
        )


class Refusals:
    """The addresses from which too many came a moment ago, in one process."""

    def __init__(self) -> None:
        self._until: dict[str, datetime] = {}
        self._lock = Lock()

    def check(self, digest: str, now: datetime) -> None:
        """Let visitors from other addresses pass.

        Raises:
            CrowdedError: Somebody from the address was refused within the last seconds.
        """
        if self._until.get(digest, now) > now:
            raise CrowdedError

    def note(self, digest: str, now: datetime) -> None:
        """Refuse everybody from an address for some seconds."""
        with self._lock:
            if len(self._until) >= _MOST_REMEMBERED:
                self._until.clear()
            self._until[digest] = now + _REFUSED_FOR


class TooManyArrivalsError(CrowdedError):
    """So many came from one address within an hour that nobody from there is looked at."""


def count_arrival(
    session: Session, participant: Participant, digest: str, settings: Settings, now: datetime
) -> bool:
    """Count new arrivals, in the caller's transaction; return whether there were any.

    Args:
        session: An open session that writes.
        participant: The new participant; for anybody who came before nothing happens.
        digest: Where they come from; empty where nobody knows.
        settings: The installation's: they hold the limit.
        now: The time, at which a newcomer arrived.

    Raises:
        TooManyArrivalsError: Too many came from there within an hour.
    """
    if not digest or participant.arrived_at != now:
        return False
    if session.get_bind().dialect.name == "postgresql":
        # Whoever comes from the same address at the same moment waits, and is then counted too.
        key = int.from_bytes(sha256(digest.encode()).digest()[:8], signed=True)
        advisory_lock(session.connection(), key, wait=True)
    if _from_where(session, participant) is not None:
        return False
    recent = select(func.count()).where(
        ArrivalAddress.digest == digest, ArrivalAddress.at > now - KEPT_FOR
    )
    most = settings.arrivals_per_hour
    if most and session.execute(recent).scalar_one() >= most:
        raise TooManyArrivalsError
    session.add(ArrivalAddress(participant_id=participant.id, digest=digest, at=now))
    session.flush()
    return True


def refuse_hoarding(session: Session, participant: Participant, settings: Settings) -> None:
    """Let a new participant pass, unless too many from there hold a place and answer nothing.

    Args:
        session: The session in which they got it.
        participant: They.
        settings: The installation's: they hold the limit.

    Raises:
        CrowdedError: They do; the caller must roll its transaction back.
    """
    digest = _from_where(session, participant)
    if digest is None or participant.state != State.WORKING or not settings.unanswered_places:
        return
    answered = exists().where(Trial.participant_id == Participant.id, Response.trial_id == Trial.id)
    held = (
        select(func.count(Participant.id))
        .join(ArrivalAddress, ArrivalAddress.participant_id == Participant.id)
        .where(ArrivalAddress.digest == digest, Participant.run_id == participant.run_id)
        .where(Participant.state == State.WORKING, Participant.id != participant.id, ~answered)
    )
    if session.execute(held).scalar_one() >= _most_of_run(session, participant, settings):
        raise CrowdedError


def forget_addresses(session: Session, now: datetime) -> int:
    """Delete where people came from once an hour is over, and return of how many."""
    old = delete(ArrivalAddress).where(ArrivalAddress.at <= now - KEPT_FOR)
    return len(session.execute(old.returning(ArrivalAddress.participant_id)).all())


def _from_where(session: Session, participant: Participant) -> str | None:
    came = select(ArrivalAddress.digest).where(ArrivalAddress.participant_id == participant.id)
    return session.scalar(came)


def _most_of_run(session: Session, participant: Participant, settings: Settings) -> int:
    places = select(func.sum(RunCount.n)).where(
        RunCount.run_id == participant.run_id, RunCount.subject == PLACES
    )
    half = (session.scalar(places) or 0) // 2
    return min(settings.unanswered_places, max(_ALWAYS, half))
