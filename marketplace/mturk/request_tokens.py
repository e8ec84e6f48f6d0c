"""Tokens by which a repeated call is known; the service forgets them after a day."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.tables import RequestToken
from marketplace.mturk.wire import Request

_KEPT = timedelta(hours=24)


def made_before(session: Session, operation: str, request: Request, now: datetime) -> str | None:
    """Return the id of what an earlier call with the same token made; None if there was none."""
    used = select(RequestToken.made).where(
        RequestToken.operation == operation,
        RequestToken.token == request.get("UniqueRequestToken"),
        RequestToken.used_at > now - _KEPT,
    )
    return session.scalars(used).first()


def remember(session: Session, operation: str, request: Request, made: str, now: datetime) -> None:
    """Keep the call's token, if it has one, with the id of what the call made."""
    token = request.get("UniqueRequestToken")
    if token is not None:
        session.add(RequestToken(operation=operation, token=token, made=made, used_at=now))
