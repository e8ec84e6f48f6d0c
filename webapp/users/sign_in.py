"""Signing in: passwords, browsers' sessions, and how often somebody may guess."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, or_, select, update
from sqlalchemy.orm import Session

from webapp.database.engine import Sessions
from webapp.database.locks import advisory_lock
from webapp.database.models import FailedSignIn, SignIn, User
from webapp.errors import RequestError
from webapp.users.passwords import is_password

# Nobody who comes back after lunch signs in again; a browser left open over the weekend is out.
IDLE_LIMIT = timedelta(hours=8)
LONGEST_SESSION = timedelta(days=7)
# How often the time of the last sign of life is stored.
_SEEN_EVERY = timedelta(minutes=5)
_GUESSES_WITHIN = timedelta(minutes=15)
# Of one name from one address, of one address, and of one name from anywhere.
# Any number that no other program takes for a lock of the same PostgreSQL database.
_LOCK = 0x7061_7261_7369_676E
_GUESSES_HERE, _GUESSES_OF_ADDRESS, _GUESSES_OF_NAME = 5, 30, 100


@dataclass(frozen=True, slots=True)
class Attempt:
    """Somebody wants to sign in.

    Attributes:
        name: The name they typed; people type passwords there, so it is stored as a digest alone.
        browser: The family of their browser.
        name_digest: A digest of the name under the installation's key.
        address_digest: The same of the network address they come from.
    """

    name: str
    browser: str
    name_digest: str
    address_digest: str


def sign_in(sessions: Sessions, attempt: Attempt, password: str, now: datetime) -> str:
    """Return the token of a new session, for the browser's cookie.

    Args:
        sessions: Where sessions come from; the password is hashed outside any transaction.
        attempt: Who, and from where.
        password: What they typed.
        now: The time.

    Raises:
        RequestError: The name or the password is wrong, or too many wrong ones came before.
    """
    with sessions.begin() as session:
        # Counted before the password is looked at: of many at once, none slips through meanwhile.
        guess = _count_guess(session, attempt, now)
        user = session.scalar(select(User).where(User.name == attempt.name))
    usable = user is not None and user.disabled_at is None
    right = is_password(user.password_hash if user and usable else "", password)
    if user is None or not right:
        raise RequestError(
            "The name or the password is not right.", status=401, code="wrong_password"
        )
    with sessions.begin() as session:
        session.execute(delete(FailedSignIn).where(FailedSignIn.id == guess))
        return open_session(session, user, attempt.browser, now)


def open_session(session: Session, user: User, browser: str, now: datetime) -> str:
    """Return the token of a new session, for a user who has proven who they are."""
    token = secrets.token_urlsafe(32)
    session.add(
        SignIn(
            user_id=user.id,
            token_hash=_digest(token),
            browser=browser,
            made_at=now,
            seen_at=now,
        )
    )
    session.flush()
    return token


def signed_in(session: Session, token: str, now: datetime) -> tuple[User, SignIn] | None:
    """Return whose session a cookie's token stands for; None where it stands for none any more."""
    found = session.execute(
        select(User, SignIn)
        .join(SignIn, SignIn.user_id == User.id)
        .where(SignIn.token_hash == _digest(token), SignIn.ended_at.is_(None))
        .where(User.disabled_at.is_(None))
    ).first()
    if found is None:
        return None
    user, here = found
    over = now - here.seen_at > IDLE_LIMIT or now - here.made_at > LONGEST_SESSION
    return None if over else (user, here)


def still_here(sessions: Sessions, here: SignIn, now: datetime) -> None:
    """Store that a session is in use, once in a few minutes."""
    if now - here.seen_at > _SEEN_EVERY:
        with sessions.begin() as session:
            session.execute(update(SignIn).where(SignIn.id == here.id).values(seen_at=now))


def open_sessions_of(session: Session, user: User) -> Sequence[SignIn]:
    """Return the sessions in which a user is signed in, the latest first."""
    return session.scalars(
        select(SignIn)
        .where(SignIn.user_id == user.id, SignIn.ended_at.is_(None))
        .order_by(SignIn.id.desc())
    ).all()


def sign_out(session: Session, token: str, now: datetime) -> None:
    """End the session of a token."""
    session.execute(
        update(SignIn)
        .where(SignIn.token_hash == _digest(token), SignIn.ended_at.is_(None))
        .values(ended_at=now)
    )


def sign_out_everywhere(session: Session, user: User, now: datetime) -> None:
    """End every session of a user."""
    session.execute(
        update(SignIn)
        .where(SignIn.user_id == user.id, SignIn.ended_at.is_(None))
        .values(ended_at=now)
    )


def form_token(session_token: str) -> str:
    """Return what every form of a session carries, so that no other site can send one."""
    return _digest(f"form {session_token}")


def _count_guess(session: Session, attempt: Attempt, now: datetime) -> int:
    """Count an attempt as a failure until it succeeds, and return its key.

    Raises:
        RequestError: Too many came before.
    """
    if session.get_bind().dialect.name != "sqlite":
        advisory_lock(session.connection(), _LOCK, wait=True)
    _refuse_guessing(session, attempt, now)
    failed = FailedSignIn(
        name_digest=attempt.name_digest, address_digest=attempt.address_digest, at=now
    )
    session.add(failed)
    session.flush()
    return failed.id


def delete_old_guesses(session: Session, now: datetime) -> int:
    """Delete the failed attempts that no longer count, and return how many those were."""
    old = delete(FailedSignIn).where(FailedSignIn.at <= now - _GUESSES_WITHIN)
    return cast(CursorResult[Any], session.execute(old)).rowcount


def _refuse_guessing(session: Session, attempt: Attempt, now: datetime) -> None:
    name, address = attempt.name_digest, attempt.address_digest
    recent = (
        select(FailedSignIn.name_digest, FailedSignIn.address_digest, func.count())
        .where(FailedSignIn.at > now - _GUESSES_WITHIN)
        .where(or_(FailedSignIn.name_digest == name, FailedSignIn.address_digest == address))
        .group_by(FailedSignIn.name_digest, FailedSignIn.address_digest)
    )
    rows = session.execute(recent).all()
    here = sum(n for of_name, of_address, n in rows if (of_name, of_address) == (name, address))
    of_address = sum(n for _, each, n in rows if each == address)
    of_name = sum(n for each, _, n in rows if each == name)
    if here >= _GUESSES_HERE or of_address >= _GUESSES_OF_ADDRESS or of_name >= _GUESSES_OF_NAME:
        minutes = int(_GUESSES_WITHIN.total_seconds() // 60)
        raise RequestError(
            f"Too many wrong passwords came before. Please try again in {minutes} minutes.",
            status=429,
            code="too_many_attempts",
        )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
