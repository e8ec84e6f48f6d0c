"""The accounts of an installation."""

import re
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.plugins import unknown_name
from webapp.database.models import User
from webapp.errors import WebappError
from webapp.users.audit_log import record_act
from webapp.users.roles import Role
from webapp.users.sign_in import sign_out_everywhere

_NAME = re.compile(r"[\w.@+-]{1,64}", re.ASCII)


class UserError(WebappError):
    """An account cannot be made or changed like that."""


def users(session: Session) -> Sequence[User]:
    """Return all accounts, by name."""
    return session.scalars(select(User).order_by(User.name)).all()


def named_user(session: Session, name: str) -> User:
    """Return the account of that name.

    Raises:
        UserError: There is no account at all.
        UnknownNameError: There is none of that name; the message lists the known ones.
    """
    user = session.scalar(select(User).where(User.name == name))
    if user is not None:
        return user
    known = [each.name for each in users(session)]
    if known:
        raise unknown_name("user", name, known)
    raise UserError(
        f'there is no user "{name}": no accounts exist here yet',
        remedy=f"Add one with: parallax users add {name} --role owner",
    )


def add_user(
    session: Session, name: str, role: Role, password_hash: str, *, by: str, now: datetime
) -> User:
    """Make an account.

    Args:
        session: An open session that writes.
        name: What they sign in with.
        role: What they may do.
        password_hash: As ``passwords.hash_password`` returns it; empty for who signs in elsewhere.
        by: Who makes it, for the audit log.
        now: The time.

    Raises:
        UserError: The name cannot be one, or is taken.
    """
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be a user's name",
            expected="1 to 64 letters, digits and . _ @ + -",
        )
    if session.scalar(select(User.id).where(User.name == name)) is not None:
        raise UserError(f'a user "{name}" already exists', remedy="Give the user another name")
    user = User(name=name, role=role, password_hash=password_hash, made_at=now)
    session.add(user)
    session.flush()
    record_act(session, by, "user added", now, after={"user": name, "role": role})
    return user


def set_role(session: Session, user: User, role: Role, *, by: str, now: datetime) -> None:
    """Give an account another role and sign the user out everywhere.

    Raises:
        UserError: No owner would be left.
    """
    if role is not Role.OWNER:
        _refuse_without_owner(session, user)
    before = user.role
    user.role = role
    sign_out_everywhere(session, user, now)
    record_act(
        session,
        by,
        "role changed",
        now,
        before={"user": user.name, "role": before},
        after={"user": user.name, "role": role},
    )


def set_password(
    session: Session,
    user: User,
    password_hash: str,
    *,
    by: str,
    now: datetime,
    except_token: str = "",
) -> None:
    """Store a new password and sign the user out everywhere, but for the session of a token."""
    user.password_hash = password_hash
    sign_out_everywhere(session, user, now, except_token=except_token)
    record_act(session, by, "password changed", now, after={"user": user.name})


def disable_user(session: Session, user: User, *, by: str, now: datetime) -> None:
    """Let somebody in no more, and sign them out everywhere; what they did stays in the log.

    Raises:
        UserError: No owner would be left.
    """
    _refuse_without_owner(session, user)
    if user.disabled_at is None:
        user.disabled_at = now
        record_act(session, by, "user disabled", now, after={"user": user.name})
    sign_out_everywhere(session, user, now)


def enable_user(session: Session, user: User, *, by: str, now: datetime) -> None:
    """Let a disabled user in again."""
    if user.disabled_at is not None:
        user.disabled_at = None
        record_act(session, by, "user enabled", now, after={"user": user.name})


def _refuse_without_owner(session: Session, user: User) -> None:
    others = session.scalar(
        select(func.count())
        .select_from(User)
        .where(User.role == Role.OWNER, User.disabled_at.is_(None), User.id != user.id)
    )
    if user.role == Role.OWNER and user.disabled_at is None and not others:
        raise UserError(
            f'"{user.name}" is the only owner left',
            expected="at least one owner who can sign in",
            remedy="First make another user an owner: parallax users role NAME owner",
        )
