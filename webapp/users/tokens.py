"""Tokens of programs: each grants its scopes, and never more rights than its user has."""

import hashlib
import re
import secrets
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from webapp.database.engine import Sessions
from webapp.database.models import ApiToken, Project, User
from webapp.users.audit_log import record_act
from webapp.users.projects import ProjectError, get_project_rights
from webapp.users.roles import Right, Scope

PREFIX = "parallax_"
MOST_DAYS = 366
_MOST_TOKENS = 50
_LABEL = re.compile(r"[^\x00-\x1f\x7f]{1,80}")
_USE_INTERVAL = timedelta(minutes=5)


def make_token(
    session: Session,
    user: User,
    label: str,
    scopes: Collection[Scope],
    days: int,
    now: datetime,
    project: Project | None = None,
) -> str:
    """Return a new token of a user; it is shown once and cannot be read again.

    Args:
        session: An open session that writes.
        user: The token's user.
        label: A label that states its purpose.
        scopes: The permitted uses.
        days: The number of days after which it expires.
        now: The time.
        project: The only project in which it may be used; None for all of its user's.

    Raises:
        ProjectError: A value is not acceptable.
    """
    problem = ""
    if not _LABEL.fullmatch(label):
        problem = "a token needs a name of 1 to 80 characters that says what it is for"
    elif not scopes:
        problem = f"a token needs a scope: {', '.join(Scope)}"
    elif not 1 <= days <= MOST_DAYS:
        problem = f"a token is valid for 1 to {MOST_DAYS} days"
    elif _count_unrevoked_tokens(session, user) >= _MOST_TOKENS:
        problem = f"a user has at most {_MOST_TOKENS} tokens that are not revoked"
    elif project is not None and Right.SEE not in get_project_rights(session, user, project.id):
        problem = "there is no such project"
    if problem:
        raise ProjectError(problem, remedy="Change it and send the form again; nothing was made")
    token = PREFIX + secrets.token_urlsafe(32)
    row = ApiToken(
        user_id=user.id,
        project_id=None if project is None else project.id,
        label=label,
        scopes=" ".join(scope for scope in Scope if scope in scopes),
        token_hash=_hash_token(token),
        made_at=now,
        expires_at=now + timedelta(days=days),
    )
    session.add(row)
    session.flush()
    entry = {"token": label, "scopes": row.scopes, "until": f"{row.expires_at:%Y-%m-%d}"}
    project_detail = {} if project is None else {"project": project.name}
    record_act(session, user.name, "token made", now, after={**entry, **project_detail})
    return token


def list_tokens(session: Session, user: User) -> Sequence[ApiToken]:
    """Return a user's tokens, the latest first."""
    of_user = ApiToken.user_id == user.id
    return session.scalars(select(ApiToken).where(of_user).order_by(ApiToken.id.desc())).all()


def revoke_user_token(session: Session, user: User, number: int, *, by: str, now: datetime) -> None:
    """Revoke a token of a user.

    Raises:
        ProjectError: The user has no such token.
    """
    token = session.scalar(
        select(ApiToken).where(ApiToken.id == number, ApiToken.user_id == user.id)
    )
    if token is None:
        raise ProjectError(
            f'"{user.name}" has no token {number}',
            remedy=f"List the tokens: parallax users tokens {user.name}",
        )
    if token.revoked_at is None:
        token.revoked_at = now
        entry = {"user": user.name, "token": token.label}
        record_act(session, by, "token revoked", now, after=entry)


def find_user_of_token(session: Session, token: str, now: datetime) -> tuple[User, ApiToken] | None:
    """Return the user and the row of a token; None if it is not valid."""
    row = session.execute(
        select(User, ApiToken)
        .join(ApiToken, ApiToken.user_id == User.id)
        .outerjoin(Project, Project.id == ApiToken.project_id)
        .where(ApiToken.token_hash == _hash_token(token), ApiToken.revoked_at.is_(None))
        .where(ApiToken.expires_at > now, User.disabled_at.is_(None))
        .where(or_(ApiToken.project_id.is_(None), Project.ended_at.is_(None)))
    ).first()
    return None if row is None else (row[0], row[1])


def record_token_use(sessions: Sessions, token: ApiToken, now: datetime) -> None:
    """Store the token's last use, at most once in a few minutes."""
    if token.used_at is None or now - token.used_at > _USE_INTERVAL:
        with sessions.begin() as session:
            session.execute(update(ApiToken).where(ApiToken.id == token.id).values(used_at=now))


def _count_unrevoked_tokens(session: Session, user: User) -> int:
    return len([token for token in list_tokens(session, user) if token.revoked_at is None])


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
