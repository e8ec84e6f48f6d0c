"""Reporting endings to platforms, apart from any request."""

import logging

from webapp.database.engine import reading
from webapp.database.models import OutgoingReport, Participant, Run
from webapp.errors import WebappError
from webapp.recruiters.base import ReportingRecruiter
from webapp.recruitment.departures import departure_of
from webapp.recruitment.reports import ReportState, due_reports, reported_ending, send_report
from webapp.services import Services

_LOG = logging.getLogger("parallax.jobs")


def send_reports(services: Services) -> None:
    """Send every report whose time has come.

    Raises:
        WebappError: Some could not be sent for a reason of the installation's own, such as a
            missing secret; the others were.
    """
    problems = dict[str, int]()
    for report_id in due_reports(services.sessions, services.now()):
        try:
            _send(services, report_id)
        except WebappError as error:
            problems[str(error)] = problems.get(str(error), 0) + 1
        except Exception as error:
            # One report's surprise must not keep the others from being sent.
            _LOG.exception("a report could not be sent", extra={"job": "send_reports"})
            problems[f"{type(error).__name__}, see the log"] = 1
    if problems:
        raise WebappError(
            " ".join(f"{number} report(s): {text}" for text, number in problems.items())
        )


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
