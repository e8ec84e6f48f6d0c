"""Reconciling a run: every check, and mending what is safe to mend."""

from collections.abc import Callable, Iterator
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment import Due, PaymentKind, PaymentState
from experiment.studies.study import Study
from webapp.clock import Clock
from webapp.db import Sessions
from webapp.flow.compensate import offer_what_was_decided
from webapp.flow.lease import release_expired
from webapp.flow.ledger import Entry, write_down
from webapp.flow.offer import terms_of
from webapp.flow.pay import pay
from webapp.flow.reconcile.finding import Finding
from webapp.flow.reconcile.money import (
    bonus_elsewhere,
    bonuses_astray,
    judged_elsewhere,
    recorded_not_made,
    unrecorded_bonuses,
    unrecorded_judgments,
    unsettled,
)
from webapp.flow.reconcile.people import (
    compensation_not_taken,
    finished_not_submitted,
    never_paid,
    receipt_of_another,
    stuck_places,
    submitted_without_work,
    unposted_offers,
)
from webapp.flow.reconcile.snapshot import Snapshot
from webapp.models import Run
from webapp.recruiters.platform import Platform

_CHECKS: tuple[Callable[[Snapshot], Iterator[Finding]], ...] = (
    never_paid,
    unsettled,
    finished_not_submitted,
    submitted_without_work,
    receipt_of_another,
    judged_elsewhere,
    bonuses_astray,
    recorded_not_made,
    stuck_places,
    unposted_offers,
    compensation_not_taken,
)
ELSEWHERE = "judged on the platform, not by Parallax"


def findings(seen: Snapshot) -> list[Finding]:
    """Return everything that is not as it should be; nothing for a run that is clean."""
    return [finding for check in _CHECKS for finding in check(seen)]


def mend(
    sessions: Sessions,
    platform: Platform,
    run: Run,
    study: Study,
    link: str,
    seen: Snapshot,
    now: Clock,
) -> None:
    """Do what is safe: settle what is in doubt, write down what was paid elsewhere, free places.

    Args:
        sessions: The installation's.
        platform: Where the run was published.
        run: The run.
        study: Its study.
        link: The address of the page by which compensation is taken up.
        seen: What was found.
        now: The clock.

    Raises:
        PlatformError: An offer was refused or not answered; mending again goes on from there.
    """
    reward_cents = terms_of(study).reward_cents
    with sessions.begin() as session:
        session.execute(select(Run.id).where(Run.id == run.id).with_for_update())
        release_expired(session, run, now())
        _record(session, run, [*_judgments(seen, reward_cents), *_bonuses(seen)], now())
    pay(sessions, platform, [payment.id for payment in seen.payments], now)
    offer_what_was_decided(sessions, platform, run, study, link, now)


def _record(session: Session, run: Run, entries: list[Entry], now: datetime) -> None:
    # What is paid already cannot break a cap any more.
    for payment in write_down(session, run, entries, None, now):
        if payment.called_at is None:
            payment.state, payment.settled_at = PaymentState.DONE, now
    session.flush()


def _judgments(seen: Snapshot, reward_cents: int) -> Iterator[Entry]:
    for assignment, kind, again in unrecorded_judgments(seen):
        payee = assignment.platform_id
        if not again:
            payee = seen.ref(assignment.participant_id, payee)
        amount_cents = reward_cents if kind == PaymentKind.REWARD else 0
        yield Entry(
            Due(payee, kind, amount_cents, ELSEWHERE),
            assignment.worker_id,
            assignment.platform_id,
            assignment.participant_id,
        )


def _bonuses(seen: Snapshot) -> Iterator[Entry]:
    for bonus in unrecorded_bonuses(seen):
        yield Entry(
            bonus_elsewhere(bonus),
            bonus.worker_id,
            bonus.assignment_id,
            seen.participant_of(bonus.assignment_id),
        )
