"""Researchers' decisions about reports of endings, including reports held after a restore."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.database.models import OutgoingReport, Participant, Run
from webapp.errors import RunError
from webapp.gate.panel_call_counter import hold, let_go
from webapp.recruiters.base import ReportingRecruiter
from webapp.recruitment.reports import (
    LONGEST_ANSWER,
    ReportState,
    hold_report,
    reported_ending,
    reports_of,
)

BY_HAND = "confirmed by hand"


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
    sendable = OutgoingReport.state.in_([ReportState.WAITING, ReportState.REFUSED])
    of_run = select(OutgoingReport).where(OutgoingReport.run_id == run.id, sendable)
    found = [each for each in session.scalars(of_run) if only_once(reported_ending(each))]
    for report in found:
        hold_report(report, now)
    if found or any(only_once(ending) for ending in Ending):
        hold(session.connection(), run.id)
    session.flush()
    return len(found)


def send_again(
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
    ended = OutgoingReport.state.not_in([ReportState.DONE, ReportState.WAITING])
    of_run = select(OutgoingReport).where(OutgoingReport.run_id == run.id, ended)
    found = []
    for report in session.scalars(of_run).all():
        terms = recruiter.report_terms(study, reported_ending(report))
        safe = report.state == ReportState.REFUSED or (terms is not None and terms.repeatable)
        if safe or also_unsafe:
            found.append(report)
    for report in found:
        report.state, report.tries, report.next_at = ReportState.WAITING, 0, now
        report.settled_at = None
    if also_unsafe:
        people = select(func.max(Participant.id)).where(Participant.run_id == run.id)
        let_go(session.connection(), run.id, session.scalar(people) or 0)
    session.flush()
    return len(found)


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
    of_person = [each for each, person in reports_of(session, run) if person.ref == participant]
    if not of_person:
        raise RunError(
            f'no ending of "{participant}" is to be reported to the platform',
            where=f"run {run.ref}",
            expected="a participant that parallax reconcile lists",
        )
    open_ = [each for each in of_person if each.state != ReportState.DONE]
    if any(each.state == ReportState.WAITING for each in open_):
        raise RunError(
            f'the report about "{participant}" is sent automatically',
            where=f"run {run.ref}",
            remedy="Wait until it is done, refused or unknown",
        )
    for report in open_:
        report.answer = f"{BY_HAND} (before: {report.state}: {report.answer})"[:LONGEST_ANSWER]
        report.state, report.settled_at = ReportState.DONE, now
    session.flush()
    return bool(open_)
