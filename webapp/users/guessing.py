"""How often somebody may guess a password or a code."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, or_, select
from sqlalchemy.orm import Session

from webapp.database.locks import advisory_lock
from webapp.database.models import FailedSignIn
from webapp.errors import RequestError

_WITHIN = timedelta(minutes=15)
# Any number that no other program takes for a lock of the same PostgreSQL database.
_LOCK = 0x7061_7261_7369_676E
# Of one name from one address, of one address, and of one name from anywhere.
_HERE, _OF_ADDRESS, _OF_NAME = 5, 30, 100


@dataclass(frozen=True, slots=True)
class Guess:
    """What an attempt is counted by.

    Attributes:
        name_digest: A digest, under the installation's key, of whose password or code it is; people
            type passwords where names belong, so nothing else of a name is stored.
        address_digest: The same of the network address the attempt comes from.
        of_name: How many of one name may fail, wherever they come from.
    """

    name_digest: str
    address_digest: str
    of_name: int = _OF_NAME


def count_guess(session: Session, guess: Guess, now: datetime) -> int:
    """Count an attempt as a failure until it succeeds, and return its key.

    Raises:
        RequestError: Too many came before.
    """
    if session.get_bind().dialect.name != "sqlite":
        advisory_lock(session.connection(), _LOCK, wait=True)
    _refuse_guessing(session, guess, now)
    failed = FailedSignIn(
        name_digest=guess.name_digest, address_digest=guess.address_digest, at=now
    )
    session.add(failed)
    session.flush()
    return failed.id


def take_back(session: Session, counted: int) -> None:
    """Count an attempt no longer, for it succeeded."""
    session.execute(delete(FailedSignIn).where(FailedSignIn.id == counted))


def delete_old_guesses(session: Session, now: datetime) -> int:
    """Delete the failed attempts that no longer count, and return how many those were."""
    old = delete(FailedSignIn).where(FailedSignIn.at <= now - _WITHIN)
    return cast(CursorResult[Any], session.execute(old)).rowcount


def _refuse_guessing(session: Session, guess: Guess, now: datetime) -> None:
    name, address = guess.name_digest, guess.address_digest
    recent = (
        select(FailedSignIn.name_digest, FailedSignIn.address_digest, func.count())
        .where(FailedSignIn.at > now - _WITHIN)
        .where(or_(FailedSignIn.name_digest == name, FailedSignIn.address_digest == address))
        .group_by(FailedSignIn.name_digest, FailedSignIn.address_digest)
    )
    rows = session.execute(recent).all()
    here = sum(n for of_name, of_address, n in rows if (of_name, of_address) == (name, address))
    of_address = sum(n for _, each, n in rows if each == address)
    of_name = sum(n for each, _, n in rows if each == name)
    if here >= _HERE or of_address >= _OF_ADDRESS or of_name >= guess.of_name:
        minutes = int(_WITHIN.total_seconds() // 60)
        raise RequestError(
            f"Too many wrong passwords or codes came before. Please try again in {minutes} "
            "minutes.",
            status=429,
            code="too_many_attempts",
        )
