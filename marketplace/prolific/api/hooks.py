"""Webhook calls: the secret, subscriptions, and sent events."""

import secrets
from typing import Any

from flask import request
from sqlalchemy import delete, select

from marketplace.prolific.api.middleware import API, ApiRouter, Reply, read_json_object
from marketplace.prolific.api.serializers import format_time
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.store import Event, Moment, Secret, Subscription
from marketplace.prolific.webhooks import EVENT_TYPES
from marketplace.serving import is_secure

_HOOKS_PATH = f"{API}/hooks"
_SUBSCRIPTION_PATH = f"{_HOOKS_PATH}/subscriptions/<ref>/"


def add_secrets(router: ApiRouter) -> None:
    """Add the calls about secrets."""

    @router.on("GET", f"{_HOOKS_PATH}/secrets/", "get-secrets")
    def get_secrets(moment: Moment) -> Reply:
        secret_rows = moment.session.scalars(select(Secret))
        return 200, {"results": [_serialize_secret(moment, secret) for secret in secret_rows]}

    @router.on("POST", f"{_HOOKS_PATH}/secrets/", "create-secret")
    def create_secret(moment: Moment) -> Reply:
        read_json_object()
        # There is one secret at a time: a new one replaces the old one.
        moment.session.execute(delete(Secret))
        secret = Secret(value=secrets.token_urlsafe(32))
        moment.session.add(secret)
        moment.session.flush()
        return 201, _serialize_secret(moment, secret)


def add_subscriptions(router: ApiRouter) -> None:
    """Add the calls about subscriptions."""

    @router.on("GET", f"{_HOOKS_PATH}/subscriptions/", "get-subscriptions")
    def get_subscriptions(moment: Moment) -> Reply:
        subscriptions = moment.session.scalars(select(Subscription).order_by(Subscription.id))
        return 200, {
            "results": [
                _serialize_subscription(moment, subscription) for subscription in subscriptions
            ]
        }

    @router.on("POST", f"{_HOOKS_PATH}/subscriptions/", "create-subscription")
    def create_subscription(moment: Moment) -> Reply:
        fields = read_json_object()
        _validate_subscription(moment, fields)
        subscription = Subscription(
            event_type=fields["event_type"],
            target_url=fields["target_url"],
            hook_secret=secrets.token_urlsafe(16),
        )
        moment.session.add(subscription)
        moment.session.flush()
        created = _serialize_subscription(moment, subscription)
        return 201, {**created, "results": [created]}, {"X-Hook-Secret": subscription.hook_secret}

    @router.on("GET", _SUBSCRIPTION_PATH, "get-subscription")
    def get_subscription(moment: Moment, ref: str) -> Reply:
        return 200, _serialize_subscription(moment, _find_subscription(moment, ref))

    @router.on("POST", _SUBSCRIPTION_PATH, "confirm-subscription")
    def confirm_subscription(moment: Moment, ref: str) -> Reply:
        subscription = _find_subscription(moment, ref)
        if read_json_object().get("secret") != subscription.hook_secret:
            raise RefusedError({"secret": ["It is not the one of the subscription."]})
        subscription.enabled, subscription.failures = True, 0
        return 200, _serialize_subscription(moment, subscription)

    @router.on("PATCH", _SUBSCRIPTION_PATH, "update-subscription")
    def update_subscription(moment: Moment, ref: str) -> Reply:
        subscription, fields = _find_subscription(moment, ref), read_json_object()
        subscription.event_type = fields.get("event_type", subscription.event_type)
        subscription.target_url = fields.get("target_url", subscription.target_url)
        subscription.enabled = bool(fields.get("is_enabled", subscription.enabled))
        subscription.failures = 0
        return 200, _serialize_subscription(moment, subscription)

    @router.on("GET", f"{_SUBSCRIPTION_PATH}events/", "get-events")
    def get_events(moment: Moment, ref: str) -> Reply:
        query = select(Event).where(Event.subscription_id == _find_subscription(moment, ref).id)
        first, most = (int(request.args.get(n, d)) for n, d in (("offset", 0), ("limit", 100)))
        page_events = moment.session.scalars(query.order_by(Event.id).offset(first).limit(most))
        return 200, {"results": [_serialize_event(event) for event in page_events]}


def _validate_subscription(moment: Moment, fields: dict[str, Any]) -> None:
    problems: dict[str, list[str]] = {}
    if fields.get("event_type") not in EVENT_TYPES:
        problems["event_type"] = [f"One of: {', '.join(EVENT_TYPES)}."]
    if not is_secure(str(fields.get("target_url", ""))):
        problems["target_url"] = ["An address that begins with https:// is needed."]
    if fields.get("workspace_id") != moment.account.workspace:
        problems["workspace_id"] = ["There is no such workspace."]
    if moment.session.scalars(select(Secret)).first() is None:
        problems["workspace_id"] = ["Create a secret first."]
    if problems:
        raise RefusedError(problems)


def _find_subscription(moment: Moment, ref: str) -> Subscription:
    subscription = moment.session.scalar(select(Subscription).where(Subscription.ref == ref))
    if subscription is None:
        raise UnknownError("subscription")
    return subscription


def _serialize_secret(moment: Moment, secret: Secret) -> dict[str, Any]:
    return {"id": secret.ref, "value": secret.value, "workspace_id": moment.account.workspace}


def _serialize_subscription(moment: Moment, subscription: Subscription) -> dict[str, Any]:
    return {
        "id": subscription.ref,
        "event_type": subscription.event_type,
        "target_url": subscription.target_url,
        "is_enabled": subscription.enabled,
        "workspace_id": moment.account.workspace,
    }


def _serialize_event(event: Event) -> dict[str, Any]:
    return {
        "id": event.ref,
        "datetime_created": format_time(event.created_at),
        "datetime_updated": format_time(event.created_at),
        "event_type": event.subscription.event_type,
        "resource_id": event.resource,
        "status": event.status,
        "target_url": event.subscription.target_url,
        "payload": event.payload,
    }
