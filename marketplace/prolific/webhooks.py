"""Bringing events to their subscribers: signed, repeated when they fail, not always once."""

import base64
import hashlib
import hmac
import json
import ssl
import threading
from contextlib import suppress
from functools import cache

import httpx
from sqlalchemy import select

from marketplace.faults import FaultPlan
from marketplace.prolific.store import Moment, Store
from marketplace.prolific.tables import Event, Secret

_OPERATION = "webhook"
_MOST_ATTEMPTS, _MOST_FAILURES = 5, 20
_TIMEOUT_S = 10.0


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of an event: HMAC-SHA256 of time and body, base64."""
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


class Courier:
    """Delivers events, in one thread at a time.

    Args:
        store: The stand-in's state.
        faults: What goes wrong.
    """

    def __init__(self, store: Store, faults: FaultPlan) -> None:
        self._store, self._faults = store, faults
        self._lock = threading.Lock()

    def wake(self) -> None:
        """Deliver what waits, beside the caller."""
        with self._store.moment() as moment:
            waiting = self._waiting(moment)
        if waiting:
            threading.Thread(target=self.deliver, daemon=True).start()

    def deliver(self) -> int:
        """Deliver everything that waits, once, and return how many events were sent."""
        with self._lock:
            with self._store.moment() as moment:
                events = [event.id for event in self._waiting(moment)]
            if self._faults.strike(_OPERATION, "webhook_reordered"):
                events.reverse()
            return sum(self._bring(event) for event in events)

    def _waiting(self, moment: Moment) -> list[Event]:
        waiting = select(Event).where(Event.status == "PENDING").order_by(Event.id)
        return list(moment.session.scalars(waiting))

    def _bring(self, number: int) -> int:
        with self._store.moment() as moment:
            event = moment.session.get_one(Event, number)
            secret = moment.session.scalar(select(Secret).order_by(Secret.id.desc()))
            stamp = str(int(moment.now.timestamp()))
            target, enabled = event.subscription.target_url, event.subscription.enabled
            body = json.dumps(event.payload).encode()
            value, ref = secret.value if secret else "", event.ref
        if not enabled:
            self._note(number, arrived=False)
            return 0
        if self._faults.strike(_OPERATION, "webhook_lost"):
            self._note(number, arrived=True)
            return 0
        headers = {
            "Content-Type": "application/json",
            "X-Prolific-Request-Signature": signature(value, stamp, body),
            "X-Prolific-Request-Timestamp": stamp,
            "X-Event-ID": ref,
        }
        times = 2 if self._faults.strike(_OPERATION, "webhook_doubled") else 1
        answered = [_send(target, body, headers) for _ in range(times)]
        self._note(number, arrived=any(answered))
        return times

    def _note(self, number: int, *, arrived: bool) -> None:
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
def _authorities() -> ssl.SSLContext:
    """Return whom TLS trusts, read once: reading it takes longer than an event."""
    return httpx.create_ssl_context()


def _send(target: str, body: bytes, headers: dict[str, str]) -> bool:
    with suppress(httpx.HTTPError):
        answer = httpx.post(
            target,
            content=body,
            headers=headers,
            timeout=_TIMEOUT_S,
            trust_env=False,
            verify=_authorities(),
        )
        return answer.is_success
    return False
