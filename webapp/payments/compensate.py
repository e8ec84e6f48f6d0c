"""Compensating participants who worked and could not submit.

If the platform pays bonuses on work that was not submitted, compensation is a bonus. Otherwise it
is an offer for this participant alone: one place, with a qualification that nobody else has.
The participant only has to accept and submit it; its approval is the payment. The payment and the
offer are committed with one idempotency token before the platform is called, so a repeated command
continues where the first one stopped.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import Caps, PaymentError, PaymentItem, PaymentKind, PaymentState
from experiment.studies.study import Study
from webapp.core.clock import Clock
from webapp.database.engine import Sessions, reading
from webapp.database.models import Assignment, Hit, Payment, Run
from webapp.gate.gate import begin_ledger_entry, refuse_if_blocked, store_ledger_state
from webapp.gate.installation import Operation
from webapp.payments.accounts import PayeeAccount
from webapp.payments.ledger import Entry, record_payments
from webapp.recruiters.capabilities import Letters, Qualifications
from webapp.recruiters.platform import Audience, Offer, Platform, PlatformError, Task
from webapp.recruiters.statuses import SUBMITTED_STATUSES
from webapp.recruitment.publish import move_expiry, post_hit

COMPENSATION = "compensation"
_TIME_TO_ACCEPT = timedelta(days=30)
_TIME_TO_SUBMIT = timedelta(hours=1)
_AUTO_APPROVAL_DELAY = timedelta(days=1)  # if nothing here approves it, the platform does
_TOKEN_CHARACTERS, _LONGEST_TITLE = 12, 128


def build_compensation_entry(
    account: PayeeAccount | None,
    worker_id: str,
    amount_minor: int,
    reason: str,
    *,
    withdrawn: int = 0,
    assignment: str | None = None,
) -> Entry:
    """Return the ledger entry for a worker who could not submit.

    Args:
        account: The participant's account; None for a worker who never became a participant.
        worker_id: The platform's id of the worker.
        amount_minor: The amount.
        reason: The message to the worker.
        withdrawn: How many earlier offers to the worker were withdrawn.
        assignment: The platform's id of the unsubmitted assignment, if the platform pays bonuses on
            such assignments.

    Raises:
        PaymentError: The worker has submitted, so the reward or a bonus is the right payment.
    """
    if account is not None and account.assignment is not None:
        raise PaymentError(
            f"{account.participant.ref} has submitted their work, so no other offer is needed",
            remedy=(
                f"Pay the reward with: parallax approve {account.assignment.run_ref}; pay more "
                f"with: parallax bonus {account.assignment.run_ref} --file FILE"
            ),
        )
    payee, key = worker_id, None
    if account is not None:
        payee, key = account.participant.ref, account.participant.id
    item = PaymentItem(payee, PaymentKind.COMPENSATION, amount_minor, reason, str(withdrawn or ""))
    return Entry(item, worker_id, assignment, key)


def find_unsubmitted_assignment(session: Session, run: Run, worker_id: str) -> str:
    """Return the platform's id of the worker's last assignment that was not submitted.

    Raises:
        PaymentError: The platform reported none.
    """
    assignment_id: str | None = session.scalar(
        select(Assignment.platform_id)
        .where(Assignment.run_id == run.id, Assignment.worker_id == worker_id)
        .order_by(Assignment.id.desc())
        .limit(1)
    )
    if assignment_id is None:
        raise PaymentError(
            "the platform lists no assignment that this person accepted", where=f"run {run.ref}"
        )
    return assignment_id


def offer_compensation(
    sessions: Sessions,
    platform: Platform,
    run: Run,
    study: Study,
    entry: Entry,
    caps: Caps,
    link: str,
    now: Clock,
    *,
    extra_work: Callable[[Session], None] | None = None,
) -> bool:
    """Offer compensation unless it is offered already; return whether the platform wrote to them.

    Args:
        sessions: The installation's session factory.
        platform: The worker's platform.
        run: The run they worked for.
        study: Its study, whose title the offer gets.
        entry: The entry of the compensation.
        caps: The installation's limits of pay.
        link: The address of the page by which they submit.
        now: The clock.
        extra_work: Additional work for the transaction that records the payment.

    Raises:
        PaymentError: It exceeds a limit, or was offered with another amount before.
        PlatformError: A call was refused or not answered; repeating the command continues.
        GateError: A fault blocks payments until it is repaired.
    """
    with sessions.begin() as session:
        refuse_if_blocked(Operation.PAY, session.connection())
        begin_ledger_entry(session.connection())
        (payment,) = record_payments(session, run, [entry], caps, now())
        if session.scalar(select(Hit.id).where(Hit.token == payment.token)) is None:
            session.add(Hit(run_id=run.id, token=payment.token, purpose=COMPENSATION, places=1))
        if extra_work is not None:
            extra_work(session)
    with reading(sessions) as session:
        store_ledger_state(session.connection())
    return _post_offer(sessions, platform, study, payment, link, now)


def post_recorded_offers(
    sessions: Sessions, platform: Platform, run: Run, study: Study, link: str, now: Clock
) -> None:
    """Post the recorded offers that the platform never confirmed.

    Raises:
        PlatformError: A call was refused or not answered; calling again continues from there.
    """
    with reading(sessions) as session:
        unposted = session.scalars(
            select(Payment)
            .join(Hit, Hit.token == Payment.token)
            .where(Payment.run_id == run.id, Hit.platform_id.is_(None))
            .where(Payment.state != PaymentState.WITHDRAWN)
            .order_by(Payment.id)
        ).all()
    for payment in unposted:
        _post_offer(sessions, platform, study, payment, link, now)


def record_accepted_compensation(session: Session, run: Run) -> list[Payment]:
    """Return newly accepted compensation, now with the id of its assignment."""
    rows = session.execute(
        select(Payment, Assignment.platform_id)
        .join(Hit, Hit.token == Payment.token)
        .join(Assignment, Assignment.hit_id == Hit.id)
        .where(Payment.run_id == run.id, Payment.assignment.is_(None))
        .where(Payment.state != PaymentState.WITHDRAWN)
        .where(Assignment.status.in_(SUBMITTED_STATUSES), Assignment.worker_id == Payment.worker_id)
        .order_by(Assignment.id)
    ).all()
    payments = []
    for payment, assignment in rows:
        payment.assignment = assignment
        payments.append(payment)
    session.flush()
    return payments


def _post_offer(
    sessions: Sessions, platform: Platform, study: Study, payment: Payment, link: str, now: Clock
) -> bool:
    if not isinstance(platform, Qualifications):
        raise PlatformError(
            "the platform cannot make an offer to a single person", where=platform.endpoint
        )
    name = f"parallax compensation {payment.token[:_TOKEN_CHARACTERS]}"
    qualification_id = platform.make_qualification(name, "Compensation for work in a study")
    platform.grant(qualification_id, payment.worker_id)
    title = f"Compensation: {study.study.title}"
    task = Task(
        title=title[:_LONGEST_TITLE],
        description=payment.reason,
        keywords=(),
        reward_minor=payment.amount_minor,
        currency=payment.currency,
        duration=_TIME_TO_SUBMIT,
        approve_after=_AUTO_APPROVAL_DELAY,
        audience=Audience(having=(qualification_id,)),
    )
    offer = Offer(link, 1, _TIME_TO_ACCEPT, payment.token)
    hit_id = post_hit(sessions, platform, task, qualification_id, offer, now)
    _reopen_offer(sessions, platform, hit_id, now())
    return _notify_worker(platform, payment, title)


def _reopen_offer(sessions: Sessions, platform: Platform, hit_id: str, now: datetime) -> None:
    with reading(sessions) as session:
        expires_at = session.scalar(select(Hit.expires_at).where(Hit.platform_id == hit_id))
    if expires_at is not None and expires_at <= now:
        move_expiry(sessions, platform, hit_id, now + _TIME_TO_ACCEPT)


def _notify_worker(platform: Platform, payment: Payment, title: str) -> bool:
    if not isinstance(platform, Letters):
        return False
    try:
        unreached = platform.notify(
            [payment.worker_id],
            title[:_LONGEST_TITLE],
            f"{payment.reason}\n\nThere is a task of the same name for you alone. Please accept"
            " it and hand it in: that is all there is to do.",
        )
    except PlatformError:
        # The platform writes only to workers whose work it has seen; the offer is posted all the
        # same.
        return False
    return payment.worker_id not in unreached
