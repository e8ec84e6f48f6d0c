"""Jobs that poll paying platforms, and finish payments that were ordered."""

import logging
from collections.abc import Callable, Iterable
from itertools import groupby

from sqlalchemy import select

from experiment.payment.payment import PaymentState
from webapp.database.engine import reading
from webapp.database.models import Payment, Recruitment, Run
from webapp.errors import WebappError
from webapp.payments.ledger import CLAIM_TIMEOUT
from webapp.payments.pay import pay
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import open_platform
from webapp.recruitment.poll import poll
from webapp.recruitment.publish import published
from webapp.recruitment.terms import refuse_other_owner
from webapp.services import Services

_LOG = logging.getLogger("parallax.jobs")

# Refused payments need a user's decision; these may have been made, or not been tried.
_UNFINISHED = (
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
    _for_each(
        services,
        runs,
        lambda run, platform: poll(services.sessions, platform, run.ref, services.now()),
    )


def finish_payments(services: Services) -> None:
    """Make the payments that were ordered and then interrupted by a crash or an outage.

    Raises:
        WebappError: A run's platform could not be asked; the other runs were.
    """
    left = select(Run, Payment.id).join(Payment, Payment.run_id == Run.id).order_by(Run.id)
    left = left.where(
        Payment.state.in_(_UNFINISHED),
        Payment.assignment.is_not(None),
        # A younger payment may still be in progress in the command that ordered it.
        Payment.made_at < services.now() - CLAIM_TIMEOUT,
    )
    with reading(services.sessions) as session:
        rows = session.execute(left).all()
    ids = {run: [id_ for _, id_ in payments] for run, payments in groupby(rows, lambda row: row[0])}
    _for_each(
        services,
        ids,
        lambda run, platform: pay(services.sessions, platform, ids[run], services.now),
    )


def _for_each(
    services: Services, runs: Iterable[Run], do: Callable[[Run, Platform], object]
) -> None:
    problems = []
    for run in runs:
        try:
            # Never live: spending real money must be allowed on the command line, each time.
            platform = open_platform(run.recruiter, services.settings)
            with reading(services.sessions) as session:
                where_it_is = published(session, run, platform.endpoint)
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
