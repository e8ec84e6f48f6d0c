"""The paying workspace: currency, wallet, fees, recommended pay, bonuses, and webhooks."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from experiment.money import write_amount
from experiment.payment.cost import Charge
from webapp.core.i18n import gettext
from webapp.errors import RequestError
from webapp.recruiters.platform import PlatformError
from webapp.recruiters.prolific.api import ApiClient, BalanceAnswer, Recommendation, member, parse


@dataclass(slots=True)
class Workspace:
    """One workspace; constant values are read once.

    Attributes:
        calls: The API.
        ref: The workspace's id; empty for the first workspace that the token may use.
    """

    calls: ApiClient
    ref: str = ""
    _currency: str = ""
    _fees: dict[tuple[int, int], int] = field(default_factory=dict)

    def id(self) -> str:
        """Return the workspace's id.

        Raises:
            PlatformError: The token may use no workspace.
        """
        if not self.ref:
            first = next(iter(self.calls.list_entries("/workspaces/", {})), None)
            if first is None:
                raise PlatformError(
                    "the token has access to no workspace", where="GET /workspaces/"
                )
            self.ref = str(member(first, "id", "GET /workspaces/"))
        return self.ref

    def currency(self) -> str:
        """Return the code of the workspace's currency."""
        if not self._currency:
            self._currency = self._balance().currency_code
        return self._currency

    def balance_minor(self) -> int:
        """Return the balance that no study has reserved."""
        return self._balance().available_balance

    def fees_minor(self, charges: Sequence[Charge]) -> int:
        """Return fees and taxes on payments, from the platform's calculator."""
        return sum(map(self._fee, charges))

    def recommendation(self) -> Recommendation | None:
        """Return the platform's recommended pay; None if it recommends nothing."""
        parameters = {"workspace_id": self.id(), "currency": self.currency()}
        recommendations = self.calls.get("/reward-recommendations/", parameters)
        return (
            parse(Recommendation, recommendations[0], "GET /reward-recommendations/")
            if recommendations
            else None
        )

    def eligible(self, filters: Sequence[Mapping[str, Any]]) -> int | None:
        """Return how many people pass the filters.

        None below 25, which the platform does not tell.
        """
        where = "/eligibility-count/"
        body = {"filters": list(filters), "workspace_id": self.id()}
        return int(member(self.calls.send("POST", where, body), "count", where)) or None

    def _fee(self, charge: Charge) -> int:
        if not (charge.amount_minor and charge.payments):
            return 0
        key = charge.amount_minor, charge.payments
        if key not in self._fees:
            body = {"reward": charge.amount_minor, "total_available_places": charge.payments}
            where = "/study-cost-calculator/"
            total = int(member(self.calls.send("POST", where, body), "total_cost", where))
            self._fees[key] = total - charge.amount_minor * charge.payments
        return self._fees[key]

    def _balance(self) -> BalanceAnswer:
        where = f"/workspaces/{self.id()}/balance/"
        return parse(BalanceAnswer, self.calls.get(where), f"GET {where}")


def format_bonus(submission_id: str, amount_minor: int, currency: str) -> str:
    """Return the CSV line that sets up one bonus.

    30 minor units of GBP are ``0.30``, never ``30``.
    """
    return f"{submission_id},{write_amount(amount_minor, currency)}"


_SIGNATURE, _TIME = "X-Prolific-Request-Signature", "X-Prolific-Request-Timestamp"
_SUBMISSION = "submission.status.change"
_SECONDS = re.compile(r"[0-9]{1,11}", re.ASCII)
# An older call is refused as a replay.
_OLDEST_EVENT = timedelta(minutes=15)
_SECRETS, _SUBSCRIPTIONS = "/hooks/secrets/", "/hooks/subscriptions/"
_EVENT = "submission.status.change"


def find_hook_submission(
    secret: str, headers: Mapping[str, str], body: bytes, at: datetime
) -> str | None:
    """Return the id of the submission that an event is about; None for other events.

    Raises:
        RequestError: The call is not from the platform or is too old, or no secret is set.
    """
    stamp = headers.get(_TIME, "")
    digest = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
    signature = base64.b64encode(digest)
    if not secret or not hmac.compare_digest(signature, headers.get(_SIGNATURE, "").encode()):
        raise _foreign_call_error("bad_signature")
    if (
        not _SECONDS.fullmatch(stamp)
        or abs(at - datetime.fromtimestamp(int(stamp), UTC)) > _OLDEST_EVENT
    ):
        raise _foreign_call_error("too_old")
    try:
        event = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _foreign_call_error("unreadable") from error
    if not isinstance(event, dict) or event.get("event_type") != _SUBMISSION:
        return None
    return str(event.get("resource_id", "")) or None


def _foreign_call_error(code: str) -> RequestError:
    return RequestError(gettext("This call was not made by the platform."), status=403, code=code)


def webhook_secret(calls: ApiClient, workspace: str, *, new: bool) -> str:
    """Return the secret of the workspace's webhooks, creating one if there is none.

    Args:
        calls: The API.
        workspace: The workspace's id.
        new: Whether a new secret is made in any case; the old one stops working for other tools.
    """
    if not new:
        secrets = member(calls.get(_SECRETS, {"workspace_id": workspace}), "results", _SECRETS)
        workspace_secrets = [
            secret for secret in secrets if secret.get("workspace_id") in (workspace, None)
        ]
        if workspace_secrets:
            return str(member(workspace_secrets[-1], "value", _SECRETS))
    return str(member(calls.send_once(_SECRETS, {"workspace_id": workspace}), "value", _SECRETS))


def subscribe(calls: ApiClient, workspace: str, target_url: str) -> str:
    """Subscribe to a workspace's submissions, and return the subscription's id.

    An existing subscription is used again, and re-enabled if failures had disabled it.

    Raises:
        PlatformError: The platform refused, or did not say how to confirm.
    """
    subscriptions = calls.get(_SUBSCRIPTIONS, {"workspace_id": workspace})
    for subscription in member(subscriptions, "results", _SUBSCRIPTIONS):
        if (subscription.get("target_url"), subscription.get("event_type")) == (target_url, _EVENT):
            ref = str(member(subscription, "id", _SUBSCRIPTIONS))
            if not subscription.get("is_enabled"):
                calls.send("PATCH", f"{_SUBSCRIPTIONS}{ref}/", {"is_enabled": True})
            return ref
    body = {"workspace_id": workspace, "event_type": _EVENT, "target_url": target_url}
    response, headers = calls.send_once_with_headers(_SUBSCRIPTIONS, body)
    ref = str(member(_read_new_subscription(response), "id", _SUBSCRIPTIONS))
    if not (proof := headers.get("X-Hook-Secret", "")):
        raise PlatformError(
            "the platform did not say how to confirm the subscription", where=_SUBSCRIPTIONS
        )
    calls.send("POST", f"{_SUBSCRIPTIONS}{ref}/", {"secret": proof})
    return ref


def _read_new_subscription(subscription: dict[str, Any]) -> dict[str, Any]:
    """Return a new subscription; per the reference in a list, per the guide without."""
    return subscription if "id" in subscription else next(iter(subscription.get("results") or [{}]))
