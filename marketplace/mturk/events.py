"""Event notifications in the format of the service's SQS messages."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.tables import Assignment, Hit, Message, Subscription, new_id

_VERSION = "2014-08-15"
_ACCOUNT = "000000000000"


def notify_subscribers(
    session: Session, event: str, hit: Hit, now: datetime, assignment: Assignment | None = None
) -> None:
    """Send an event to the subscribers of the HIT's type.

    Args:
        session: The database.
        event: The service's name for the event, e.g. ``AssignmentSubmitted``.
        hit: The HIT concerned.
        now: The time.
        assignment: The assignment concerned, if any.
    """
    subscription = session.scalar(
        select(Subscription).where(Subscription.type_id == hit.type_id, Subscription.active)
    )
    if subscription is None:
        return
    specification: dict[str, Any] = subscription.specification
    if event in specification["EventTypes"]:
        ids = {"HITTypeId": hit.type.hit_type_id, "HITId": hit.hit_id}
        if assignment is not None:
            ids["AssignmentId"] = assignment.assignment_id
        enqueue_event(session, str(specification["Destination"]), event, ids, now)


def enqueue_event(
    session: Session, destination: str, event: str, ids: dict[str, str], now: datetime
) -> None:
    """Add one event to a destination's queue."""
    body = {
        "EventDocId": new_id(),
        "EventDocVersion": _VERSION,
        "SourceAccount": _ACCOUNT,
        "CustomerId": _ACCOUNT,
        "Events": [
            {"EventType": event, "EventTimestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"), **ids}
        ],
    }
    session.add(Message(queue=destination, body=json.dumps(body), sent_at=now, hidden_until=now))
