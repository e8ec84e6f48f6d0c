"""Compensating people who worked and could not submit: an offer that only they can take.

The offer is a HIT of one place behind a qualification that nobody else has. Taking it and
submitting is all there is to do; its approval is the payment. The payment and the HIT are
committed under one token before the platform is asked for anything, so giving the command again
goes on with what is there.
"""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment import Caps, Due, PaymentError, PaymentKind
from experiment.studies.study import Study
from webapp.clock import Clock
from webapp.db import Sessions, reading
from webapp.flow.acceptance import HANDED_IN
from webapp.flow.ledger import Entry, write_down
from webapp.flow.owed import Account
from webapp.flow.publish import move_expiry, post_hit
from webapp.models import Assignment, Hit, Payment, Run
from webapp.recruiters.platform import Audience, Offer, Platform, PlatformError, Task

COMPENSATION = "compensation"
_TO_TAKE = timedelta(days=30)
_TO_SUBMIT = timedelta(hours=1)
_UNTIL_PAID = timedelta(days=1)  # where nobody here approves it, the platform does
_NAMED_BY, _LONGEST_TITLE = 12, 128


def compensation(account: Account | None, worker_id: str, amount_cents: int, reason: str) -> Entry:
    """Return what is to stand in the ledger for somebody who could not submit.

    Args:
        account: The participant's; None for a worker who never became one.
        worker_id: What the platform calls them.
        amount_cents: How much.
        reason: What they are told.

    Raises:
        PaymentError: They have submitted, so the reward or a bonus is the way.
    """
    if account is not None and account.assignment is not None:
        raise PaymentError(
            f"{account.participant.ref} has submitted, so no other offer is needed",
            remedy="Pay with: parallax approve RUN, and more with: parallax bonus RUN --file FILE",
        )
    payee, key = worker_id, None
    if account is not None:
        payee, key = account.participant.ref, account.participant.id
    return Entry(Due(payee, PaymentKind.COMPENSATION, amount_cents, reason), worker_id, None, key)


def offer_compensation(
    sessions: Sessions,
    platform: Platform,
    run: Run,
    study: Study,
    entry: Entry,
    caps: Caps,
    link: str,
    now: Clock,
) -> bool:
    """Make the offer unless it is there, and return whether the platform told the worker of it.

    Args:
        sessions: The installation's.
        platform: Where the worker is.
        run: The run they worked for.
        study: Its study, whose title the offer bears.
        entry: What they get.
        caps: The most that is paid.
        link: The address of the page by which they submit.
        now: The clock.

    Raises:
        PaymentError: It would be too much, or was offered with another amount before.
        PlatformError: A call was refused or not answered; giving the command again goes on.
    """
    with sessions.begin() as session:
        (payment,) = write_down(session, run, [entry], caps, now())
        if session.scalar(select(Hit.id).where(Hit.token == payment.token)) is None:
            session.add(Hit(run_id=run.id, token=payment.token, purpose=COMPENSATION, places=1))
    return _post(sessions, platform, study, payment, link, now)


def offer_what_was_decided(
    sessions: Sessions, platform: Platform, run: Run, study: Study, link: str, now: Clock
) -> None:
    """Make the offers that were written down, and that the platform never confirmed.

    Raises:
        PlatformError: A call was refused or not answered; calling again goes on from there.
    """
    with reading(sessions) as session:
        waiting = session.scalars(
            select(Payment)
            .join(Hit, Hit.token == Payment.token)
            .where(Payment.run_id == run.id, Hit.platform_id.is_(None))
            .order_by(Payment.id)
        ).all()
    for payment in waiting:
        _post(sessions, platform, study, payment, link, now)


def taken_up(session: Session, run: Run) -> list[Payment]:
    """Return the compensation that was taken up since it was last asked, now on its assignment."""
    rows = session.execute(
        select(Payment, Assignment.platform_id)
        .join(Hit, Hit.token == Payment.token)
        .join(Assignment, Assignment.hit_id == Hit.id)
        .where(Payment.run_id == run.id, Payment.assignment.is_(None))
        .where(Assignment.status.in_(HANDED_IN), Assignment.worker_id == Payment.worker_id)
        .order_by(Assignment.id)
    ).all()
    payments = []
    for payment, assignment in rows:
        payment.assignment = assignment
        payments.append(payment)
    session.flush()
    return payments


def _post(
    sessions: Sessions, platform: Platform, study: Study, payment: Payment, link: str, now: Clock
) -> bool:
    name = f"parallax compensation {payment.token[:_NAMED_BY]}"
    own = platform.make_qualification(name, "Compensation for work in a study")
    platform.grant(own, payment.worker_id)
    title = f"Compensation: {study.study.title}"
    task = Task(
        title=title[:_LONGEST_TITLE],
        description=payment.reason,
        keywords=(),
        reward_cents=payment.amount_cents,
        duration=_TO_SUBMIT,
        approve_after=_UNTIL_PAID,
        audience=Audience(having=(own,)),
    )
    offer = Offer(link, 1, _TO_TAKE, payment.token)
    hit_id = post_hit(sessions, platform, platform.make_type(task), own, offer, now)
    _open_again(sessions, platform, hit_id, now())
    return _tell(platform, payment, title)


def _open_again(sessions: Sessions, platform: Platform, hit_id: str, now: datetime) -> None:
    with reading(sessions) as session:
        expires_at = session.scalar(select(Hit.expires_at).where(Hit.platform_id == hit_id))
    if expires_at is not None and expires_at <= now:
        move_expiry(sessions, platform, hit_id, now + _TO_TAKE)


def _tell(platform: Platform, payment: Payment, title: str) -> bool:
    try:
        platform.notify(
            [payment.worker_id],
            title[:_LONGEST_TITLE],
            f"{payment.reason}\n\nThere is a HIT of the same name for you alone. Please accept"
            " it and hand it in: that is all there is to do.",
        )
    except PlatformError:
        # The platform writes only to those whose work it has seen; the offer stands all the same.
        return False
    return True
