"""Periodic jobs inside the installation: leases, retention, notices and summaries."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from experiment.errors import ParallaxError
from experiment.participation import ERASURE_EVENTS
from experiment.studies.study import Study
from webapp.core.subprocesses import run_parallax
from webapp.database.engine import Sessions, reading
from webapp.database.models import Event, Participant, Run, RunCount, RunSummary, SessionSummary
from webapp.database.row_counts import RESPONSES
from webapp.database.scrub import empty_log, scrub
from webapp.errors import RunError, WebappError
from webapp.jobs.notices import (
    Cause,
    RunEvent,
    add_notices,
    list_notified_users,
    list_watched_runs,
    make_low_balance_notice,
    send_notices,
    write_notices,
)
from webapp.privacy.retention import erase_identities, is_erasure_due
from webapp.recruiters.registry import open_platform
from webapp.recruitment.published import find_recruitment, require_recruitment
from webapp.recruitment.terms import refuse_other_account_or_currency
from webapp.runs.charts import compute_charts
from webapp.runs.overview import make_overview
from webapp.runs.summaries import (
    count_responses,
    split_into_batches,
    store_summaries,
    stream_summary_rows,
)
from webapp.services import Services
from webapp.sessions.arrival_limits import forget_addresses
from webapp.sessions.lease import has_expired, release_expired
from webapp.sessions.waitlist import give_places, has_waiting_participants
from webapp.users.audit_log import record_act
from webapp.users.sign_in import delete_old_guesses

_CLOSED_RUNS = select(Run).where(Run.closed_at.is_not(None)).order_by(Run.id)


def release_leases(services: Services) -> int:
    """Free places (participant slots) with an expired lease in open runs; return how many."""
    now = services.now()
    with reading(services.sessions) as session:
        # Reading takes no lock, so answers wait for this job only if there are places to free.
        waiting = [run.id for run in session.scalars(_OPEN_RUNS) if has_expired(session, run, now)]
    freed = 0
    for run_id in waiting:
        with services.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.id == run_id).with_for_update()).one()
            freed += len(release_expired(session, run, now))
    return freed


def give_places_to_workers(services: Services) -> int:
    """Give free places of every open run to active participants without one; return how many."""
    now, holds = services.now(), services.settings.unanswered_places
    with reading(services.sessions) as session:
        runs = [
            r.id
            for r in session.scalars(_OPEN_RUNS)
            if has_waiting_participants(session, r, holds, now)
        ]
    given_places = 0
    for run_id in runs:
        with services.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.id == run_id).with_for_update()).one()
            given_places += give_places(session, run, holds, now)
    return given_places


def delete_old_address_digests(services: Services) -> int:
    """Delete expired digests of network addresses, and return how many.

    Digests of arrivals expire after an hour, those of failed sign-ins after a quarter of an hour.
    """
    with services.sessions.begin() as session:
        guesses = delete_old_guesses(session, services.now())
        return forget_addresses(session, services.now()) + guesses


_OPEN_RUNS = select(Run).where(Run.closed_at.is_(None))


def erase_due_identities(services: Services) -> int:
    """Erase identifying data of every run whose erasure day has come.

    Return how many participants.
    """
    now, erased = services.now(), 0
    with reading(services.sessions) as session:
        due_identities = []
        for run in session.scalars(_CLOSED_RUNS).all():
            try:
                if is_erasure_due(run, services.study_of(session, run), now):
                    due_identities.append(run.id)
            except RunError:  # its study's files are lost, as the run's pages report
                continue
    for run_id in due_identities:
        with services.sessions.begin() as session:
            run = session.scalars(select(Run).where(Run.id == run_id).with_for_update()).one()
            study = services.study_of(session, run)
            if not is_erasure_due(run, study, now):
                continue  # reopened meanwhile
            done = erase_identities(session, run, study, now)
            if done.people or not done.waiting:
                counts = {"people": str(done.people), "still to be paid": str(done.waiting)}
                record_act(
                    session, "parallax", "identifying data erased", now,
                    run_ref=run.ref, after=counts,
                )  # fmt: skip
            erased += done.people
    if erased:
        scrub(services.engine)
    return erased


def empty_database_log(services: Services) -> bool:
    """Truncate SQLite's log, if a long read kept erased data in it; return whether it is empty."""
    return empty_log(services.engine)


_LOG = logging.getLogger("parallax.jobs")


def notify_researchers(services: Services) -> None:
    """Store new notices, and send the notices that are due."""
    write_notices(services)
    send_notices(services)


def check_platform_balances(services: Services) -> None:
    """Store a notice for each open run whose platform balance is lower than what is still due."""
    users_by_run: dict[int, tuple[Run, list[int]]] = {}
    with reading(services.sessions) as session:
        for notification, user in list_notified_users(session, Cause.BALANCE):
            for run in list_watched_runs(session, user):
                if run.closed_at is None and find_recruitment(session, run) is not None:
                    users_by_run.setdefault(run.id, (run, []))[1].append(notification.id)
    events: list[tuple[int, Run, RunEvent]] = []
    for run, notification_ids in users_by_run.values():
        if _is_balance_low(services, run):
            events += [
                (id_, run, make_low_balance_notice(run, services.now())) for id_ in notification_ids
            ]
    add_notices(services, events)


def _is_balance_low(services: Services, run: Run) -> bool:
    try:
        # Also for the live platform: the balance is only read, and nothing is spent.
        platform = open_platform(run.recruiter, services.settings, live=True)
        with reading(services.sessions) as session:
            where_it_is = require_recruitment(session, run, platform.endpoint)
            study = services.study_of(session, run)
            due_minor = make_overview(
                session, run, services.now(), study.reward_minor
            ).committed_minor
        refuse_other_account_or_currency(run, study, where_it_is, platform)
        return platform.balance_minor() < due_minor
    except ParallaxError as error:
        # *Recruitment* shows the same error on request; it is no reason for a notice.
        _LOG.info("the balance of run %s is not known: %s", run.ref, error)
        return False


# Limits the summaries of a busy run to a twentieth of a processor's time.
_TIMES_ITS_COST = 20


def summarise_runs(services: Services) -> None:
    """Summarise the sessions of every run with new answers, one run after the other.

    Raises:
        WebappError: A run's sessions could not be summarised; the other runs were.
    """
    problems = []
    for ref in list_runs_to_summarise(services):
        # The server's own processes serve participants, one thread at a time.
        done = run_parallax(services.instance, "summarise", ref, limit_s=None)
        if not done.worked:
            problems.append(f"run {ref}: {done.text.strip()}")
    if problems:
        raise WebappError(" ".join(problems))


def list_runs_to_summarise(services: Services) -> list[str]:
    """Return the runs whose sessions changed since the last summary and have waited long enough."""
    responses = (
        select(func.coalesce(func.sum(RunCount.n), 0))
        .where(RunCount.run_id == Run.id, RunCount.subject == RESPONSES)
        .scalar_subquery()
    )
    statement = (
        select(Run.ref, RunSummary.made_at, RunSummary.took_s)
        .outerjoin(RunSummary, RunSummary.run_id == Run.id)
        .where(responses != func.coalesce(RunSummary.responses, 0))
        .order_by(Run.id)
    )
    now = services.now()
    with reading(services.sessions) as session:
        return [
            ref
            for ref, made_at, took_s in session.execute(statement)
            if made_at is None or now - made_at >= timedelta(seconds=_TIMES_ITS_COST * took_s)
        ]


def summarise_run(
    sessions: Sessions, ref: str, study_of: Callable[[Session, Run], Study], now: datetime
) -> int:
    """Summarise every session of a run that has an answer, and return how many.

    Args:
        sessions: The session factory.
        ref: The run's reference.
        study_of: Returns the run's study.
        now: The time.
    """
    began = time.monotonic()
    with reading(sessions) as session:
        run = session.scalars(select(Run).where(Run.ref == ref)).one()
        responses, wishes = (
            count_responses(session, run),
            _get_restrictions_and_erasures(session, run),
        )
        rows = list(stream_summary_rows(session, run, study_of(session, run)))
    # Short transactions: participants' answers are stored between them.
    for some in split_into_batches(rows):
        with sessions.begin() as session:
            store_summaries(session, some)
    with reading(sessions) as session:
        charts = compute_charts(session, run, study_of(session, run), now)
    with sessions.begin() as session:
        if _get_restrictions_and_erasures(session, run) != wishes:
            # A participant's data were erased or restricted meanwhile and may be in the stored
            # summaries: the job starts over a minute later.
            session.execute(delete(SessionSummary).where(SessionSummary.run_id == run.id))
            return len(rows)
        session.execute(delete(RunSummary).where(RunSummary.run_id == run.id))
        took_s = time.monotonic() - began
        summary = RunSummary(
            run_id=run.id, made_at=now, took_s=took_s, responses=responses, charts=charts
        )
        session.add(summary)
    return len(rows)


def _get_restrictions_and_erasures(session: Session, run: Run) -> tuple[frozenset[int], int]:
    """Return the participants whose data are restricted, and the number of erasures."""
    restricted = select(Participant.id).where(
        Participant.run_id == run.id, Participant.restricted_at.is_not(None)
    )
    erased = (
        select(func.count())
        .select_from(Event)
        .join(Participant, Participant.id == Event.participant_id)
        .where(Participant.run_id == run.id, Event.kind.in_(ERASURE_EVENTS))
    )
    return frozenset(session.scalars(restricted)), session.scalar(erased) or 0
