"""The control address: clock, faults, play money and workers' profiles, for tests and drills."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, jsonify, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import select

from webapp.addresses import is_loopback
from webapp.marketplace.errors import MarketplaceError
from webapp.marketplace.faults import FaultPlan
from webapp.marketplace.profiles import Profile, keep_profile
from webapp.marketplace.serving import address
from webapp.marketplace.store import Store
from webapp.marketplace.tables import Payment


class _Clock(BaseModel):
    model_config = ConfigDict(extra="forbid")
    advance_s: float = Field(allow_inf_nan=False, ge=-1e9, le=1e9)


class _Deposit(BaseModel):
    model_config = ConfigDict(extra="forbid")
    cents: int = Field(ge=-(10**12), le=10**12)


def control_door(store: Store, faults: FaultPlan) -> Blueprint:
    """Return the control addresses; they answer this machine only."""
    door = Blueprint("control", __name__, url_prefix="/control")

    @door.before_request
    def _only_here() -> Response | None:
        caller = address(request.remote_addr or "", 0)
        here = is_loopback(caller) and is_loopback(request.host_url)
        # A page of another site can send a form, but not JSON, so it cannot reach in.
        if here and (request.method == "GET" or request.is_json):
            return None
        return _answer({"error": "the control address takes JSON from this machine only"}, 403)

    @door.errorhandler(ValidationError)
    def _invalid(error: ValidationError) -> Response:
        return _answer({"error": str(error.errors(include_url=False)[0]["msg"])}, 400)

    @door.errorhandler(MarketplaceError)
    def _unusable(error: MarketplaceError) -> Response:
        return _answer({"error": str(error)}, 400)

    @door.get("/faults")
    def faults_now() -> Response:
        return _answer(faults.told())

    @door.post("/faults")
    def set_faults() -> Response:
        faults.set(_given())
        return _answer(faults.told())

    @door.post("/clock")
    def move_clock() -> Response:
        now = store.advance(_Clock.model_validate(_given()).advance_s)
        return _answer({"now": now.isoformat()})

    @door.post("/deposit")
    def deposit() -> Response:
        store.deposit(_Deposit.model_validate(_given()).cents)
        return _answer({})

    @door.post("/workers")
    def profile() -> Response:
        with store.moment() as (session, _):
            keep_profile(session, Profile.model_validate(_given()))
        return _answer({})

    @door.get("/payments")
    def payments() -> Response:
        with store.moment() as (session, _):
            found = session.scalars(select(Payment).order_by(Payment.id))
            return _answer({"payments": [_told(payment) for payment in found]})

    return door


def _given() -> Mapping[str, Any]:
    given = request.get_json(silent=True)
    if not isinstance(given, dict):
        raise MarketplaceError("the body must be a JSON object")
    return given


def _told(payment: Payment) -> dict[str, Any]:
    return {
        "kind": payment.kind,
        "worker_id": payment.worker_id,
        "assignment_id": payment.assignment_id,
        "amount_cents": payment.amount_cents,
        "fee_cents": payment.fee_cents,
        "paid_at": payment.paid_at.isoformat(),
    }


def _answer(told: Mapping[str, Any], status: int = 200) -> Response:
    response = jsonify(told)
    response.status_code = status
    return response
