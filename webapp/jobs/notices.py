"""Notices to researchers: their causes; each is stored once and retried until sent or given up."""

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.payment.payment import SETTLED_FOR_GOOD
from webapp.database.engine import reading
from webapp.database.models import (
    Notice,
    Notification,
    Participant,
    Payment,
    Response,
    Run,
    RunCount,
    Trial,
    User,
)
from webapp.database.row_counts import PLACES, participants_in
from webapp.jobs.delivery import DeliveryError, send_mail, send_webhook
from webapp.jobs.long_jobs import Job, Jobs, JobState
from webapp.runs.runs import list_titles
from webapp.services import Services
from webapp.sessions.lease import ACTIVE_STATES
from webapp.users.projects import filter_visible_runs

# Payments take a moment, and the job that finishes payments runs every five minutes.
_PAYMENT_DELAY = timedelta(minutes=30)
# A new address gets no notices of older jobs.
_LATEST_JOBS_AGE = timedelta(days=1)


class Channel(StrEnum):
    """The channel of a notice."""

    MAIL = "mail"
    WEBHOOK = "webhook"


class Cause(StrEnum):
    """The cause of a notice."""

    COMPLETE = "complete"
    QUIET = "quiet"
    PAYMENT = "payment"
    JOB = "job"
    BALANCE = "balance"


CAUSE_LABELS: dict[Cause, str] = {
    Cause.COMPLETE: "recruitment is complete: every place was finished",
    Cause.QUIET: "nobody has answered for a while, though people are at work",
    Cause.PAYMENT: "a payment waits, or was refused",
    Cause.JOB: "a report or another long job ended or failed",
    Cause.BALANCE: "the platform's balance is lower than what is still due",
}


@dataclass(frozen=True, slots=True)
class RunEvent:
    """An event that causes a notice.

    Attributes:
        cause: Its cause.
        about: A unique key of the event, so that each address gets one notice of it.
        text: A sentence that describes it, without the run's name.
    """

    cause: Cause
    about: str
    text: str


def list_run_events(
    session: Session,
    run: Run,
    jobs: Collection[Job],
    causes: Collection[Cause],
    quiet_minutes: int,
    now: datetime,
) -> Iterator[RunEvent]:
    """Yield the news of a run; a lasting state is yielded again, under the same key.

    Args:
        session: A reading session.
        run: The run.
        jobs: The run's long jobs.
        causes: The wanted causes.
        quiet_minutes: The number of minutes without an answer after which a run is quiet.
        now: The time.
    """
    if Cause.COMPLETE in causes:
        yield from _find_completion(session, run)
    if Cause.QUIET in causes and run.closed_at is None:
        yield from _find_silence(session, run, quiet_minutes, now)
    if Cause.PAYMENT in causes:
        yield from _find_waiting_payments(session, run, now)
    if Cause.JOB in causes:
        yield from _find_ended_jobs(jobs, now)


def make_low_balance_notice(run: Run, now: datetime) -> RunEvent:
    """Return a notice of a balance below the payments due; its dated key shows it once a day."""
    return RunEvent(
        Cause.BALANCE,
        f"balance {run.ref} {now:%Y-%m-%d}",
        "The platform's balance is lower than what is due if everybody at work finishes.",
    )


def _find_completion(session: Session, run: Run) -> Iterator[RunEvent]:
    subjects = (PLACES, participants_in(State.FINISHED))
    counts_by_state = dict(
        session.execute(
            select(RunCount.subject, func.sum(RunCount.n))
            .where(RunCount.run_id == run.id, RunCount.subject.in_(subjects))
            .group_by(RunCount.subject)
        ).all()
    )
    places, finished = (counts_by_state.get(subject, 0) for subject in subjects)
    if places and finished >= places:
        # The key contains the places: after adding places, the run can become complete again.
        about = f"complete {run.ref} {places}"
        yield RunEvent(Cause.COMPLETE, about, f"All {places} places are finished.")


def _find_silence(session: Session, run: Run, minutes: int, now: datetime) -> Iterator[RunEvent]:
    # Only the active participants are read, who are few: a run may have millions of answers.
    at_work = Participant.run_id == run.id, Participant.state.in_(ACTIVE_STATES)
    people, newest_arrival = session.execute(
        select(func.count(), func.max(Participant.consented_at)).where(*at_work)
    ).one()
    if not people or newest_arrival is None:
        return
    newest_answer = session.scalar(
        select(func.max(Response.recorded_at))
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(*at_work)
    )
    last = max(filter(None, (newest_arrival, newest_answer)))
    if now - last >= timedelta(minutes=minutes):
        yield RunEvent(
            Cause.QUIET,
            f"quiet {run.ref} {last.isoformat(timespec='seconds')}",
            f"{people} at work, and no answer for {minutes} minutes.",
        )


def _find_waiting_payments(session: Session, run: Run, now: datetime) -> Iterator[RunEvent]:
    waiting = (
        Payment.run_id == run.id,
        Payment.state.not_in(SETTLED_FOR_GOOD),
        Payment.made_at < now - _PAYMENT_DELAY,
    )
    n, newest = session.execute(select(func.count(), func.max(Payment.id)).where(*waiting)).one()
    if n:
        text = f"{n} {'payment has' if n == 1 else 'payments have'} waited for half an hour."
        yield RunEvent(Cause.PAYMENT, f"payment {run.ref} {newest}", text)


def _find_ended_jobs(jobs: Collection[Job], now: datetime) -> Iterator[RunEvent]:
    endings = {JobState.DONE: "is done", JobState.FAILED: "failed"}
    for job in jobs:
        if job.state in endings and now - datetime.fromisoformat(job.asked_at) < _LATEST_JOBS_AGE:
            yield RunEvent(Cause.JOB, f"job {job.id}", f'"{job.title}" {endings[job.state]}.')


_LOG = logging.getLogger("parallax.notifications")
# The waits after each failed try; then the notice is given up.
RETRY_DELAYS = tuple(timedelta(minutes=n) for n in (1, 5, 20, 60, 240))
_BATCH_SIZE = 50


def get_causes(notification: Notification) -> frozenset[Cause]:
    """Return the causes that a user selected for an address."""
    return frozenset(map(Cause, notification.causes.split()))


def list_notified_users(
    session: Session, cause: Cause | None = None
) -> list[tuple[Notification, User]]:
    """Return the addresses and their users, for one cause or for all."""
    rows = session.execute(
        select(Notification, User)
        .join(User, User.id == Notification.user_id)
        .where(User.disabled_at.is_(None))
        .order_by(Notification.id)
    )
    return [(n, user) for n, user in rows if cause is None or cause in get_causes(n)]


def list_watched_runs(session: Session, user: User) -> list[Run]:
    """Return the runs about which a user gets notices: visible, not simulated, not archived."""
    visible = Run.simulated.is_(False), Run.archived_at.is_(None), filter_visible_runs(user)
    return list(session.scalars(select(Run).where(*visible).order_by(Run.id)))


def write_notices(services: Services) -> int:
    """Store a notice of each new event for every address; return the number of new notices."""
    with reading(services.sessions) as session:
        addresses = list_notified_users(session)
        if not addresses:
            return 0
        jobs = list(Jobs(services.instance).list_all())
        news = [
            (notification.id, run, event)
            for notification, user in addresses
            for run, event in _list_events_for_user(session, services, notification, user, jobs)
        ]
    return add_notices(services, news)


def _list_events_for_user(
    session: Session, services: Services, notification: Notification, user: User, jobs: list[Job]
) -> Iterator[tuple[Run, RunEvent]]:
    quiet, causes = notification.quiet_minutes, get_causes(notification)
    for run in list_watched_runs(session, user):
        of_run = [job for job in jobs if job.subject == run.ref]
        for event in list_run_events(session, run, of_run, causes, quiet, services.now()):
            yield run, event


def add_notices(services: Services, news: list[tuple[int, Run, RunEvent]]) -> int:
    """Store the notices that are not stored yet; return how many.

    Args:
        services: The installation.
        news: The address, the run and the event of each notice.
    """
    with reading(services.sessions) as session:
        stored = set(session.execute(select(Notice.notification_id, Notice.about)).all())
        new = [
            (address, run, event)
            for address, run, event in news
            if (address, event.about) not in stored
        ]
        titles = list_titles(session, [run for _, run, _ in new])
    for notification_id, run, event in new:
        link = f"{services.settings.link_base}/researcher/runs/{run.ref}"
        text = f"{titles[run.id]} (run {run.ref}): {event.text}\n\n{link}"
        now = services.now()
        notice = Notice(
            notification_id=notification_id, about=event.about, text=text, at=now, next_at=now
        )
        try:
            with services.sessions.begin() as session:
                session.add(notice)
        except IntegrityError:  # another process stored it first, or the address was removed
            continue
    return len(new)


def send_notices(services: Services) -> int:
    """Send every notice that is due, and return how many arrived."""
    now, arrived = services.now(), 0
    due_query = (
        select(Notice.id).where(Notice.next_at <= now).order_by(Notice.next_at).limit(_BATCH_SIZE)
    )
    with reading(services.sessions) as session:
        ids = session.scalars(due_query).all()
    for id_ in ids:
        arrived += _send_notice(services, id_)
    return arrived


def _send_notice(services: Services, id_: int) -> bool:
    with services.sessions.begin() as session:
        notice = session.get(Notice, id_, with_for_update=True)
        if notice is None or notice.next_at is None or notice.next_at > services.now():
            return False
        # Stored before the call, so that the try counts even if the process dies during the call.
        tries_remain = notice.tries < len(RETRY_DELAYS)
        notice.next_at = services.now() + RETRY_DELAYS[notice.tries] if tries_remain else None
        notice.tries += 1
        notification = session.get_one(Notification, notice.notification_id)
        way, address, text = Channel(notification.way), notification.address, notice.text
        about = notice.about
    problem = ""
    try:
        deliver_notice(services, way, address, about, text)
    except DeliveryError as error:
        problem = str(error)
    except Exception as error:
        _LOG.exception("a notification could not be sent")
        problem = f"{type(error).__name__}, see the log"
    with services.sessions.begin() as session:
        notice = session.get(Notice, id_)
        if notice is None:  # the address was removed meanwhile
            return False
        notice.problem = problem
        if not problem:
            notice.sent_at, notice.next_at = services.now(), None
    return not problem


def deliver_notice(services: Services, way: Channel, address: str, about: str, text: str) -> None:
    """Send one notice to one address.

    Raises:
        DeliveryError: It was not delivered.
    """
    if way is Channel.MAIL:
        subject = f"Parallax: {text.partition(chr(10))[0]}"
        send_mail(services.settings, address, subject, text)
    else:
        send_webhook(address, {"text": text, "about": about})
