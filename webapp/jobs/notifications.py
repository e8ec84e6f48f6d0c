"""Jobs that notify researchers about their runs."""

import logging

from experiment.errors import ParallaxError
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.notifications.notices import (
    Cause,
    News,
    add_notices,
    low_balance,
    send_notices,
    watched_runs,
    watchers,
    write_notices,
)
from webapp.recruiters.registry import open_platform
from webapp.recruitment.publish import published, recruitment_of
from webapp.recruitment.terms import refuse_other_purse
from webapp.runs.overview import overview
from webapp.services import Services

_LOG = logging.getLogger("parallax.jobs")


def tell_researchers(services: Services) -> None:
    """Store new notices, and send the notices that are due."""
    write_notices(services)
    send_notices(services)


def look_at_balances(services: Services) -> None:
    """Store a notice for each open run whose platform balance is lower than what is still due."""
    wanted: dict[int, tuple[Run, list[int]]] = {}
    with reading(services.sessions) as session:
        for notification, user in watchers(session, Cause.BALANCE):
            for run in watched_runs(session, user):
                if run.closed_at is None and recruitment_of(session, run) is not None:
                    wanted.setdefault(run.id, (run, []))[1].append(notification.id)
    events: list[tuple[int, Run, News]] = []
    for run, notification_ids in wanted.values():
        if _is_low(services, run):
            events += [(id_, run, low_balance(run, services.now())) for id_ in notification_ids]
    add_notices(services, events)


def _is_low(services: Services, run: Run) -> bool:
    try:
        # Also for the live platform: the balance is only read, and nothing is spent.
        platform = open_platform(run.recruiter, services.settings, live=True)
        with reading(services.sessions) as session:
            where_it_is = published(session, run, platform.endpoint)
            study = services.study_of(session, run)
            due_minor = overview(session, run, services.now(), study.reward_minor).committed_minor
        refuse_other_purse(run, study, where_it_is, platform)
        return platform.balance_minor() < due_minor
    except ParallaxError as error:
        # *Recruitment* shows the same error on request; it is no reason for a notice.
        _LOG.info("the balance of run %s is not known: %s", run.ref, error)
        return False
