"""The control API: clock, faults, play money and worker profiles, for tests and drills."""

from typing import Any

from flask import Blueprint, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from marketplace.control import FaultPlan, create_control_blueprint, json_response, read_json_object
from marketplace.mturk.store import Store
from marketplace.mturk.tables import Payment
from marketplace.mturk.workers import Profile, save_profile


class MturkFaultPlan(FaultPlan):
    """The faults that the Mechanical Turk stand-in supports."""

    kinds = (
        "throttled",  # ThrottlingException; the call is not carried out
        "server_error",  # ServiceFault; the call is not carried out
        "server_error_after",  # ServiceFault, but the call is carried out
        "request_lost",  # the connection closes; the call is not carried out
        "reply_lost",  # the connection closes, but the call is carried out
        "slow",  # the answer is delayed
        "duplicated",  # a message stays in the queue after it is received
        "reordered",  # messages are received in another order
        "id_reused",  # an accepted assignment gets the identifier of a returned one
    )


class _Deposit(BaseModel):
    model_config = ConfigDict(extra="forbid")
    cents: int = Field(ge=-(10**12), le=10**12)


def create_control_api(store: Store, faults: FaultPlan) -> Blueprint:
    """Return the blueprint of the control API; it answers requests from this machine only."""
    control = create_control_blueprint(faults, store.advance)

    @control.post("/deposit")
    def deposit() -> Response:
        store.deposit(_Deposit.model_validate(read_json_object()).cents)
        return json_response({})

    @control.post("/workers")
    def profile() -> Response:
        with store.moment() as (session, _):
            save_profile(session, Profile.model_validate(read_json_object()))
        return json_response({})

    @control.get("/payments")
    def payments() -> Response:
        with store.moment() as (session, _):
            rows = session.scalars(select(Payment).order_by(Payment.id))
            return json_response({"payments": [_payment_to_json(payment) for payment in rows]})

    return control


def _payment_to_json(payment: Payment) -> dict[str, Any]:
    return {
        "kind": payment.kind,
        "worker_id": payment.worker_id,
        "assignment_id": payment.assignment_id,
        "amount_cents": payment.amount_cents,
        "fee_cents": payment.fee_cents,
        "reason": payment.reason,
        "paid_at": payment.paid_at.isoformat(),
    }
