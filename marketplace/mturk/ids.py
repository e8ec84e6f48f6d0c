"""Identifiers in the real service's format, and the tokens that identify a repeated call.

The service forgets such a token after a day.
"""

import secrets
import string
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.tables import RequestToken
from marketplace.mturk.wire import Request

_ALPHABET = string.ascii_uppercase + string.digits
_LENGTH = 30
_KEPT = timedelta(hours=24)


def new_id() -> str:
    """Return a new identifier, from the system's source of randomness."""
    return "3" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH - 1))


def made_before(session: Session, operation: str, request: Request, now: datetime) -> str | None:
    """Return the id of the object that an earlier call with the same token created, or None."""
    used = select(RequestToken.made).where(
        RequestToken.operation == operation,
        RequestToken.token == request.get("UniqueRequestToken"),
        RequestToken.used_at > now - _KEPT,
    )
    return session.scalars(used).first()


def remember(session: Session, operation: str, request: Request, made: str, now: datetime) -> None:
    """Store the call's token, if it has one, with the id of the object that the call created."""
    token = request.get("UniqueRequestToken")
    if token is not None:
        session.add(RequestToken(operation=operation, token=token, made=made, used_at=now))
