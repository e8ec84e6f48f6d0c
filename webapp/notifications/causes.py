"""Of what researchers are told, and what of it has happened to a run."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.payment.payment import SETTLED_FOR_GOOD
from webapp.database.models import Participant, Payment, Response, Run, RunCount, Trial
from webapp.database.row_counts import PLACES, participants_in
from webapp.long_jobs.records import Job, JobState
from webapp.sessions.lease import ACTIVE_STATES

# A payment takes a moment, and the periodic job that finishes payments comes every five minutes.
_PAYMENT_WAITS = timedelta(minutes=30)
# Who asks to be told today is not told of older jobs.
_NEWS = timedelta(days=1)


class Way(StrEnum):
    """How somebody is told."""

    MAIL = "mail"
    WEBHOOK = "webhook"


class Cause(StrEnum):
    """Of what somebody may be told."""

    COMPLETE = "complete"
    QUIET = "quiet"
    PAYMENT = "payment"
    JOB = "job"
    BALANCE = "balance"


SAID_OF: dict[Cause, str] = {
    Cause.COMPLETE: "recruitment is complete: every place was finished",
    Cause.QUIET: "nobody has answered for a while, though people are at work",
    Cause.PAYMENT: "a payment waits, or was refused",
    Cause.JOB: "a report or another long job ended or failed",
    Cause.BALANCE: "the platform's balance is lower than what is still due",
}


@dataclass(frozen=True, slots=True)
class Happened:
    """Something to tell.

    Attributes:
        cause: What it is.
        about: The same for the same thing, so that nobody is told twice.
        text: What happened, in a sentence without the run's name.
    """

    cause: Cause
    about: str
    text: str


def happened_to(
    session: Session,
    run: Run,
    jobs: Collection[Job],
    causes: Collection[Cause],
    quiet_minutes: int,
    now: datetime,
) -> Iterator[Happened]:
    """Yield what happened to a run and is worth telling; the same again while it lasts.

    Args:
        session: A reading session.
        run: The run.
        jobs: The long jobs about it.
        causes: What is asked for.
        quiet_minutes: After how many minutes without an answer the run is quiet.
        now: The time.
    """
    if Cause.COMPLETE in causes:
        yield from _complete(session, run)
    if Cause.QUIET in causes and run.closed_at is None:
        yield from _quiet(session, run, quiet_minutes, now)
    if Cause.PAYMENT in causes:
        yield from _payments(session, run, now)
    if Cause.JOB in causes:
        yield from _ended_jobs(jobs, now)


def low_balance(run: Run, now: datetime) -> Happened:
    """Return what is told, once a day, where the balance does not cover what is due."""
    return Happened(
        Cause.BALANCE,
        f"balance {run.ref} {now:%Y-%m-%d}",
        "The platform's balance is lower than what is due if everybody at work finishes.",
    )


def _complete(session: Session, run: Run) -> Iterator[Happened]:
    subjects = (PLACES, participants_in(State.FINISHED))
    counted = dict(
        session.execute(
            select(RunCount.subject, func.sum(RunCount.n))
            .where(RunCount.run_id == run.id, RunCount.subject.in_(subjects))
            .group_by(RunCount.subject)
        ).all()
    )
    places, finished = (counted.get(each, 0) for each in subjects)
    if places and finished >= places:
        # With more places it can be complete once more.
        about = f"complete {run.ref} {places}"
        yield Happened(Cause.COMPLETE, about, f"All {places} places are finished.")


def _quiet(session: Session, run: Run, minutes: int, now: datetime) -> Iterator[Happened]:
    # Of those at work alone, who are few: a run may have millions of answers.
    at_work = Participant.run_id == run.id, Participant.state.in_(ACTIVE_STATES)
    people, came = session.execute(
        select(func.count(), func.max(Participant.consented_at)).where(*at_work)
    ).one()
    if not people or came is None:
        return
    answered = session.scalar(
        select(func.max(Response.recorded_at))
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(*at_work)
    )
    last = max(filter(None, (came, answered)))
    if now - last >= timedelta(minutes=minutes):
        yield Happened(
            Cause.QUIET,
            f"quiet {run.ref} {last.isoformat(timespec='seconds')}",
            f"{people} at work, and no answer for {minutes} minutes.",
        )


def _payments(session: Session, run: Run, now: datetime) -> Iterator[Happened]:
    waiting = (
        Payment.run_id == run.id,
        Payment.state.not_in(SETTLED_FOR_GOOD),
        Payment.made_at < now - _PAYMENT_WAITS,
    )
    n, newest = session.execute(select(func.count(), func.max(Payment.id)).where(*waiting)).one()
    if n:
        text = f"{n} {'payment has' if n == 1 else 'payments have'} waited for half an hour."
        yield Happened(Cause.PAYMENT, f"payment {run.ref} {newest}", text)


def _ended_jobs(jobs: Collection[Job], now: datetime) -> Iterator[Happened]:
    said = {JobState.DONE: "is done", JobState.FAILED: "failed"}
    for job in jobs:
        if job.state in said and now - datetime.fromisoformat(job.asked_at) < _NEWS:
            yield Happened(Cause.JOB, f"job {job.id}", f'"{job.title}" {said[job.state]}.')
