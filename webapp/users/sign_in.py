"""Signing in: limits of guesses, passwords, and browser sessions."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import CursorResult, bindparam, delete, func, or_, select, update
from sqlalchemy.orm import Session

from webapp.database.engine import Sessions
from webapp.database.locks import advisory_lock
from webapp.database.models import FailedSignIn, SignIn, User
from webapp.errors import RequestError
from webapp.users.passwords import verify_password

_GUESS_WINDOW = timedelta(minutes=15)
# An arbitrary number that no other program uses for a lock of the same PostgreSQL database.
_GUESS_LOCK = 0x7061_7261_7369_676E
# Limits for one name from one address, for one address, and for one name from anywhere.
_MOST_OF_BOTH, _MOST_OF_ADDRESS, _MOST_OF_NAME = 5, 30, 100


@dataclass(frozen=True, slots=True)
class GuessKeys:
    """The keys by which an attempt is counted.

    Attributes:
        name_digest: A keyed digest of the user's name. The name itself is not stored, because users
            sometimes type their password in its place.
        address_digest: A keyed digest of the network address of the attempt.
        of_name: How many attempts for one name may fail, from all addresses.
    """

    name_digest: str
    address_digest: str
    of_name: int = _MOST_OF_NAME


def count_guess(session: Session, guess: GuessKeys, now: datetime) -> int:
    """Count an attempt as failed until it succeeds, and return the count's id.

    Raises:
        RequestError: There were too many attempts before.
    """
    if session.get_bind().dialect.name != "sqlite":
        advisory_lock(session.connection(), _GUESS_LOCK, wait=True)
    _check_guess_limit(session, guess, now)
    failed = FailedSignIn(
        name_digest=guess.name_digest, address_digest=guess.address_digest, at=now
    )
    session.add(failed)
    session.flush()
    return failed.id


def uncount_guess(session: Session, counted: int) -> None:
    """Remove a successful attempt from the count."""
    session.execute(delete(FailedSignIn).where(FailedSignIn.id == counted))


def delete_old_guesses(session: Session, now: datetime) -> int:
    """Delete expired failed attempts, and return how many."""
    old = delete(FailedSignIn).where(FailedSignIn.at <= now - _GUESS_WINDOW)
    return cast(CursorResult[Any], session.execute(old)).rowcount


def _check_guess_limit(session: Session, guess: GuessKeys, now: datetime) -> None:
    name, address = guess.name_digest, guess.address_digest
    recent = (
        select(FailedSignIn.name_digest, FailedSignIn.address_digest, func.count())
        .where(FailedSignIn.at > now - _GUESS_WINDOW)
        .where(or_(FailedSignIn.name_digest == name, FailedSignIn.address_digest == address))
        .group_by(FailedSignIn.name_digest, FailedSignIn.address_digest)
    )
    rows = session.execute(recent).all()
    of_both = sum(n for of, at, n in rows if (of, at) == (name, address))
    of_address = sum(n for _, at, n in rows if at == address)
    of_name = sum(n for of, _, n in rows if of == name)
    if of_both >= _MOST_OF_BOTH or of_address >= _MOST_OF_ADDRESS or of_name >= guess.of_name:
        minutes = int(_GUESS_WINDOW.total_seconds() // 60)
        raise RequestError(
            f"Too many wrong passwords or codes came before. Please try again in {minutes} "
            "minutes.",
            status=429,
            code="too_many_attempts",
        )


# Long enough for a lunch break, too short for a weekend.
IDLE_LIMIT = timedelta(hours=8)
LONGEST_SESSION = timedelta(days=7)
# The interval at which a session's last use is stored.
_USE_INTERVAL = timedelta(minutes=5)


def authenticate_user(
    sessions: Sessions, name: str, guess: GuessKeys, password: str, now: datetime
) -> User:
    """Return the user with that name and password.

    Args:
        sessions: The session factory; the password is hashed outside any transaction.
        name: The typed name.
        guess: The keys by which the attempt is counted.
        password: The typed password.
        now: The time.

    Raises:
        RequestError: The name or the password is wrong, or there were too many wrong ones before.
    """
    with sessions.begin() as session:
        # Counted before the password is checked, so that simultaneous attempts cannot evade the
        # limit.
        guess_count = count_guess(session, guess, now)
        user = session.scalar(select(User).where(User.name == name))
    usable = user is not None and user.disabled_at is None
    right = verify_password(user.password_hash if user and usable else "", password)
    if user is None or not right:
        raise RequestError(
            "The name or the password is not right.",
            status=401,
            code="wrong_password",
        )
    with sessions.begin() as session:
        uncount_guess(session, guess_count)
    return user


def open_session(session: Session, user: User, browser: str, now: datetime) -> str:
    """Return the token of a new session for an authenticated user."""
    token = secrets.token_urlsafe(32)
    session.add(
        SignIn(
            user_id=user.id,
            token_hash=hash_secret(token),
            browser=browser,
            made_at=now,
            seen_at=now,
        )
    )
    session.flush()
    return token


# Compiled once, because every researcher page runs it.
_SESSION_QUERY = (
    select(User, SignIn)
    .join(SignIn, SignIn.user_id == User.id)
    .where(SignIn.token_hash == bindparam("digest"), SignIn.ended_at.is_(None))
    .where(User.disabled_at.is_(None))
)


def find_session(session: Session, token: str, now: datetime) -> tuple[User, SignIn] | None:
    """Return the user and session of a cookie's token; None if the session has ended."""
    row = session.execute(_SESSION_QUERY, {"digest": hash_secret(token)}).first()
    if row is None:
        return None
    user, sign_in = row
    idle, age = now - sign_in.seen_at, now - sign_in.made_at
    return None if idle > IDLE_LIMIT or age > LONGEST_SESSION else (user, sign_in)


def find_browser_session(session: Session, name: str, token: str) -> int | None:
    """Return the id of a browser's earlier session as this user; None if there is none.

    The session may have expired, but was not ended by hand or by a new password.
    """
    return session.scalar(
        select(SignIn.id)
        .join(User, User.id == SignIn.user_id)
        .where(
            SignIn.token_hash == hash_secret(token), SignIn.ended_at.is_(None), User.name == name
        )
    )


def record_session_use(sessions: Sessions, sign_in: SignIn, now: datetime) -> None:
    """Store a session's last use, at most once in a few minutes."""
    if now - sign_in.seen_at > _USE_INTERVAL:
        with sessions.begin() as session:
            session.execute(update(SignIn).where(SignIn.id == sign_in.id).values(seen_at=now))


def list_open_sessions(session: Session, user: User, now: datetime) -> Sequence[SignIn]:
    """Return a user's open sessions, the latest first."""
    return session.scalars(
        select(SignIn)
        .where(SignIn.user_id == user.id, SignIn.ended_at.is_(None))
        .where(SignIn.seen_at >= now - IDLE_LIMIT, SignIn.made_at >= now - LONGEST_SESSION)
        .order_by(SignIn.id.desc())
    ).all()


def sign_out(session: Session, token: str, now: datetime) -> None:
    """End the session of a token."""
    session.execute(
        update(SignIn)
        .where(SignIn.token_hash == hash_secret(token), SignIn.ended_at.is_(None))
        .values(ended_at=now)
    )


def end_one_session(session: Session, user: User, sign_in_id: int, now: datetime) -> bool:
    """End one session of a user; return whether it was theirs and open."""
    open_one = SignIn.id == sign_in_id, SignIn.user_id == user.id, SignIn.ended_at.is_(None)
    ended = session.execute(update(SignIn).where(*open_one).values(ended_at=now))
    return bool(cast(CursorResult[Any], ended).rowcount)


def sign_out_everywhere(
    session: Session, user: User, now: datetime, *, except_token: str = ""
) -> None:
    """End every session of a user, except the one of a token if given."""
    session.execute(
        update(SignIn)
        .where(SignIn.user_id == user.id, SignIn.ended_at.is_(None))
        .where(SignIn.token_hash != (hash_secret(except_token) if except_token else ""))
        .values(ended_at=now)
    )


def end_sessions_of_all_users(session: Session, now: datetime) -> int:
    """End all sessions of all users; return how many."""
    ended = update(SignIn).where(SignIn.ended_at.is_(None)).values(ended_at=now)
    return cast(CursorResult[Any], session.execute(ended)).rowcount


def make_form_token(session_token: str) -> str:
    """Return the token of a session's forms, which other sites cannot know."""
    return hash_secret(f"form {session_token}")


def hash_secret(text: str) -> str:
    """Return the SHA-256 digest under which a random secret is stored."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
