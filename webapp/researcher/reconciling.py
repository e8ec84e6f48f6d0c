"""Comparing a run's records with its platform and ledger, and settling payments in doubt."""

from datetime import UTC, datetime

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from experiment.errors import ParallaxError
from webapp.errors import RequestError
from webapp.payments.non_idempotent_bonuses import settle_by_hand
from webapp.payments.reconciliation.reconcile import (
    find_discrepancies,
    fix_discrepancies,
    report_comparison,
)
from webapp.payments.reconciliation.snapshot import PaymentSnapshot, take_snapshot
from webapp.payments.reconciliation.statement import describe_agreement
from webapp.payments.run_payments import RunPayments
from webapp.researcher.access import redirect_after_act, require_access
from webapp.researcher.money import (
    MoneyForm,
    make_compensation_link,
    open_payments,
    show_error,
)
from webapp.researcher.run_checks import check_first, check_may_pay
from webapp.researcher.template_globals import parse_whole_number
from webapp.services import current_services
from webapp.users.roles import Right

_DIGITS = 9
reconciling_pages = Blueprint("reconciling", __name__)
reconciling_pages.register_error_handler(ParallaxError, show_error)


@reconciling_pages.post("/runs/<ref>/reconcile")
@require_access(Right.PAY)
def compare_payments(ref: str) -> str:
    """Compare our records, the platform and the ledger."""
    payments = open_payments(ref, MoneyForm.from_form())
    snapshot = _take_snapshot(payments)
    return render_template(
        "researcher/reconcile.html",
        run=payments.run,
        statements=snapshot.statements,
        found=find_discrepancies(snapshot),
        agreement=describe_agreement(ref, snapshot.statements),
        live=request.form.get("live", ""),
    )


@reconciling_pages.post("/runs/<ref>/reconcile/fix")
@require_access(Right.PAY)
@check_first(check_may_pay)
def fix_safe_discrepancies(ref: str) -> ResponseReturnValue:
    """Fix the discrepancies that are safe to fix, and show the others."""
    payments = open_payments(ref, MoneyForm.from_form())
    snapshot = _take_snapshot(payments)
    safe = [discrepancy for discrepancy in find_discrepancies(snapshot) if discrepancy.safe]
    payments.log_act(
        "discrepancies mended",
        found=", ".join(
            f"{safe_discrepancy.problem} ({safe_discrepancy.who})" for safe_discrepancy in safe
        )
        or "none",
    )
    fix_discrepancies(
        payments.sessions,
        payments.platform,
        payments.run,
        payments.study,
        make_compensation_link(ref),
        snapshot,
        payments.now,
    )
    return redirect_after_act("money.show_payments", ref=ref)


@reconciling_pages.post("/runs/<ref>/money/settle")
@require_access(Right.PAY)
def settle_payment(ref: str) -> ResponseReturnValue:
    """Record whether a doubtful payment was made, as the user saw on the platform's own site."""
    payments, form = open_payments(ref, MoneyForm.from_form()), request.form
    number, platform_shows = (
        parse_whole_number(form.get("payment", ""), _DIGITS),
        form.get("seen", ""),
    )
    if platform_shows not in ("paid", "not paid"):
        problem = "Say whether the platform's own site shows the payment."
        raise RequestError(problem, status=400, code="not_said")
    settled = settle_by_hand(
        payments.sessions,
        payments.run,
        number,
        payments.now,
        is_paid=platform_shows == "paid",
        looked_at=_parse_checked_time(form.get("looked", "")),
    )
    payments.log_act(
        "payment settled by hand",
        was={"state": "in doubt"},
        payment=str(settled.id),
        state=settled.state,
    )
    return redirect_after_act("money.show_payments", ref=ref)


def _parse_checked_time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        problem = "The form is incomplete. Open the page of the run's money again."
        raise RequestError(problem, status=400, code="not_said") from error


def _take_snapshot(payments: RunPayments) -> PaymentSnapshot:
    services = current_services()
    snapshot = take_snapshot(
        payments.sessions, payments.platform, payments.run, services.tokens, payments.now()
    )
    report_comparison(payments.sessions, snapshot)
    return snapshot
