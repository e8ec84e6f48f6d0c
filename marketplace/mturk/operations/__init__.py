"""The operations of the Mechanical Turk and SQS APIs; here what they share: pages and tokens."""

import base64
import binascii
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from marketplace.mturk.errors import RefusedError
from marketplace.mturk.tables import RequestToken
from marketplace.mturk.wire import Request

_DEFAULT_PAGE_SIZE = 10
_LARGEST_KEY = 2**63 - 1


def paginate(
    session: Session,
    request: Request,
    rows: Select[Any],
    key: InstrumentedAttribute[Any],
    now: datetime,
    *,
    newest_first: bool = False,
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Return a page of a listing, and the paging fields of the answer.

    The token contains the last row's key, so rows added in between do not shift a page.

    Args:
        session: The database.
        request: May hold ``MaxResults`` and ``NextToken``.
        rows: The query of all rows.
        key: A unique, ascending number of each row.
        now: The time.
        newest_first: Whether the keys descend.

    Raises:
        RefusedError: The token was not issued here.
    """
    size = request.get("MaxResults", _DEFAULT_PAGE_SIZE)
    if "NextToken" in request:
        rows = rows.where(_is_after(key, _decode_token(request["NextToken"], now), newest_first))
    order = key.desc() if newest_first else key
    page_rows = session.scalars(rows.order_by(order).limit(size + 1)).all()
    fields: dict[str, Any] = {"NumResults": min(size, len(page_rows))}
    if len(page_rows) > size:
        fields["NextToken"] = _encode_token(getattr(page_rows[size - 1], key.key))
    return page_rows[:size], fields


def _is_after(key: InstrumentedAttribute[Any], last: int, down: bool) -> ColumnElement[bool]:
    return key < last if down else key > last


def _encode_token(last: int) -> str:
    return base64.urlsafe_b64encode(f"p1:{last}".encode()).decode()


def _decode_token(token: str, now: datetime) -> int:
    try:
        version, _, last = base64.urlsafe_b64decode(token).decode().partition(":")
        if version == "p1" and 0 <= int(last) <= _LARGEST_KEY:
            return int(last)
    except (binascii.Error, UnicodeDecodeError, ValueError):
        pass
    raise RefusedError("InvalidPaginationToken", "NextToken is not a valid token.", now)


_TOKEN_LIFETIME = timedelta(hours=24)


def find_earlier_result(
    session: Session, operation: str, request: Request, now: datetime
) -> str | None:
    """Return the id of the object that an earlier call with the same token created, or None."""
    used = select(RequestToken.result_id).where(
        RequestToken.operation == operation,
        RequestToken.token == request.get("UniqueRequestToken"),
        RequestToken.used_at > now - _TOKEN_LIFETIME,
    )
    return session.scalars(used).first()


def store_request_token(
    session: Session, operation: str, request: Request, result_id: str, now: datetime
) -> None:
    """Store the call's token, if it has one, with the id of the object that the call created."""
    token = request.get("UniqueRequestToken")
    if token is not None:
        session.add(
            RequestToken(operation=operation, token=token, result_id=result_id, used_at=now)
        )
