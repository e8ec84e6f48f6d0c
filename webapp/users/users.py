"""The accounts of an installation, and links for new passwords."""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from itsdangerous import BadSignature
from sqlalchemy import Engine, delete, func, select, update
from sqlalchemy.orm import Session

from experiment.plugins import unknown_name
from webapp.core.addresses import RESEARCHER_PATH
from webapp.core.tokens import Tokens
from webapp.database.locks import advisory_lock
from webapp.database.models import ApiToken, Invitation, PasswordLink, SignIn, User
from webapp.errors import RequestError, WebappError
from webapp.users.audit_log import record_act
from webapp.users.roles import Role
from webapp.users.sign_in import hash_secret, sign_out_everywhere

_NAME = re.compile(r"[\w.@+-]{1,64}", re.ASCII)


class UserError(WebappError):
    """An account cannot be created or changed as requested."""


def list_users(session: Session) -> Sequence[User]:
    """Return all accounts, by name."""
    return session.scalars(select(User).order_by(User.name)).all()


def find_user(session: Session, name: str) -> User:
    """Return the account of that name.

    Raises:
        UserError: There are no accounts.
        UnknownNameError: There is no such account; the message lists the known ones.
    """
    user = session.scalar(select(User).where(User.name == name))
    if user is not None:
        return user
    names = [user.name for user in list_users(session)]
    if names:
        raise unknown_name("user", name, names)
    raise UserError(
        f'there is no user "{name}": no accounts exist here yet',
        remedy=f"Add one with: parallax users add {name} --role owner",
    )


def add_user(
    session: Session, name: str, role: Role, password_hash: str, *, by: str, now: datetime
) -> User:
    """Create an account.

    Args:
        session: An open session that writes.
        name: The name for signing in.
        role: The role.
        password_hash: As ``passwords.hash_password`` returns it; empty for users who sign in
            through the institution.
        by: The user who creates it, for the audit log.
        now: The time.

    Raises:
        UserError: The name is not valid, or is taken.
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
    """Change an account's role and sign the user out everywhere.

    Raises:
        UserError: No owner would be left.
    """
    if role is not Role.OWNER:
        _check_owner_remains(session, user)
    old_role = user.role
    user.role = role
    sign_out_everywhere(session, user, now)
    record_act(
        session,
        by,
        "role changed",
        now,
        before={"user": user.name, "role": old_role},
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
    """Store a new password and end the user's sessions, except the one of a token if given."""
    user.password_hash = password_hash
    sign_out_everywhere(session, user, now, except_token=except_token)
    record_act(session, by, "password changed", now, after={"user": user.name})


def disable_user(session: Session, user: User, *, by: str, now: datetime) -> None:
    """Disable an account and sign its user out everywhere; the audit log keeps the user's acts.

    Raises:
        UserError: No owner would be left.
    """
    _check_owner_remains(session, user)
    if user.disabled_at is None:
        user.disabled_at = now
        record_act(session, by, "user disabled", now, after={"user": user.name})
    sign_out_everywhere(session, user, now)


def enable_user(session: Session, user: User, *, by: str, now: datetime) -> None:
    """Enable a disabled account."""
    if user.disabled_at is not None:
        user.disabled_at = None
        record_act(session, by, "user enabled", now, after={"user": user.name})


def _check_owner_remains(session: Session, user: User) -> None:
    n_other_owners = session.scalar(
        select(func.count())
        .select_from(User)
        .where(User.role == Role.OWNER, User.disabled_at.is_(None), User.id != user.id)
    )
    if user.role == Role.OWNER and user.disabled_at is None and not n_other_owners:
        raise UserError(
            f'"{user.name}" is the only owner left',
            expected="at least one owner who can sign in",
            remedy="First make another user an owner: parallax users role NAME owner",
        )


LINK_LIFETIME = timedelta(hours=24)
# The page of password links; the token is in the query, which web servers in front do not log.
PASSWORD_LINK_PATH = f"{RESEARCHER_PATH}/new-password"


def create_password_link(session: Session, user: User, *, by: str, now: datetime) -> str:
    """Return the token of a new password link; the user's earlier links end.

    Raises:
        UserError: The account is disabled.
    """
    if user.disabled_at is not None:
        raise UserError(f'the account "{user.name}" is disabled', remedy="Enable it first")
    token = secrets.token_urlsafe(32)
    _delete_password_links(session, user)
    link = PasswordLink(
        user_id=user.id, digest=hash_secret(token), made_by=by, ends_at=now + LINK_LIFETIME
    )
    session.add(link)
    record_act(session, by, "password link made", now, after={"user": user.name})
    return token


def find_user_of_password_link(
    session: Session, token: str, now: datetime
) -> tuple[User, PasswordLink]:
    """Return the user of a password link, and the link.

    Raises:
        RequestError: The link was used, has expired, or never existed.
    """
    user_and_link = session.execute(
        select(User, PasswordLink)
        .join(PasswordLink, PasswordLink.user_id == User.id)
        .where(PasswordLink.digest == hash_secret(token), PasswordLink.ends_at > now)
        .where(User.disabled_at.is_(None))
    ).first()
    if user_and_link is None:
        raise _make_link_error()
    return user_and_link[0], user_and_link[1]


def use_password_link(session: Session, token: str, password_hash: str, now: datetime) -> User:
    """Store a new password by a password link, and sign the user out everywhere.

    Raises:
        RequestError: As ``find_user_of_password_link``.
    """
    user, link = find_user_of_password_link(session, token, now)
    # Of two simultaneous uses, only the one that deletes the link goes on.
    delete_link = delete(PasswordLink).where(PasswordLink.id == link.id).returning(PasswordLink.id)
    if session.execute(delete_link).first() is None:
        raise _make_link_error()
    _delete_password_links(session, user)
    set_password(
        session, user, password_hash, by=f"{user.name}, by a link of {link.made_by}", now=now
    )
    return user


def _delete_password_links(session: Session, user: User) -> None:
    session.execute(delete(PasswordLink).where(PasswordLink.user_id == user.id))


def _make_link_error() -> RequestError:
    return RequestError(
        "This link for a new password was used before, or is older than a day. Ask an owner "
        "of this installation for another one.",
        status=404,
        code="no_password_link",
    )


def end_all_access(engine: Engine, now: datetime) -> None:
    """End every session, password link, token and invitation of a restored database.

    Some of those in the backup had been ended since, and nothing shows which.
    """
    with engine.begin() as connection:
        still_open = update(SignIn).where(SignIn.ended_at.is_(None))
        connection.execute(still_open.values(ended_at=now))
        connection.execute(delete(PasswordLink))
        valid = update(ApiToken).where(ApiToken.revoked_at.is_(None))
        connection.execute(valid.values(revoked_at=now))
        unused = update(Invitation).where(Invitation.used_at.is_(None))
        connection.execute(unused.values(used_at=now))


FIRST_OWNER_LIFETIME = timedelta(hours=1)
# The page of the first owner's link; as with password links, the token is in the query.
FIRST_OWNER_PATH = f"{RESEARCHER_PATH}/first-owner"
_FIRST_OWNER = "first owner"
# An arbitrary number that no other program uses for a lock of the same PostgreSQL database.
_FIRST_OWNER_LOCK = 0x7061_7261_6F77_6E31


def has_owner(session: Session) -> bool:
    """Return whether an owner exists, disabled or not."""
    return session.scalar(select(User.id).where(User.role == Role.OWNER).limit(1)) is not None


def make_first_owner_token(tokens: Tokens, now: datetime) -> str:
    """Return the token of the link by which the first owner makes their account."""
    return tokens.sign_attempt(f"{_FIRST_OWNER}\x1f{(now + FIRST_OWNER_LIFETIME).timestamp()}")


def check_first_owner_token(session: Session, tokens: Tokens, token: str, now: datetime) -> None:
    """Refuse a token that is not valid, and every token as soon as there is an owner.

    The answer is the same in all cases, so it shows nobody whether there is an owner.

    Raises:
        RequestError: The link was used, has expired, or never existed.
    """
    is_taken = has_owner(session)
    try:
        signed = tokens.read_attempt(token, int(FIRST_OWNER_LIFETIME.total_seconds()))
        kind, ends_at = signed.split("\x1f")
        is_valid = kind == _FIRST_OWNER and now.timestamp() < float(ends_at)
    except (BadSignature, ValueError):
        is_valid = False
    if is_taken or not is_valid:
        raise RequestError(
            "This link for the first owner of an installation works once, and for an hour. If an "
            "owner exists, ask them for an account. Otherwise print another link in a terminal on "
            "the server: parallax users owner-link",
            status=404,
            code="no_owner_link",
        )


def add_first_owner(
    session: Session, tokens: Tokens, token: str, name: str, password_hash: str, now: datetime
) -> User:
    """Create the account of the first owner, by the link that was printed on the server.

    Raises:
        RequestError: As ``check_first_owner_token``.
        UserError: The name is not valid, or is taken.
    """
    if session.get_bind().dialect.name != "sqlite":
        # Of two simultaneous uses, the second one sees the owner that the first one made.
        advisory_lock(session.connection(), _FIRST_OWNER_LOCK, wait=True)
    check_first_owner_token(session, tokens, token, now)
    by = f"{name}, by the link printed on the server"
    return add_user(session, name, Role.OWNER, password_hash, by=by, now=now)
