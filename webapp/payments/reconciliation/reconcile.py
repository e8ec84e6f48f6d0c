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
from webapp.gate.gate import ledger_reconciled
from webapp.payments.accounts import PayeeAccount
from webapp.payments.compensate import offer_what_was_decided
from webapp.payments.ledger import Entry, is_settled, payments_of, record_payments
from webapp.payments.pay import pay
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
from webapp.payments.reconciliation.snapshot import Discrepancy, Snapshot, matched
from webapp.payments.reconciliation.statement import stated_minor
from webapp.recruiters.platform import Platform
from webapp.sessions.lease import release_expired


def finished_not_submitted(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants who did the work and cannot be paid, for want of a submission."""
    for account in snapshot.accounts:
        offered = account.payment(PaymentKind.COMPENSATION) is not None
        if account.finished and account.assignment is None and not offered:
            ref = account.participant.ref
            yield Discrepancy(
                "finished_not_submitted",
                ref,
                "finished here, but submitted nothing on the platform",
                "Wait until their time is over. Then:"
                f" parallax compensate {snapshot.run_ref} {ref}",
            )


def never_paid(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants who finished and submitted but are not in the ledger."""
    for account, assignment in _to_be_paid(snapshot):
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
                f"Decide whether to pay the reward as well: {_decide(snapshot, assignment)}",
            )


def receipt_of_another(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield unpaid submissions whose receipt is not the one that their participant was given."""
    for account, assignment in _to_be_paid(snapshot):
        ref = account.participant.ref
        if snapshot.receipts.get(assignment.platform_id, ref) != ref:
            yield Discrepancy(
                "receipt_of_another",
                ref,
                "the submitted receipt is missing, forged or another participant's",
                (
                    "The form did not come from our page. The participant did finish, so the "
                    "reward is due"
                ),
            )


def submitted_without_work(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield undecided submissions that are not the first of a participant who finished."""
    firsts = {a.assignment.id: a for a in snapshot.accounts if a.assignment is not None}
    for assignment in snapshot.assignments:
        first = firsts.get(assignment.id)
        decided = assignment.status != "submitted" or snapshot.ledger.get(assignment.platform_id)
        if decided or (first is not None and first.finished):
            continue
        if assignment.participant_id is None:
            problem, detail = "submitted_by_nobody", "submitted by a worker who never took part"
        elif first is None:
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
            _decide(snapshot, assignment),
        )


def stuck_places(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants who hold a place (participant slot) and fell silent."""
    for ref in snapshot.silent:
        yield Discrepancy(
            "stuck_place",
            ref,
            "holds a place, but has been silent for longer than the study allows",
            "--fix frees the place",
            safe=True,
        )


def wrong_counts(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield the stored counts of places, participants and responses that differ from the rows."""
    for subject in snapshot.miscounted:
        yield Discrepancy(
            "wrong_count",
            snapshot.run_ref,
            f"the stored count of {subject} differs from the rows in the database",
            "--fix counts the rows again",
            safe=True,
        )


def unposted_offers(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield offers of which it is unknown whether the platform has them."""
    payees = {payment.token: payment.participant_id for payment in snapshot.payments}
    withdrawn = {p.token for p in snapshot.payments if p.state == PaymentState.WITHDRAWN}
    for hit in snapshot.hits:
        if hit.posted_at is None and hit.token not in withdrawn:
            safe = hit.token in payees
            yield Discrepancy(
                "unposted_offer",
                snapshot.ref(payees.get(hit.token), hit.token[:12]),
                f"an offer of {hit.purpose} with {hit.places} places was never confirmed",
                "--fix posts the offer if the platform does not have it"
                if safe
                else f"parallax publish {snapshot.run_ref}",
                safe=safe,
            )


def compensation_not_taken(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield workers who did not accept offered compensation in time."""
    over = {hit.token for hit in snapshot.hits if hit.expires_at and hit.expires_at <= snapshot.at}
    for payment in snapshot.payments:
        withdrawn = payment.state == PaymentState.WITHDRAWN
        if payment.token in over and payment.assignment is None and not withdrawn:
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


def _decide(snapshot: Snapshot, assignment: Assignment) -> str:
    id_ = assignment.platform_id
    return (
        f"parallax approve {snapshot.run_ref} --only {id_}, or parallax"
        f" reject {snapshot.run_ref} {id_} --reason TEXT"
    )


def _to_be_paid(snapshot: Snapshot) -> Iterator[tuple[PayeeAccount, Assignment]]:
    for account in snapshot.accounts:
        assignment = account.assignment
        if account.finished and assignment is not None and assignment.status == "submitted":
            yield account, assignment


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
