"""Reconciling a run: every check, those of participants, and fixing what is safe to fix."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.money import in_words
from experiment.payment.payment import PaymentItem, PaymentKind, PaymentState
from experiment.studies.study import Study
from webapp.core.clock import Clock
from webapp.core.sealing import is_forgotten
from webapp.database.engine import Sessions
from webapp.database.models import Assignment, Payment, Run
from webapp.database.row_counts import recount
from webapp.gate.gate import record_reconciliation
from webapp.payments.accounts import PayeeAccount
from webapp.payments.compensate import post_recorded_offers
from webapp.payments.ledger import Entry, is_settled, load_payments, record_payments
from webapp.payments.pay import make_payments
from webapp.payments.reconciliation.payment_checks import (
    check_changed_rewards,
    check_outside_decisions,
    check_partial_payments,
    check_recorded_not_made,
    check_totals,
    check_underpayments,
    check_unexpected_bonuses,
    check_unsettled,
    find_unrecorded_bonuses,
    find_unrecorded_decisions,
    is_refused_rejection,
)
from webapp.payments.reconciliation.snapshot import Discrepancy, PaymentSnapshot, match_bonuses
from webapp.payments.reconciliation.statement import compute_platform_pay_minor
from webapp.recruiters.platform import Platform
from webapp.sessions.lease import release_expired


def check_finished_not_submitted(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield participants who did the work and cannot be paid, for want of a submission."""
    for account in snapshot.accounts:
        was_offered = account.payment(PaymentKind.COMPENSATION) is not None
        if account.finished and account.assignment is None and not was_offered:
            ref = account.participant.ref
            yield Discrepancy(
                "finished_not_submitted",
                ref,
                "finished here, but submitted nothing on the platform",
                "Wait until the time limit has passed, then run:"
                f" parallax compensate {snapshot.run_ref} {ref}",
            )


def check_never_paid(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield participants who finished and submitted but are not in the ledger."""
    for account, assignment in _find_unreviewed_submissions(snapshot):
        if snapshot.ledger.get(assignment.platform_id):
            continue
        if account.payment(PaymentKind.COMPENSATION) is None:
            yield Discrepancy(
                "never_paid",
                account.participant.ref,
                "finished and submitted, but was not paid",
                f"parallax approve {snapshot.run_ref}",
            )
        else:
            yield Discrepancy(
                "compensated_and_submitted",
                account.participant.ref,
                "was offered compensation, and submitted afterwards",
                "Decide whether to pay the reward as well: "
                f"{_suggest_decision(snapshot, assignment)}",
            )


def check_receipts(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield unpaid submissions whose receipt is not the one that their participant was given."""
    for account, assignment in _find_unreviewed_submissions(snapshot):
        ref = account.participant.ref
        if snapshot.receipts.get(assignment.platform_id, ref) != ref:
            yield Discrepancy(
                "receipt_of_another",
                ref,
                "the submitted receipt is missing, forged or another participant's",
                (
                    "The form was not sent from the study's page. The participant did finish, so "
                    "the "
                    "reward is due"
                ),
            )


def check_submissions_without_work(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield undecided submissions that are not the first of a participant who finished."""
    first_accounts = {a.assignment.id: a for a in snapshot.accounts if a.assignment is not None}
    for assignment in snapshot.assignments:
        first_account = first_accounts.get(assignment.id)
        is_decided = assignment.status != "submitted" or snapshot.ledger.get(assignment.platform_id)
        if is_decided or (first_account is not None and first_account.finished):
            continue
        if assignment.participant_id is None:
            problem, detail = "submitted_by_nobody", "submitted by a worker who never took part"
        elif first_account is None:
            problem, detail = "submitted_twice", "is a second submission of the same participant"
        else:
            problem, detail = (
                "submitted_unfinished",
                "submitted on the platform, but has not finished here",
            )
        yield Discrepancy(
            problem,
            snapshot.ref(assignment.participant_id, assignment.platform_id),
            detail,
            _suggest_decision(snapshot, assignment),
        )


def check_stuck_places(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield participants who hold a place (participant slot) and fell silent."""
    for ref in snapshot.silent:
        yield Discrepancy(
            "stuck_place",
            ref,
            "holds a place, but has been silent for longer than the study allows",
            "--fix frees the place",
            safe=True,
        )


def check_stored_counts(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield the stored counts of places, participants and responses that differ from the rows."""
    for subject in snapshot.miscounted:
        yield Discrepancy(
            "wrong_count",
            snapshot.run_ref,
            f"the stored count of {subject} differs from the rows in the database",
            "--fix counts the rows again",
            safe=True,
        )


def check_unposted_offers(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield offers of which it is unknown whether the platform has them."""
    payees = {payment.token: payment.participant_id for payment in snapshot.payments}
    withdrawn = {p.token for p in snapshot.payments if p.state == PaymentState.WITHDRAWN}
    for hit in snapshot.hits:
        if hit.posted_at is None and hit.token not in withdrawn:
            is_compensation = hit.token in payees
            yield Discrepancy(
                "unposted_offer",
                snapshot.ref(payees.get(hit.token), hit.token[:12]),
                f"an offer of {hit.purpose} with {hit.places} places was never confirmed",
                "--fix posts the offer if the platform does not have it"
                if is_compensation
                else f"parallax publish {snapshot.run_ref}",
                safe=is_compensation,
            )


def check_untaken_compensation(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield workers who did not accept offered compensation in time."""
    expired_tokens = {
        hit.token for hit in snapshot.hits if hit.expires_at and hit.expires_at <= snapshot.at
    }
    for payment in snapshot.payments:
        is_withdrawn = payment.state == PaymentState.WITHDRAWN
        if payment.token in expired_tokens and payment.assignment is None and not is_withdrawn:
            ref = snapshot.ref(payment.participant_id, payment.token[:12])
            yield Discrepancy(
                "compensation_not_taken",
                ref,
                (
                    f"compensation of {in_words(payment.amount_minor, payment.currency)} was "
                    "offered, but not accepted"
                ),
                (
                    "Write to the participant; running the same parallax compensate again offers "
                    "it for another 30 days"
                ),
            )


def _suggest_decision(snapshot: PaymentSnapshot, assignment: Assignment) -> str:
    id_ = assignment.platform_id
    return (
        f"parallax approve {snapshot.run_ref} --only {id_}, or parallax"
        f" reject {snapshot.run_ref} {id_} --reason TEXT"
    )


def _find_unreviewed_submissions(
    snapshot: PaymentSnapshot,
) -> Iterator[tuple[PayeeAccount, Assignment]]:
    for account in snapshot.accounts:
        assignment = account.assignment
        if account.finished and assignment is not None and assignment.status == "submitted":
            yield account, assignment


_CHECKS: tuple[Callable[[PaymentSnapshot], Iterator[Discrepancy]], ...] = (
    check_never_paid,
    check_unsettled,
    check_finished_not_submitted,
    check_submissions_without_work,
    check_receipts,
    check_outside_decisions,
    check_unexpected_bonuses,
    check_recorded_not_made,
    check_changed_rewards,
    check_partial_payments,
    check_stuck_places,
    check_unposted_offers,
    check_untaken_compensation,
    check_stored_counts,
)
ELSEWHERE_REASON = "decided on the platform, not by Parallax"


def find_discrepancies(snapshot: PaymentSnapshot) -> list[Discrepancy]:
    """Return all discrepancies; an empty list for a clean run."""
    results = [discrepancy for check in _CHECKS for discrepancy in check(snapshot)]
    explained_payees = {discrepancy.who for discrepancy in results}
    total_differences = (*check_totals(snapshot), *check_underpayments(snapshot))
    # A discrepancy that explains a wrong total is reported instead of the total.
    return results + [
        discrepancy for discrepancy in total_differences if discrepancy.who not in explained_payees
    ]


def report_comparison(sessions: Sessions, snapshot: PaymentSnapshot) -> None:
    """Report a comparison to the gate, if the ledger holds all payments the platform shows.

    Otherwise the gate keeps blocking until ``fix_discrepancies`` has recorded the missing payments.
    """
    if any(find_unrecorded_decisions(snapshot)) or any(find_unrecorded_bonuses(snapshot)):
        return
    with sessions.begin() as session:
        record_reconciliation(session.connection(), snapshot.run_ref)


def fix_discrepancies(
    sessions: Sessions,
    platform: Platform,
    run: Run,
    study: Study,
    link: str,
    snapshot: PaymentSnapshot,
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
        payments = _load_current_payments(session, run)
        bonuses = match_bonuses(platform, snapshot.bonuses.all_listed, payments)
        current = replace(snapshot, payments=payments, bonuses=bonuses)
        _record_entries(
            session,
            run,
            [*_build_decision_entries(current, study), *_build_bonus_entries(current)],
            now(),
        )
        record_reconciliation(session.connection(), run.ref)
        # Uses the present lines, because the database may be older than the snapshot. Refused
        # rejections are left for a user to decide again.
        unsettled_ids = [
            line.id for line in payments if not (is_settled(line) or is_refused_rejection(line))
        ]
    make_payments(sessions, platform, unsettled_ids, now)
    post_recorded_offers(sessions, platform, run, study, link, now)


def _load_current_payments(session: Session, run: Run) -> list[Payment]:
    """Return the ledger's present lines.

    A payment made since the ledger was read has a line there, so it was not paid by hand.
    """
    return [line for line in load_payments(session, run) if not is_forgotten(line.worker_id)]


def _record_entries(session: Session, run: Run, entries: list[Entry], now: datetime) -> None:
    # Payments that were already made cannot exceed a limit any more.
    for payment in record_payments(session, run, entries, None, now):
        if payment.called_at is None:
            payment.state, payment.settled_at = PaymentState.DONE, now
    session.flush()


def _build_decision_entries(snapshot: PaymentSnapshot, study: Study) -> Iterator[Entry]:
    for assignment, kind, is_second in find_unrecorded_decisions(snapshot):
        payee = assignment.platform_id
        if not is_second:
            payee = snapshot.ref(assignment.participant_id, payee)
        reward_minor = snapshot.platform_rewards.get(assignment.hit_id or 0, study.reward_minor)
        amount_minor = compute_platform_pay_minor(assignment, reward_minor, study.screen_out_minor)
        yield Entry(
            PaymentItem(payee, kind, amount_minor, ELSEWHERE_REASON),
            assignment.worker_id,
            assignment.platform_id,
            assignment.participant_id,
        )


def _build_bonus_entries(snapshot: PaymentSnapshot) -> Iterator[Entry]:
    for bonus, item in find_unrecorded_bonuses(snapshot):
        yield Entry(
            item,
            bonus.worker_id,
            bonus.assignment_id,
            snapshot.participant_of(bonus.assignment_id),
        )
