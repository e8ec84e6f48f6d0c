"""Periodic jobs that call the recruiting platforms: polls, payments and reports of sessions."""

import logging
from collections.abc import Callable, Iterable
from itertools import groupby

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.errors import ParallaxError
from experiment.participation import Ending
from experiment.payment.payment import PaymentState
from webapp.core.subprocesses import run_parallax
from webapp.database.engine import reading
from webapp.database.models import (
    OutgoingReport,
    Participant,
    Payment,
    Recruitment,
    Run,
    RunCount,
)
from webapp.database.row_counts import RESPONSES
from webapp.errors import WebappError
from webapp.gate.gate import has_doubtful_panel_calls, settle_panel_calls
from webapp.gate.paying_copy import may_call_platforms
from webapp.payments.ledger import CLAIM_TIMEOUT
from webapp.payments.pay import make_payments
from webapp.recruiters.base import PayingRecruiter, ReportingRecruiter
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import open_platform, recruiter_class
from webapp.recruitment.poll import build_departure, poll_run
from webapp.recruitment.progress import pause_run
from webapp.recruitment.published import require_recruitment
from webapp.recruitment.reports import (
    ReportState,
    find_due_reports,
    get_ending,
    hold_reports,
    send_report,
)
from webapp.recruitment.terms import refuse_other_owner
from webapp.runs.runs import PAUSED, describe_rules, is_pause_due
from webapp.services import Services
from webapp.users.audit_log import record_act

_LOG = logging.getLogger("parallax.jobs")

# Refused payments need a user's decision; these may have been made, or not been tried.
_UNFINISHED_STATES = (
    PaymentState.INTENDED,
    PaymentState.CALLING,
    PaymentState.ORDERED,
    PaymentState.UNKNOWN,
)


def poll_platforms(services: Services) -> None:
    """Update every open run from its platform.

    Raises:
        WebappError: A run's platform could not be polled; the other runs were.
    """
    open_runs = select(Run).join(Recruitment, Recruitment.run_id == Run.id)
    with reading(services.sessions) as session:
        runs = session.scalars(open_runs.where(Run.closed_at.is_(None))).all()
    _call_each_platform(
        services,
        runs,
        lambda run, platform: poll_run(services.sessions, platform, run.ref, services.now()),
    )


def stop_answered_runs(services: Services) -> None:
    """Apply the stopping rule of every open run whose counts changed.

    A stopped run is closed, and hidden on its platform; who has begun can finish, and is paid. A
    copy without the right to pay hides nothing: the run's page says what waits for it.

    Raises:
        WebappError: A run's rule could not be asked, or its platform not be reached; the other runs
            were seen to, and the next tick tries again.
    """
    problems = []
    for run, counts in _list_changed_runs(services):
        # In a process of its own: the rule reads all answers, and participants would wait.
        done = run_parallax(services.instance, "stopping", run.ref, limit_s=None)
        if done.worked:
            services.asked_rules[run.id] = counts
        else:
            problems.append(f"run {run.ref}: {done.text.strip()}")
    try:
        _pause_stopped_runs(services)
    except WebappError as error:
        problems.append(str(error))
    if problems:
        raise WebappError(" ".join(problems))


def _list_changed_runs(services: Services) -> list[tuple[Run, frozenset[tuple[str, int]]]]:
    """Return the open runs with a stopping rule whose counts changed since it was last applied."""
    with reading(services.sessions) as session:
        runs = session.scalars(select(Run).where(Run.closed_at.is_(None)).order_by(Run.id)).all()
        with_rule = describe_rules(session, runs)
        changed = []
        for run in runs:
            if run.id in with_rule:
                counted = select(RunCount.subject, func.sum(RunCount.n)).where(
                    RunCount.run_id == run.id, RunCount.subject != RESPONSES
                )
                rows = session.execute(counted.group_by(RunCount.subject))
                counts = frozenset((subject, int(n)) for subject, n in rows)
                if services.asked_rules.get(run.id) != counts:
                    changed.append((run, counts))
        return changed


def _pause_stopped_runs(services: Services) -> None:
    """Hide the stopped runs that their platforms still offer."""
    if not may_call_platforms(services.instance):
        return  # The pages of these runs say so.
    with reading(services.sessions) as session:
        published = select(Run).join(Recruitment, Recruitment.run_id == Run.id)
        runs = session.scalars(published.where(is_pause_due()).order_by(Run.id)).all()

    def pause(run: Run, platform: Platform) -> None:
        pause_run(services.sessions, platform, run.ref, services.now())
        with services.sessions.begin() as session:
            record_act(session, "parallax", PAUSED, services.now(), run_ref=run.ref)

    # Hiding offers spends nothing, so that it is allowed on a live platform too.
    _call_each_platform(services, runs, pause, live=True)


def finish_payments(services: Services) -> None:
    """Make the payments that were ordered and then interrupted by a crash or an outage.

    A copy without the right to pay makes none: the pages say so.

    Raises:
        WebappError: A run's platform could not be asked; the other runs were.
    """
    if not may_call_platforms(services.instance):
        return
    unfinished_payments = (
        select(Run, Payment.id).join(Payment, Payment.run_id == Run.id).order_by(Run.id)
    )
    unfinished_payments = unfinished_payments.where(
        Payment.state.in_(_UNFINISHED_STATES),
        Payment.assignment.is_not(None),
        # A younger payment may still be in progress in the command that ordered it.
        Payment.made_at < services.now() - CLAIM_TIMEOUT,
    )
    with reading(services.sessions) as session:
        rows = session.execute(unfinished_payments).all()
    ids = {run: [id_ for _, id_ in payments] for run, payments in groupby(rows, lambda row: row[0])}
    _call_each_platform(
        services,
        ids,
        lambda run, platform: make_payments(services.sessions, platform, ids[run], services.now),
    )


def _call_each_platform(
    services: Services,
    runs: Iterable[Run],
    do: Callable[[Run, Platform], object],
    *,
    live: bool = False,
) -> None:
    problems = []
    for run in runs:
        try:
            # Live only where nothing is spent: real money must be allowed on the command line.
            platform = open_platform(run.recruiter, services.settings, live=live)
            with reading(services.sessions) as session:
                where_it_is = require_recruitment(session, run, platform.endpoint)
            refuse_other_owner(run, where_it_is, platform)
            do(run, platform)
        except WebappError as error:
            problems.append(f"run {run.ref}: {error}")
        except Exception as error:
            # An unexpected error of one run must not stop the other runs.
            _LOG.exception("the periodic work for a run's platform failed", extra={"job": run.ref})
            problems.append(f"run {run.ref}: {type(error).__name__}, see the log")
    if problems:
        raise WebappError(" ".join(problems))


def send_reports(services: Services) -> None:
    """Send every report that is due.

    Raises:
        WebappError: Some could not be sent because of a fault of the installation, such as a
            missing secret; the others were.
    """
    hold_unrepeatable_reports(services)
    problems = dict[str, int]()
    for report_id in find_due_reports(services.sessions, services.now()):
        try:
            _send_report(services, report_id)
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


def hold_unrepeatable_reports(services: Services) -> None:
    """After a restore, hold every call that must not be repeated for a researcher's decision."""
    with reading(services.sessions) as session:
        if not has_doubtful_panel_calls(session.connection()):
            return
    with services.sessions.begin() as session:
        if not has_doubtful_panel_calls(session.connection()):
            return  # Another process did it first.
        for run in session.scalars(select(Run).order_by(Run.id)).all():
            only_once = _make_repeat_check(services, session, run)
            if n_held := hold_reports(session, run, only_once, services.now()):
                _LOG.warning(
                    "run %s: %d reports held: parallax reconcile %s", run.ref, n_held, run.ref
                )
        settle_panel_calls(session.connection())


def _make_repeat_check(services: Services, session: Session, run: Run) -> Callable[[Ending], bool]:
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


def _send_report(services: Services, report_id: int) -> None:
    with reading(services.sessions) as session:
        report = session.get_one(OutgoingReport, report_id)
        run = session.get_one(Run, report.run_id)
        person = session.get_one(Participant, report.participant_id)
        study, receipt = services.study_of(session, run), services.tokens.receipt(person.ref)
        departure = build_departure(session, study, person, get_ending(report), receipt)
    recruiter = services.recruiter(run.recruiter)
    assert isinstance(recruiter, ReportingRecruiter)
    state = send_report(services.sessions, recruiter, departure, report_id, services.now)
    if state in (ReportState.REFUSED, ReportState.UNKNOWN):
        _LOG.warning("a report of run %s is %s: parallax reconcile %s", run.ref, state, run.ref)
