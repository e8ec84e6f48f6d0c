"""Destinations of events, and the queue that delivers them as SQS does."""

import hashlib
import re
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from marketplace.mturk.errors import RefusedError, WireError
from marketplace.mturk.events import enqueue_event
from marketplace.mturk.hits import find_type
from marketplace.mturk.tables import Message, Subscription
from marketplace.mturk.wire import Reply, Request

_VERSIONS = ("2006-05-05", "2014-08-15")
_DEFAULT_HIDDEN_S = 30
_LONGEST_HIDDEN_S = 12 * 60 * 60
_MOST_MESSAGES = 10
_HANDLE_PATTERN = re.compile("[0-9]{1,18}")


def update_settings(session: Session, now: datetime, request: Request) -> Reply:
    """UpdateNotificationSettings: sets the one notification specification of a HIT type."""
    hit_type = find_type(session, request["HITTypeId"], now)
    subscription = session.scalar(select(Subscription).where(Subscription.type_id == hit_type.id))
    if "Notification" in request:
        _refuse_specification(request, now)
        if subscription is None:
            subscription = Subscription(type_id=hit_type.id, active=True)
            session.add(subscription)
        subscription.specification = request["Notification"]
    if subscription is None:
        raise RefusedError(
            "ParameterValidationError", "The HIT type has no notification specification yet.", now
        )
    subscription.active = request.get("Active", subscription.active)
    return {}


def send_test_event(session: Session, now: datetime, request: Request) -> Reply:
    """SendTestEventNotification: sends one message immediately."""
    _refuse_specification(request, now)
    destination = request["Notification"]["Destination"]
    enqueue_event(session, destination, request["TestEventType"], {}, now)
    return {}


def _refuse_specification(request: Request, now: datetime) -> None:
    specification = request["Notification"]
    if specification["Version"] not in _VERSIONS:
        problem = f"Version must be one of {', '.join(_VERSIONS)}."
    elif specification["Transport"] != "SQS":
        problem = "This marketplace sends notifications to queues only: Transport SQS."
    elif not specification["EventTypes"]:
        problem = "EventTypes must not be empty."
    else:
        return
    raise RefusedError("ParameterValidationError", problem, now)


def receive_queue_messages(session: Session, now: datetime, request: Request) -> Reply:
    """ReceiveMessage of SQS: returns up to ten messages, then hides them for a while."""
    most_messages = request.get("MaxNumberOfMessages", 1)
    hidden_s = request.get("VisibilityTimeout", _DEFAULT_HIDDEN_S)
    if not 1 <= most_messages <= _MOST_MESSAGES or not 0 <= hidden_s <= _LONGEST_HIDDEN_S:
        raise WireError(
            "InvalidParameterValue", "MaxNumberOfMessages or VisibilityTimeout is out of range."
        )
    waiting = (
        select(Message)
        .where(Message.queue == request["QueueUrl"], Message.hidden_until <= now)
        .order_by(Message.id)
        .limit(most_messages)
    )
    messages = session.scalars(waiting).all()
    for message in messages:
        message.hidden_until = now + timedelta(seconds=hidden_s)
        message.received += 1
    return {"Messages": [_message_to_api(message) for message in messages]} if messages else {}


def _message_to_api(message: Message) -> dict[str, str]:
    return {
        "MessageId": f"{message.id}",
        "ReceiptHandle": f"{message.id}",
        "MD5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "Body": message.body,
    }


def delete_queue_message(session: Session, now: datetime, request: Request) -> Reply:
    """DeleteMessage of SQS: also succeeds for a message that is already deleted."""
    handle = request["ReceiptHandle"]
    if not _HANDLE_PATTERN.fullmatch(handle):
        raise WireError("ReceiptHandleIsInvalid", f"There is no receipt handle {handle!r}.")
    message = session.get(Message, int(handle))
    if message is not None and message.queue == request["QueueUrl"]:
        session.delete(message)
    return {}
