"""The control API: clock, faults, wallet, features, records, and delivery of webhooks."""

from typing import Any, Literal

from flask import Blueprint, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from marketplace.control import FaultPlan, create_control_blueprint, json_response, read_json_object
from marketplace.prolific.money import compute_balance
from marketplace.prolific.participation import new_private_key
from marketplace.prolific.store import BonusSetup, Moment, Payment, Store, new_id
from marketplace.prolific.webhooks import WebhookSender

_MOST_MINOR = 10**12


class ProlificFaultPlan(FaultPlan):
    """The faults that the Prolific stand-in supports.

    Operations have their names in Prolific's API document, e.g. ``pay-bonus-payments``;
    ``webhook`` is the delivery of an event.
    """

    kinds = (
        "throttled",  # 429; the call is not carried out
        "server_error",  # 500; the call is not carried out
        "server_error_after",  # 500, but the call is carried out
        "request_lost",  # the connection closes; the call is not carried out
        "reply_lost",  # the connection closes, but the call is carried out
        "cut_off",  # the call is carried out, but the answer is cut off in the middle
        "slow",  # the answer is delayed
        "accepted_not_done",  # 202, but the promised work is never done
        "webhook_lost",  # an event is never delivered
        "webhook_doubled",  # an event is delivered twice
        "webhook_reordered",  # waiting events are delivered in reverse order
    )


class _Workspace(BaseModel):
    """The workspace's settings; omitted ones keep their values."""

    model_config = ConfigDict(extra="forbid")

    token: str | None = None
    features: (
        list[Literal["signed_arrivals", "screen_outs", "dynamic_payment", "auto_rejection"]] | None
    ) = None
    deposited_minor: int | None = Field(default=None, ge=0, le=_MOST_MINOR)
    fee_per_mille: int | None = Field(default=None, ge=0, le=1000)
    tax_percent: int | None = Field(default=None, ge=0, le=100)
    least_per_hour_minor: int | None = Field(default=None, ge=0)
    recommended_per_hour_minor: int | None = Field(default=None, ge=0)
    bulk_s: float | None = Field(default=None, ge=0, le=1e6)


def create_control_api(store: Store, faults: FaultPlan, courier: WebhookSender) -> Blueprint:
    """Return the blueprint of the control API; it answers requests from this machine only."""
    control = create_control_blueprint(faults, store.advance)

    @control.get("/workspace")
    def show_workspace() -> Response:
        with store.moment() as moment:
            return json_response(_workspace_settings(moment))

    @control.post("/workspace")
    def change_workspace() -> Response:
        settings = _Workspace.model_validate(read_json_object()).model_dump(exclude_none=True)
        with store.moment() as moment:
            for name, value in settings.items():
                setattr(moment.account, name, value)
            return json_response(_workspace_settings(moment))

    @control.post("/keys")
    def replace_key() -> Response:
        read_json_object()
        with store.moment() as moment:
            moment.account.private_key, moment.account.key_id = new_private_key(), new_id()
        return json_response({})

    @control.post("/webhooks")
    def deliver_webhooks() -> Response:
        read_json_object()
        return json_response({"sent": courier.deliver()})

    @control.get("/payments")
    def list_payments() -> Response:
        with store.moment() as moment:
            rows = moment.session.scalars(select(Payment).order_by(Payment.id))
            return json_response({"payments": [_payment_to_json(payment) for payment in rows]})

    @control.get("/setups")
    def list_setups() -> Response:
        with store.moment() as moment:
            rows = moment.session.scalars(select(BonusSetup).order_by(BonusSetup.id))
            return json_response(
                {"setups": [{"id": setup.ref, "study": setup.study} for setup in rows]}
            )

    return control


def _workspace_settings(moment: Moment) -> dict[str, Any]:
    account = moment.account
    total, available = compute_balance(moment)
    return {
        **{name: getattr(account, name) for name in _Workspace.model_fields},
        "workspace": account.workspace,
        "currency": account.currency,
        "total_minor": total,
        "available_minor": available,
    }


def _payment_to_json(payment: Payment) -> dict[str, Any]:
    return {
        "kind": payment.kind,
        "participant": payment.submission.participant,
        "submission": payment.submission.ref,
        "study": payment.submission.study.ref,
        "amount_minor": payment.amount_minor,
        "fee_minor": payment.fee_minor,
        "tax_minor": payment.tax_minor,
        "setup": payment.setup,
        "paid_at": payment.paid_at.isoformat(),
    }
