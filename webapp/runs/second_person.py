"""Acts that need two people: an act is carried out once a second person requests it too.

The first request is only stored. A person is identified by the account's name, or by the operating
system's user for a command.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from experiment.studies.study import Study
from webapp.database.engine import Sessions
from webapp.database.models import RequestedAct, Run
from webapp.database.retry import run_in_transaction
from webapp.errors import RunError
from webapp.users.audit_log import record_act

GuardedAct = Literal["payments", "publishing", "unblinding"]
# An older request has expired: a confirmation would no longer match the first person's intention.
REQUEST_LIFETIME = timedelta(days=7)


class SecondPersonError(RunError):
    """The act needs the same request from a second person."""


@dataclass(frozen=True, slots=True)
class GuardedRequest:
    """An act for which a study may require two persons.

    Attributes:
        run: The run.
        study: Its study, which names the acts that need two persons.
        act: The act.
        digest: The digest that distinguishes it from other acts of its kind.
        told: The act in words.
        by: The person who requests it.
        now: The time.
    """

    run: Run
    study: Study
    act: GuardedAct
    digest: str
    told: str
    by: str
    now: datetime


def find_first_requester(sessions: Sessions, wanted: GuardedRequest) -> str:
    """Return who requested an act before; empty if the study requires no second person for it.

    Args:
        sessions: The request is stored in a transaction of its own.
        wanted: The requested act.

    Raises:
        SecondPersonError: Nobody else has requested the act, so it must not happen.
    """
    if wanted.act not in wanted.study.oversight.second_person:
        return ""
    run, act, description, by, now = wanted.run, wanted.act, wanted.told, wanted.by, wanted.now

    def ask(session: Session) -> str:
        # The lock keeps two simultaneous requests in order, so that each finds the other.
        session.execute(select(Run.id).where(Run.id == run.id).with_for_update(key_share=True))
        pending = session.scalar(
            select(RequestedAct).where(*_match_request(run, act, wanted.digest))
        )
        if pending is not None and now - pending.at <= REQUEST_LIFETIME:
            return pending.who
        session.execute(delete(RequestedAct).where(*_match_request(run, act, wanted.digest)))
        pending = RequestedAct(
            run_id=run.id, act=act, digest=wanted.digest, told=description, who=by, at=now
        )
        session.add(pending)
        record_act(
            session, by, f"{act} asked for", now, run_ref=run.ref, after={"what": description}
        )
        return by

    first = run_in_transaction(sessions, ask)
    if first != by:
        return first
    raise SecondPersonError(
        f"nothing was done yet: the study asks two people for {act}, and you asked for "
        f"{description}",
        where=f"run {run.ref}",
        expected="a second person who asks for exactly the same within "
        f"{REQUEST_LIFETIME.days} days, on the run's page or by the same command",
        remedy="Tell a colleague. If what is to be done changes meanwhile, both ask again",
    )


def check_second_person(sessions: Sessions, wanted: GuardedRequest) -> None:
    """Check that a second person requested the act, if the study requires it.

    The audit log records who confirmed it.

    Raises:
        SecondPersonError: Nobody else has requested the act, so it must not happen.
    """
    first = find_first_requester(sessions, wanted)
    if not first:
        return
    run, act = wanted.run, wanted.act
    with sessions.begin() as session:
        close_request(session, run, act, wanted.digest)
        after = {"what": wanted.told, "asked for by": first}
        record_act(session, wanted.by, f"{act} confirmed", wanted.now, run_ref=run.ref, after=after)


def close_request(session: Session, run: Run, act: GuardedAct, digest: str) -> None:
    """Close an act's pending request, in the transaction that performs the act."""
    session.execute(delete(RequestedAct).where(*_match_request(run, act, digest)))


def list_pending_requests(session: Session, run: Run, now: datetime) -> Sequence[RequestedAct]:
    """Return the acts that wait for a second person."""
    waiting = RequestedAct.run_id == run.id, RequestedAct.at >= now - REQUEST_LIFETIME
    return session.scalars(select(RequestedAct).where(*waiting).order_by(RequestedAct.id)).all()


def _match_request(run: Run, act: GuardedAct, digest: str) -> tuple[ColumnElement[bool], ...]:
    return RequestedAct.run_id == run.id, RequestedAct.act == act, RequestedAct.digest == digest
