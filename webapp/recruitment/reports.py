"""Reporting endings to platforms: stored with the ending, sent later by a job.

No crash loses a report, or sends a report twice that the platform must not get twice: each call is
committed before it is made. Researchers decide about reports with an unknown outcome, including
reports held after a restore.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.core.clock import Clock
from webapp.database.engine import Sessions, reading
from webapp.database.models import OutgoingReport, Participant, Run
from webapp.database.retry import run_in_transaction
from webapp.errors import RunError
from webapp.gate.gate import count_panel_call
from webapp.gate.panel_call_counter import hold_calls, is_held, release_later_calls
from webapp.recruiters.base import ReportingRecruiter
from webapp.recruiters.endings import Departure
from webapp.recruiters.platform import PlatformError, PlatformUnreachable

_FIRST_WAIT, _LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)
LONGEST_ANSWER = 2_000
_BATCH_SIZE = 200
HELD_ANSWER = "held after a restore: the panel may know of it"


class ReportState(StrEnum):
    """The state of a report."""

    WAITING = "waiting"  # to be sent, or sent again
    SENDING = "sending"  # a call that must not be repeated was made, or was about to be
    DONE = "done"  # the platform confirmed it
    REFUSED = "refused"  # the platform refused it
    UNKNOWN = "unknown"  # the outcome is unknown


def store_report(
    session: Session,
    recruiter: object,
    study: Study,
    participant: Participant,
    ending: Ending,
    now: datetime,
) -> None:
    """Store a report of an ending, if the platform needs one and none is stored yet.

    Args:
        session: The session whose transaction stores the ending.
        recruiter: The run's recruiter.
        study: The run's study.
        participant: The participant who leaves.
        ending: The kind of ending.
        now: The time.
    """
    if not isinstance(recruiter, ReportingRecruiter):
        return
    terms = recruiter.report_terms(study, ending)
    if terms is None:
        return
    same_ending = (OutgoingReport.participant_id == participant.id, OutgoingReport.ending == ending)
    if session.scalar(select(OutgoingReport.id).where(*same_ending)) is None:
        report = OutgoingReport(
            run_id=participant.run_id,
            participant_id=participant.id,
            ending=ending,
            state=ReportState.WAITING,
            made_at=now,
            next_at=now,
        )
        if not terms.repeatable and is_held(
            session.connection(), participant.run_id, participant.id
        ):
            hold_report(report, now)
        session.add(report)
        session.flush()


def hold_report(report: OutgoingReport, now: datetime) -> None:
    """Hold a report for a researcher's decision: it may have been sent before a restore."""
    report.state, report.answer = ReportState.UNKNOWN, HELD_ANSWER
    report.next_at, report.settled_at = None, now


def find_due_reports(sessions: Sessions, now: datetime) -> list[int]:
    """Return the ids of the reports that are due, the oldest first."""
    due_query = (
        select(OutgoingReport.id)
        .where(OutgoingReport.state == ReportState.WAITING, OutgoingReport.next_at <= now)
        .order_by(OutgoingReport.next_at, OutgoingReport.id)
        .limit(_BATCH_SIZE)
    )
    with reading(sessions) as session:
        return list(session.scalars(due_query))


def send_report(
    sessions: Sessions,
    recruiter: ReportingRecruiter,
    departure: Departure,
    report_id: int,
    now: Clock,
) -> ReportState:
    """Send one report, unless another process is sending it, and store the result.

    Args:
        sessions: The installation's session factory.
        recruiter: The run's recruiter.
        departure: The participant's departure.
        report_id: The report's id.
        now: The clock.

    Returns:
        The report's new state.
    """
    terms = recruiter.report_terms(departure.study, departure.ending)
    assert terms is not None, "no participant's ending is to be reported to the platform"
    tries = _claim_report(sessions, report_id, now(), repeatable=terms.repeatable)
    if tries == 0:
        return ReportState.SENDING
    try:
        answer = recruiter.report(departure)
        state = ReportState.DONE
    except PlatformUnreachable as error:
        can_retry = terms.repeatable and tries < terms.tries
        state, answer = (ReportState.WAITING if can_retry else ReportState.UNKNOWN), error.problem
    except PlatformError as error:
        state, answer = ReportState.REFUSED, error.problem

    def store(session: Session) -> None:
        report = session.get_one(OutgoingReport, report_id)
        report.state, report.answer = state, answer[:LONGEST_ANSWER]
        if state is not ReportState.WAITING:
            report.next_at, report.settled_at = None, now()

    run_in_transaction(sessions, store)
    return state


def load_reports(session: Session, run: Run) -> Iterator[tuple[OutgoingReport, Participant]]:
    """Yield every report of a run with its participant, in the order of creation."""
    rows = session.execute(
        select(OutgoingReport, Participant)
        .join(Participant, Participant.id == OutgoingReport.participant_id)
        .where(OutgoingReport.run_id == run.id)
        .order_by(OutgoingReport.id)
    )
    yield from ((report, person) for report, person in rows)


def get_ending(report: OutgoingReport) -> Ending:
    """Return the ending that a report is about."""
    return Ending(report.ending)


def _claim_report(sessions: Sessions, report_id: int, now: datetime, *, repeatable: bool) -> int:
    """Commit that the call is about to be made; return the number of the try, or 0 if not ours."""
    with sessions.begin() as session:
        is_due = (
            OutgoingReport.id == report_id,
            OutgoingReport.state == ReportState.WAITING,
            OutgoingReport.next_at <= now,
        )
        tries = session.scalar(select(OutgoingReport.tries).where(*is_due))
        if tries is None:
            return 0
        wait = min(_FIRST_WAIT * 2 ** min(tries, 16), _LONGEST_WAIT)
        claim = update(OutgoingReport).where(*is_due, OutgoingReport.tries == tries)
        values = {"called_at": now, "tries": tries + 1, "next_at": now + wait}
        # A report that must not be repeated stays "sending" if this process dies during the call.
        state = ReportState.WAITING if repeatable else ReportState.SENDING
        claim = claim.values(**values, state=state).returning(OutgoingReport.id)
        if session.scalar(claim) is None:
            return 0
        if not repeatable:
            count_panel_call(session.connection())
        return tries + 1


BY_HAND_ANSWER = "confirmed by hand"


def hold_reports(
    session: Session, run: Run, only_once: Callable[[Ending], bool], now: datetime
) -> int:
    """Hold a run's unrepeatable reports for a researcher's decision, and return how many.

    Reports that were waiting or refused in an older copy of the database may have been sent since,
    and so may reports of endings that this copy lacks.

    Args:
        session: An open session that writes.
        run: The run.
        only_once: Whether an ending must not be reported to the platform twice.
        now: The time.
    """
    is_sendable = OutgoingReport.state.in_([ReportState.WAITING, ReportState.REFUSED])
    query = select(OutgoingReport).where(OutgoingReport.run_id == run.id, is_sendable)
    held_reports = [
        ending_report
        for ending_report in session.scalars(query)
        if only_once(get_ending(ending_report))
    ]
    for report in held_reports:
        hold_report(report, now)
    if held_reports or any(only_once(ending) for ending in Ending):
        hold_calls(session.connection(), run.id)
    session.flush()
    return len(held_reports)


def requeue_reports(
    session: Session,
    run: Run,
    recruiter: ReportingRecruiter,
    study: Study,
    now: datetime,
    *,
    also_unsafe: bool = False,
) -> int:
    """Queue a run's refused or lost reports again, and return how many.

    Args:
        session: An open session that writes.
        run: The run.
        recruiter: The run's recruiter.
        study: The run's study.
        now: The time.
        also_unsafe: Whether to include reports that the platform may have received and must not
            receive twice.
    """
    is_ended = OutgoingReport.state.not_in([ReportState.DONE, ReportState.WAITING])
    query = select(OutgoingReport).where(OutgoingReport.run_id == run.id, is_ended)
    selected = []
    for report in session.scalars(query).all():
        terms = recruiter.report_terms(study, get_ending(report))
        is_safe = report.state == ReportState.REFUSED or (terms is not None and terms.repeatable)
        if is_safe or also_unsafe:
            selected.append(report)
    for report in selected:
        report.state, report.tries, report.next_at = ReportState.WAITING, 0, now
        report.settled_at = None
    if also_unsafe:
        last_participant = select(func.max(Participant.id)).where(Participant.run_id == run.id)
        release_later_calls(session.connection(), run.id, session.scalar(last_participant) or 0)
    session.flush()
    return len(selected)


def confirm_by_hand(session: Session, run: Run, participant: str, now: datetime) -> bool:
    """Record that a researcher saw the ending on the platform, or reported it there.

    Args:
        session: An open session that writes.
        run: The run.
        participant: The participant's reference.
        now: The time.

    Returns:
        Whether there was still something to confirm.

    Raises:
        RunError: No end of this participant is reported, or the report is sent automatically.
    """
    their_reports = [
        ending_report
        for ending_report, person in load_reports(session, run)
        if person.ref == participant
    ]
    if not their_reports:
        raise RunError(
            f'no ending of "{participant}" needs a report to the platform',
            where=f"run {run.ref}",
            expected="a participant that parallax reconcile lists",
        )
    open_reports = [
        ending_report for ending_report in their_reports if ending_report.state != ReportState.DONE
    ]
    if any(ending_report.state == ReportState.WAITING for ending_report in open_reports):
        raise RunError(
            f'the report about "{participant}" is sent automatically',
            where=f"run {run.ref}",
            remedy="Wait until it is done, refused or unknown",
        )
    for report in open_reports:
        report.answer = f"{BY_HAND_ANSWER} (before: {report.state}: {report.answer})"[
            :LONGEST_ANSWER
        ]
        report.state, report.settled_at = ReportState.DONE, now
    session.flush()
    return bool(open_reports)
