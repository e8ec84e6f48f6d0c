"""Webhook events and their delivery: signed, repeated on failure, sometimes more than once."""

import base64
import hashlib
import hmac
import json
import ssl
import threading
from contextlib import suppress
from functools import cache
from typing import Any

import httpx
from sqlalchemy import select

from marketplace.control import FaultPlan
from marketplace.prolific.money import count_taken_places
from marketplace.prolific.store import Event, Moment, Secret, Store, Study, Submission, Subscription

_OPERATION = "webhook"
_MOST_ATTEMPTS, _MOST_FAILURES = 5, 20
_TIMEOUT_S = 10.0
STUDY_STATUS, STUDY_PROGRESS = "study.status.change", "study.progress.change"
SUBMISSION_STATUS, HIGH_RETURNS = "submission.status.change", "study.has_high_return_rate"
EVENT_TYPES = {
    STUDY_STATUS: "A study's status changed.",
    SUBMISSION_STATUS: "A submission's status changed.",
    STUDY_PROGRESS: "More of a study's places are taken, or fewer.",
    HIGH_RETURNS: "Many participants return a study.",
}
_MANY_RETURNS, _FEWEST_SUBMISSIONS = 0.3, 10


def sign_event(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of an event: HMAC-SHA256 of time and body, in base64."""
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


class WebhookSender:
    """Delivers events, in one thread at a time.

    Args:
        store: The stand-in's state.
        faults: The planned faults.
    """

    def __init__(self, store: Store, faults: FaultPlan) -> None:
        self._store, self._faults = store, faults
        self._lock = threading.Lock()

    def wake(self) -> None:
        """Deliver waiting events in a thread, without blocking the caller."""
        with self._store.moment() as moment:
            waiting = self._find_waiting_events(moment)
        if waiting:
            threading.Thread(target=self.deliver, daemon=True).start()

    def deliver(self) -> int:
        """Try to deliver every waiting event once, and return the number of events sent."""
        with self._lock:
            with self._store.moment() as moment:
                events = [event.id for event in self._find_waiting_events(moment)]
            if self._faults.draw_fault(_OPERATION, "webhook_reordered"):
                events.reverse()
            return sum(self._deliver_event(event) for event in events)

    def _find_waiting_events(self, moment: Moment) -> list[Event]:
        waiting = select(Event).where(Event.status == "PENDING").order_by(Event.id)
        return list(moment.session.scalars(waiting))

    def _deliver_event(self, number: int) -> int:
        with self._store.moment() as moment:
            event = moment.session.get_one(Event, number)
            secret = moment.session.scalar(select(Secret).order_by(Secret.id.desc()))
            stamp = str(int(moment.now.timestamp()))
            target, enabled = event.subscription.target_url, event.subscription.enabled
            body = json.dumps(event.payload).encode()
            value, ref = secret.value if secret else "", event.ref
        if not enabled:
            self._record_attempt(number, arrived=False)
            return 0
        if self._faults.draw_fault(_OPERATION, "webhook_lost"):
            self._record_attempt(number, arrived=True)
            return 0
        headers = {
            "Content-Type": "application/json",
            "X-Prolific-Request-Signature": sign_event(value, stamp, body),
            "X-Prolific-Request-Timestamp": stamp,
            "X-Event-ID": ref,
        }
        times = 2 if self._faults.draw_fault(_OPERATION, "webhook_doubled") else 1
        arrivals = [_post_event(target, body, headers) for _ in range(times)]
        self._record_attempt(number, arrived=any(arrivals))
        return times

    def _record_attempt(self, number: int, *, arrived: bool) -> None:
        with self._store.moment() as moment:
            event = moment.session.get_one(Event, number)
            event.attempts += 1
            subscription = event.subscription
            if arrived:
                event.status, subscription.failures = "SUCCEEDED", 0
                return
            subscription.failures += 1
            if subscription.failures >= _MOST_FAILURES:
                subscription.enabled = False
            if event.attempts >= _MOST_ATTEMPTS or not subscription.enabled:
                event.status = "FAILED"


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the TLS certificate authorities; cached, because loading them is slow."""
    return httpx.create_ssl_context()


def _post_event(target: str, body: bytes, headers: dict[str, str]) -> bool:
    with suppress(httpx.HTTPError):
        answer = httpx.post(
            target,
            content=body,
            headers=headers,
            timeout=_TIMEOUT_S,
            trust_env=False,
            verify=_tls_context(),
        )
        return answer.is_success
    return False


def set_study_status(moment: Moment, study: Study, status: str) -> None:
    """Change a study's status, and queue an event about it."""
    if study.status != status:
        study.status = status
        _queue_event(moment, STUDY_STATUS, study.ref, {"status": status})


def set_status(moment: Moment, submission: Submission, status: str) -> None:
    """Change a submission's status; queue one event about it and one about the study's progress."""
    if submission.status == status:
        return
    submission.status = status
    moment.session.flush()
    study = submission.study
    about = {"status": status, "study_id": study.ref, "participant_id": submission.participant}
    _queue_event(moment, SUBMISSION_STATUS, submission.ref, about)
    places = {
        "places_taken": count_taken_places(moment.session, study),
        "total_places": study.places,
    }
    _queue_event(moment, STUDY_PROGRESS, study.ref, places)


def report_many_returns(moment: Moment, study: Study, by_status: dict[str, int]) -> None:
    """Queue an event, once per study, when many participants return it."""
    everybody, n_returned = sum(by_status.values()), by_status.get("RETURNED", 0)
    is_high = everybody >= _FEWEST_SUBMISSIONS and n_returned > _MANY_RETURNS * everybody
    if is_high and not study.high_return_reported:
        study.high_return_reported = True
        _queue_event(moment, HIGH_RETURNS, study.ref, {"return_rate": n_returned / everybody})


def _queue_event(moment: Moment, event_type: str, resource: str, about: dict[str, Any]) -> None:
    subscription_query = select(Subscription).where(
        Subscription.event_type == event_type, Subscription.enabled
    )
    for subscription in moment.session.scalars(subscription_query):
        payload = {
            "event_type": event_type,
            "resource_id": resource,
            "timestamp": moment.now.isoformat(),
            **about,
        }
        moment.session.add(
            Event(
                subscription_id=subscription.id,
                resource=resource,
                payload=payload,
                created_at=moment.now,
            )
        )
