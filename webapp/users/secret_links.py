"""Links that hold a secret: to give oneself a new password, or to read one shared thing."""

import hmac
import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from webapp.core.urls import RESEARCHER_PATH
from webapp.database.models import PasswordLink, User
from webapp.errors import RequestError
from webapp.users.audit_log import record_act
from webapp.users.sign_in import digest_of
from webapp.users.users import UserError, set_password

_FILE = "shared"
VALID = timedelta(hours=24)
# The page that takes one; the token is in the query, which web servers in front do not log.
PATH_OF_LINK = f"{RESEARCHER_PATH}/new-password"


def link_of(folder: Path) -> str:
    """Make the secret of a folder's link, which ends the one before, and return it."""
    secret = secrets.token_urlsafe(24)
    (folder / _FILE).write_text(_digest(secret), encoding="ascii", newline="\n")
    return secret


def shared(folder: Path, secret: str | None = None) -> bool:
    """Return whether a folder has a link, and whether the secret is its own where one is given."""
    try:
        kept = (folder / _FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return secret is None or hmac.compare_digest(kept, _digest(secret))


def take_back(folder: Path) -> None:
    """End a folder's link."""
    (folder / _FILE).unlink(missing_ok=True)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def make_link(session: Session, user: User, *, by: str, now: datetime) -> str:
    """Return the token of a new link; a user's earlier ones end.

    Raises:
        UserError: The account is disabled.
    """
    if user.disabled_at is not None:
        raise UserError(f'the account "{user.name}" is disabled', remedy="Enable it first")
    token = secrets.token_urlsafe(32)
    _end_links(session, user)
    made = PasswordLink(user_id=user.id, digest=digest_of(token), made_by=by, ends_at=now + VALID)
    session.add(made)
    record_act(session, by, "password link made", now, after={"user": user.name})
    return token


def user_of_link(session: Session, token: str, now: datetime) -> tuple[User, PasswordLink]:
    """Return whose password a link is for.

    Raises:
        RequestError: It was used, is too old, or never was one.
    """
    found = session.execute(
        select(User, PasswordLink)
        .join(PasswordLink, PasswordLink.user_id == User.id)
        .where(PasswordLink.digest == digest_of(token), PasswordLink.ends_at > now)
        .where(User.disabled_at.is_(None))
    ).first()
    if found is None:
        raise _ended()
    return found[0], found[1]


def use_link(session: Session, token: str, password_hash: str, now: datetime) -> User:
    """Store the new password of whom a link is for, and sign them out everywhere.

    Raises:
        RequestError: As ``user_of_link``.
    """
    user, link = user_of_link(session, token, now)
    # Of two who use it at once, the one who deletes it goes on.
    gone = delete(PasswordLink).where(PasswordLink.id == link.id).returning(PasswordLink.id)
    if session.execute(gone).first() is None:
        raise _ended()
    _end_links(session, user)
    set_password(
        session, user, password_hash, by=f"{user.name}, by a link of {link.made_by}", now=now
    )
    return user


def _end_links(session: Session, user: User) -> None:
    session.execute(delete(PasswordLink).where(PasswordLink.user_id == user.id))


def _ended() -> RequestError:
    return RequestError(
        "This link for a new password was used before, or is older than a day. Ask an owner "
        "of this installation for another one.",
        status=404,
        code="no_password_link",
    )
