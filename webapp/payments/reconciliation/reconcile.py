"""Reconciling a run: every check, and fixing what is safe to fix."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentItem, PaymentState
from experiment.studies.study import Study
from webapp.core.clock import Clock
from webapp.core.forgotten import is_forgotten
from webapp.database.engine import Sessions
from webapp.database.models import Payment, Run
from webapp.database.row_counts import recount
from webapp.gate.gate import ledger_reconciled
from webapp.payments.compensate import offer_what_was_decided
from webapp.payments.ledger import Entry, is_settled, payments_of, record_payments
from webapp.payments.pay import pay
from webapp.payments.reconciliation.bonus_books import matched
from webapp.payments.reconciliation.participant_checks import (
    compensation_not_taken,
    finished_not_submitted,
    never_paid,
    receipt_of_another,
    stuck_places,
    submitted_without_work,
    unposted_offers,
    wrong_counts,
)
from webapp.payments.reconciliation.payment_checks import (
    bonuses_astray,
    changed_rewards,
    decided_elsewhere,
    is_refused_rejection,
    paid_in_part,
    paid_too_little,
    recorded_not_made,
    sums_differ,
    unrecorded_bonuses,
    unrecorded_decisions,
    unsettled,
)
from webapp.payments.reconciliation.snapshot import Discrepancy, Snapshot
from webapp.payments.reconciliation.statement import stated_minor
from webapp.recruiters.platform import Platform
from webapp.sessions.lease import release_expired

_CHECKS: tuple[Callable[[Snapshot], Iterator[Discrepancy]], ...] = (
    never_paid,
    unsettled,
    finished_not_submitted,
    submitted_without_work,
    receipt_of_another,
    decided_elsewhere,
    bonuses_astray,
    recorded_not_made,
    changed_rewards,
    paid_in_part,
    stuck_places,
    unposted_offers,
    compensation_not_taken,
    wrong_counts,
)
ELSEWHERE = "decided on the platform, not by Parallax"


def discrepancies(snapshot: Snapshot) -> list[Discrepancy]:
    """Return all discrepancies; an empty list for a clean run."""
    found = [discrepancy for check in _CHECKS for discrepancy in check(snapshot)]
    explained = {discrepancy.who for discrepancy in found}
    sums = (*sums_differ(snapshot), *paid_too_little(snapshot))
    # A discrepancy that explains a wrong total is reported instead of the total.
    return found + [discrepancy for discrepancy in sums if discrepancy.who not in explained]


def note_compared(sessions: Sessions, snapshot: Snapshot) -> None:
    """Report a comparison to the gate, if the ledger holds all payments the platform shows.

    Otherwise the gate keeps blocking until ``fix_discrepancies`` has recorded the missing payments.
    """
    if any(unrecorded_decisions(snapshot)) or any(unrecorded_bonuses(snapshot)):
        return
    with sessions.begin() as session:
        ledger_reconciled(session.connection(), snapshot.run_ref)


def fix_discrepancies(
    sessions: Sessions,
    platform: Platform,
    run: Run,
    study: Study,
    link: str,
    snapshot: Snapshot,
    now: Clock,
) -> None:
    """Fix what is safe: settle doubtful payments, record foreign payments, free places.

    Args:
        sessions: The installation's session factory.
        platform: The run's platform.
        run: The run.
        study: Its study.
        link: The address of the page on which compensation is accepted.
        snapshot: The compared state.
        now: The clock.

    Raises:
        PlatformError: An offer was refused or not answered; fixing again continues from there.
        GateError: Other runs must be compared before any payment; the findings are recorded.
    """
    if snapshot.miscounted:
        # In a transaction of its own, because every change of the counted rows waits for it.
        with sessions.begin() as session:
            recount(session.connection(), run.id)
    with sessions.begin() as session:
        session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
        release_expired(session, run, now())
        payments = _payments_of_now(session, run)
        books = matched(platform, snapshot.books.listed, payments)
        seen = replace(snapshot, payments=payments, books=books)
        _record(session, run, [*_decisions(seen, study), *_bonuses(seen)], now())
        ledger_reconciled(session.connection(), run.ref)
        # Uses the present lines, because the database may be older than the snapshot. Refused
        # rejections are left for a user to decide again.
        again = [
            line.id for line in payments if not (is_settled(line) or is_refused_rejection(line))
        ]
    pay(sessions, platform, again, now)
    offer_what_was_decided(sessions, platform, run, study, link, now)


def _payments_of_now(session: Session, run: Run) -> list[Payment]:
    """Return the ledger's present lines.

    A payment made since the ledger was read has a line there, so it was not paid by hand.
    """
    return [line for line in payments_of(session, run) if not is_forgotten(line.worker_id)]


def _record(session: Session, run: Run, entries: list[Entry], now: datetime) -> None:
    # Payments that were already made cannot exceed a limit any more.
    for payment in record_payments(session, run, entries, None, now):
        if payment.called_at is None:
            payment.state, payment.settled_at = PaymentState.DONE, now
    session.flush()


def _decisions(snapshot: Snapshot, study: Study) -> Iterator[Entry]:
    for assignment, kind, again in unrecorded_decisions(snapshot):
        payee = assignment.platform_id
        if not again:
            payee = snapshot.ref(assignment.participant_id, payee)
        reward_minor = snapshot.platform_rewards.get(assignment.hit_id or 0, study.reward_minor)
        amount_minor = stated_minor(assignment, reward_minor, study.screen_out_minor)
        yield Entry(
            PaymentItem(payee, kind, amount_minor, ELSEWHERE),
            assignment.worker_id,
            assignment.platform_id,
            assignment.participant_id,
        )


def _bonuses(snapshot: Snapshot) -> Iterator[Entry]:
    for bonus, item in unrecorded_bonuses(snapshot):
        yield Entry(
            item,
            bonus.worker_id,
            bonus.assignment_id,
            snapshot.participant_of(bonus.assignment_id),
        )
