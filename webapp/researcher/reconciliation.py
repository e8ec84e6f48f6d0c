"""Reconciling a run in the browser: what differs, doing what is safe, settling what is in doubt."""

from datetime import UTC, datetime

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from experiment.errors import ParallaxError
from webapp.database.engine import reading
from webapp.errors import RequestError
from webapp.payments.reconciliation.reconcile import (
    discrepancies,
    fix_discrepancies,
    note_compared,
)
from webapp.payments.reconciliation.snapshot import Snapshot, take_snapshot
from webapp.payments.reconciliation.statement import in_agreement
from webapp.payments.run_payments import RunPayments, open_run_payments
from webapp.payments.two_steps import settle_by_hand
from webapp.projects.rights import Right
from webapp.researcher.access import allowed, current_user
from webapp.researcher.money import compensation_link
from webapp.researcher.money import refuse as refuse_on_money_page
from webapp.researcher.paging import whole_number
from webapp.services import current_services
from webapp.sessions.lookup import find_run

_DIGITS = 9
reconciling_pages = Blueprint("reconciling", __name__)
reconciling_pages.register_error_handler(ParallaxError, refuse_on_money_page)


@reconciling_pages.post("/runs/<ref>/reconcile")
@allowed(Right.PAY)
def look(ref: str) -> str:
    """Compare our records, the platform and the ledger."""
    payments = _open(ref)
    snapshot = _snapshot(payments)
    found = discrepancies(snapshot)
    return render_template(
        "researcher/reconcile.html",
        run=payments.run,
        statements=snapshot.statements,
        found=found,
        agreement=in_agreement(ref, snapshot.statements),
        live=request.form.get("live", ""),
    )


@reconciling_pages.post("/runs/<ref>/reconcile/fix")
@allowed(Right.PAY)
def fix(ref: str) -> ResponseReturnValue:
    """Do what is safe, and show what is left."""
    payments = _open(ref)
    snapshot = _snapshot(payments)
    found = [each for each in discrepancies(snapshot) if each.safe]
    payments.note(
        "discrepancies mended",
        found=", ".join(f"{each.problem} ({each.who})" for each in found) or "none",
    )
    fix_discrepancies(
        payments.sessions,
        payments.platform,
        payments.run,
        payments.study,
        compensation_link(ref),
        snapshot,
        payments.now,
    )
    return redirect(url_for("money.show", ref=ref), 303)


@reconciling_pages.post("/runs/<ref>/money/settle")
@allowed(Right.PAY)
def settle(ref: str) -> ResponseReturnValue:
    """Record whether a payment in doubt was made, on the word of who looked at the platform."""
    payments, form = _open(ref), request.form
    number, said = whole_number(form.get("payment", ""), _DIGITS), form.get("seen", "")
    if said not in ("paid", "not paid"):
        problem = "Say whether the platform's own site shows the payment."
        raise RequestError(problem, status=400, code="not_said")
    settled = settle_by_hand(
        payments.sessions,
        payments.run,
        number,
        payments.now,
        is_paid=said == "paid",
        looked_at=_looked_at(form.get("looked", "")),
    )
    payments.note("payment settled by hand", payment=str(settled.id), state=settled.state)
    return redirect(url_for("money.show", ref=ref), 303)


def _looked_at(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        problem = "The form is not whole. Open the page of the run's money again."
        raise RequestError(problem, status=400, code="not_said") from error


def _open(ref: str) -> RunPayments:
    services = current_services()
    with reading(services.sessions) as session:
        find_run(session, ref)
    return open_run_payments(
        services.settings,
        services.sessions,
        ref,
        live=bool(request.form.get("live")),
        by=current_user().name,
        now=services.now,
    )


def _snapshot(payments: RunPayments) -> Snapshot:
    services = current_services()
    snapshot = take_snapshot(
        payments.sessions, payments.platform, payments.run, services.tokens, payments.now()
    )
    note_compared(payments.sessions, snapshot)
    return snapshot
