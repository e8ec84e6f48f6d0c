"""What paying platforms know comes in, and what was ordered of them is brought to its end."""

from collections.abc import Callable, Iterable
from itertools import groupby

from sqlalchemy import select

from experiment.payment import PaymentState
from webapp.db import reading
from webapp.errors import WebappError
from webapp.flow.ledger import IN_HAND
from webapp.flow.pay import pay
from webapp.flow.poll import poll
from webapp.flow.publish import published
from webapp.models import Payment, Recruitment, Run
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import open_platform
from webapp.services import Services

# Refused ones are for a person to look at; the others may have been made, or not been tried.
_UNFINISHED = (PaymentState.INTENDED, PaymentState.CALLING, PaymentState.UNKNOWN)


def poll_platforms(own: Services) -> None:
    """Bring what the platforms know of every open run into the database.

    Raises:
        WebappError: Some run's platform could not be polled; the others were.
    """
    open_runs = select(Run).join(Recruitment, Recruitment.run_id == Run.id)
    with reading(own.sessions) as session:
        runs = session.scalars(open_runs.where(Run.closed_at.is_(None))).all()
    _for_each(own, runs, lambda run, platform: poll(own.sessions, platform, run.ref, own.now()))


def finish_payments(own: Services) -> None:
    """Make the payments that somebody ordered and a crash or an outage left unmade.

    Raises:
        WebappError: Some run's platform could not be asked; the others were.
    """
    left = select(Run, Payment.id).join(Payment, Payment.run_id == Run.id).order_by(Run.id)
    left = left.where(
        Payment.state.in_(_UNFINISHED),
        Payment.assignment.is_not(None),
        # A younger one may be in the hands of the command that ordered it.
        Payment.made_at < own.now() - IN_HAND,
    )
    with reading(own.sessions) as session:
        rows = session.execute(left).all()
    ids = {run: [id_ for _, id_ in found] for run, found in groupby(rows, lambda row: row[0])}
    _for_each(own, ids, lambda run, platform: pay(own.sessions, platform, ids[run], own.now))


def _for_each(own: Services, runs: Iterable[Run], do: Callable[[Run, Platform], object]) -> None:
    problems = []
    for run in runs:
        try:
            # Never live: what may spend real money is said on a command line, each time.
            platform = open_platform(run.recruiter, own.settings)
            with reading(own.sessions) as session:
                published(session, run, platform.endpoint)
            do(run, platform)
        except WebappError as error:
            problems.append(f"run {run.ref}: {error}")
    if problems:
        raise WebappError(" ".join(problems))
