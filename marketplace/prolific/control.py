"""The control address: clock, faults, wallet, features, the books, and webhooks at will."""

from typing import Any, Literal

from flask import Blueprint, Response
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from marketplace.control import answer, given, shared_control
from marketplace.faults import FaultPlan
from marketplace.prolific.arrivals import new_private_key
from marketplace.prolific.money import balance
from marketplace.prolific.store import Moment, Store
from marketplace.prolific.tables import BonusSetup, Payment, new_id
from marketplace.prolific.webhooks import Courier

_MOST_MINOR = 10**12


class ProlificFaultPlan(FaultPlan):
    """The faults that Prolific's stand-in makes.

    An operation is named as Prolific's own document names it, e.g. ``pay-bonus-payments``;
    ``webhook`` is the delivery of an event.
    """

    kinds = (
        "throttled",  # 429; nothing is done
        "server_error",  # 500; nothing is done
        "server_error_after",  # 500, but the deed is done
        "request_lost",  # the connection closes; nothing is done
        "reply_lost",  # the connection closes, but the deed is done
        "cut_off",  # the deed is done, and the answer ends in its middle
        "slow",  # the answer comes after a while
        "accepted_not_done",  # 202, and what was promised never happens
        "webhook_lost",  # an event reaches nobody
        "webhook_doubled",  # an event comes twice
        "webhook_reordered",  # waiting events come in the other order
    )


class _Settings(BaseModel):
    """What of the workspace can be set; what is left out stays."""

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


def control_door(store: Store, faults: FaultPlan, courier: Courier) -> Blueprint:
    """Return the control addresses; they answer this machine only."""
    door = shared_control(faults, store.advance)

    @door.get("/workspace")
    def shown() -> Response:
        with store.moment() as moment:
            return answer(_workspace(moment))

    @door.post("/workspace")
    def changed() -> Response:
        wanted = _Settings.model_validate(given()).model_dump(exclude_none=True)
        with store.moment() as moment:
            for name, value in wanted.items():
                setattr(moment.account, name, value)
            return answer(_workspace(moment))

    @door.post("/keys")
    def new_key() -> Response:
        given()
        with store.moment() as moment:
            moment.account.private_key, moment.account.key_id = new_private_key(), new_id()
        return answer({})

    @door.post("/webhooks")
    def deliver() -> Response:
        given()
        return answer({"sent": courier.deliver()})

    @door.get("/payments")
    def payments() -> Response:
        with store.moment() as moment:
            found = moment.session.scalars(select(Payment).order_by(Payment.id))
            return answer({"payments": [_payment(each) for each in found]})

    @door.get("/setups")
    def setups() -> Response:
        with store.moment() as moment:
            found = moment.session.scalars(select(BonusSetup).order_by(BonusSetup.id))
            return answer({"setups": [{"id": each.ref, "study": each.study} for each in found]})

    return door


def _workspace(moment: Moment) -> dict[str, Any]:
    account = moment.account
    total, available = balance(moment)
    return {
        **{name: getattr(account, name) for name in _Settings.model_fields},
        "workspace": account.workspace,
        "currency": account.currency,
        "total_minor": total,
        "available_minor": available,
    }


def _payment(payment: Payment) -> dict[str, Any]:
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
