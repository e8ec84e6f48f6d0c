"""Jobs that report endings to platforms, outside requests."""

import logging
from collections.abc import Callable

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.errors import ParallaxError
from experiment.participation import Ending
from webapp.database.engine import reading
from webapp.database.models import OutgoingReport, Participant, Run
from webapp.errors import WebappError
from webapp.gate.gate import may_be_told, told_held
from webapp.recruiters.base import PayingRecruiter, ReportingRecruiter
from webapp.recruiters.registry import recruiter_class
from webapp.recruitment.departures import departure_of
from webapp.recruitment.reports import (
    ReportState,
    due_reports,
    hold_reports,
    reported_ending,
    send_report,
)
from webapp.services import Services

_LOG = logging.getLogger("parallax.jobs")


def send_reports(services: Services) -> None:
    """Send every report that is due.

    Raises:
        WebappError: Some could not be sent because of a fault of the installation, such as a
            missing secret; the others were.
    """
    hold_what_may_be_told(services)
    problems = dict[str, int]()
    for report_id in due_reports(services.sessions, services.now()):
        try:
            _send(services, report_id)
        except WebappError as error:
            problems[str(error)] = problems.get(str(error), 0) + 1
        except Exception as error:
            # An unexpected error of one report must not stop the others.
            _LOG.exception("a report could not be sent", extra={"job": "send_reports"})
            problems[f"{type(error).__name__}, see the log"] = 1
    if problems:
        raise WebappError(
            " ".join(f"{number} report(s): {text}" for text, number in problems.items())
        )


def hold_what_may_be_told(services: Services) -> None:
    """After a restore, hold every call that must not be repeated for a researcher's decision."""
    with reading(services.sessions) as session:
        if not may_be_told(session.connection()):
            return
    with services.sessions.begin() as session:
        if not may_be_told(session.connection()):
            return  # Another process did it first.
        for run in session.scalars(select(Run).order_by(Run.id)).all():
            only_once = _only_once(services, session, run)
            if held := hold_reports(session, run, only_once, services.now()):
                _LOG.warning(
                    "run %s: %d reports held: parallax reconcile %s", run.ref, held, run.ref
                )
        told_held(session.connection())


def _only_once(services: Services, session: Session, run: Run) -> Callable[[Ending], bool]:
    pays = False
    try:
        kind = recruiter_class(run.recruiter)
        pays = issubclass(kind, PayingRecruiter)
        if not issubclass(kind, ReportingRecruiter):
            return lambda _: False
        recruiter, study = services.recruiter(run.recruiter), services.study_of(session, run)
    except ParallaxError:
        # The terms cannot be read now. Paying platforms are read before each payment, so only
        # others are held.
        return lambda _: not pays
    assert isinstance(recruiter, ReportingRecruiter)

    def only_once(ending: Ending) -> bool:
        terms = recruiter.report_terms(study, ending)
        return terms is not None and not terms.repeatable

    return only_once


def _send(services: Services, report_id: int) -> None:
    with reading(services.sessions) as session:
        report = session.get_one(OutgoingReport, report_id)
        run = session.get_one(Run, report.run_id)
        person = session.get_one(Participant, report.participant_id)
        study, receipt = services.study_of(session, run), services.tokens.receipt(person.ref)
        departure = departure_of(session, study, person, reported_ending(report), receipt)
    recruiter = services.recruiter(run.recruiter)
    assert isinstance(recruiter, ReportingRecruiter)
    state = send_report(services.sessions, recruiter, departure, report_id, services.now)
    if state in (ReportState.REFUSED, ReportState.UNKNOWN):
        _LOG.warning("a report of run %s is %s: parallax reconcile %s", run.ref, state, run.ref)
