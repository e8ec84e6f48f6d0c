"""Webhook calls: the secret, subscriptions, and sent events."""

import secrets
from typing import Any

from flask import request
from sqlalchemy import delete, select

from marketplace.prolific.api.middleware import API, Door, Reply, given
from marketplace.prolific.api.serializers import time
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.store import Event, Moment, Secret, Subscription
from marketplace.prolific.webhooks import EVENT_TYPES
from marketplace.serving import is_secure

_HOOKS = f"{API}/hooks"
_ONE = f"{_HOOKS}/subscriptions/<ref>/"


def add_secrets(door: Door) -> None:
    """Add the calls about event types and secrets."""

    @door.on("GET", f"{_HOOKS}/event-types/", "get-event-types")
    def types(_moment: Moment) -> Reply:
        kinds = [{"event_type": name, "description": text} for name, text in EVENT_TYPES.items()]
        return 200, {"results": kinds}

    @door.on("GET", f"{_HOOKS}/secrets/", "get-secrets")
    def listed(moment: Moment) -> Reply:
        found = moment.session.scalars(select(Secret))
        return 200, {"results": [_secret(moment, each) for each in found]}

    @door.on("POST", f"{_HOOKS}/secrets/", "create-secret")
    def made(moment: Moment) -> Reply:
        given()
        # There is one secret at a time: a new one replaces the old one.
        moment.session.execute(delete(Secret))
        secret = Secret(value=secrets.token_urlsafe(32))
        moment.session.add(secret)
        moment.session.flush()
        return 201, _secret(moment, secret)


def add_subscriptions(door: Door) -> None:
    """Add the calls about subscriptions."""

    @door.on("GET", f"{_HOOKS}/subscriptions/", "get-subscriptions")
    def listed(moment: Moment) -> Reply:
        found = moment.session.scalars(select(Subscription).order_by(Subscription.id))
        return 200, {"results": [_subscription(moment, each) for each in found]}

    @door.on("POST", f"{_HOOKS}/subscriptions/", "create-subscription")
    def made(moment: Moment) -> Reply:
        asked = given()
        _refuse_wrong(moment, asked)
        subscription = Subscription(
            event_type=asked["event_type"],
            target_url=asked["target_url"],
            hook_secret=secrets.token_urlsafe(16),
        )
        moment.session.add(subscription)
        moment.session.flush()
        created = _subscription(moment, subscription)
        return 201, {**created, "results": [created]}, {"X-Hook-Secret": subscription.hook_secret}

    @door.on("GET", _ONE, "get-subscription")
    def shown(moment: Moment, ref: str) -> Reply:
        return 200, _subscription(moment, _find(moment, ref))

    @door.on("POST", _ONE, "confirm-subscription")
    def confirmed(moment: Moment, ref: str) -> Reply:
        found = _find(moment, ref)
        if given().get("secret") != found.hook_secret:
            raise RefusedError({"secret": ["It is not the one of the subscription."]})
        found.enabled, found.failures = True, 0
        return 200, _subscription(moment, found)

    @door.on("PATCH", _ONE, "update-subscription")
    def changed(moment: Moment, ref: str) -> Reply:
        found, asked = _find(moment, ref), given()
        found.event_type = asked.get("event_type", found.event_type)
        found.target_url = asked.get("target_url", found.target_url)
        found.enabled = bool(asked.get("is_enabled", found.enabled))
        found.failures = 0
        return 200, _subscription(moment, found)

    @door.on("DELETE", _ONE, "delete-subscription")
    def deleted(moment: Moment, ref: str) -> Reply:
        found = _find(moment, ref)
        moment.session.execute(delete(Event).where(Event.subscription_id == found.id))
        moment.session.delete(found)
        return 204, {}

    @door.on("GET", f"{_ONE}events/", "get-events")
    def events(moment: Moment, ref: str) -> Reply:
        wanted = select(Event).where(Event.subscription_id == _find(moment, ref).id)
        first, most = (int(request.args.get(n, d)) for n, d in (("offset", 0), ("limit", 100)))
        found = moment.session.scalars(wanted.order_by(Event.id).offset(first).limit(most))
        return 200, {"results": [_event(each) for each in found]}


def _refuse_wrong(moment: Moment, asked: dict[str, Any]) -> None:
    wrong: dict[str, list[str]] = {}
    if asked.get("event_type") not in EVENT_TYPES:
        wrong["event_type"] = [f"One of: {', '.join(EVENT_TYPES)}."]
    if not is_secure(str(asked.get("target_url", ""))):
        wrong["target_url"] = ["An address that begins with https:// is needed."]
    if asked.get("workspace_id") != moment.account.workspace:
        wrong["workspace_id"] = ["There is no such workspace."]
    if moment.session.scalars(select(Secret)).first() is None:
        wrong["workspace_id"] = ["Create a secret first."]
    if wrong:
        raise RefusedError(wrong)


def _find(moment: Moment, ref: str) -> Subscription:
    found = moment.session.scalar(select(Subscription).where(Subscription.ref == ref))
    if found is None:
        raise UnknownError("subscription")
    return found


def _secret(moment: Moment, found: Secret) -> dict[str, Any]:
    return {"id": found.ref, "value": found.value, "workspace_id": moment.account.workspace}


def _subscription(moment: Moment, found: Subscription) -> dict[str, Any]:
    return {
        "id": found.ref,
        "event_type": found.event_type,
        "target_url": found.target_url,
        "is_enabled": found.enabled,
        "workspace_id": moment.account.workspace,
    }


def _event(found: Event) -> dict[str, Any]:
    return {
        "id": found.ref,
        "datetime_created": time(found.created_at),
        "datetime_updated": time(found.created_at),
        "event_type": found.subscription.event_type,
        "resource_id": found.resource,
        "status": found.status,
        "target_url": found.subscription.target_url,
        "payload": found.payload,
    }
