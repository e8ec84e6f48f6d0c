"""Four eyes: what a study asks two people for is done when the second asks for exactly the same.

The first request is stored, and nothing is done. A person is known by the name of the account, or
by the operating system's user of a command.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from experiment.studies.study import Study
from webapp.database.engine import Sessions
from webapp.database.models import AskedAct, Run
from webapp.database.retry import in_transaction
from webapp.errors import RunError
from webapp.users.audit_log import record_act

GuardedAct = Literal["payments", "publishing", "unblinding"]
# Whoever confirms after that no longer confirms what the first person had in mind.
VALID_FOR = timedelta(days=7)


class SecondPersonError(RunError):
    """Another person has to ask for the same before it is done."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An act for which a study may ask two people.

    Attributes:
        run: The run.
        study: Its study, which says what needs two people.
        act: What is to be done.
        digest: What tells it from any other such act.
        told: What it is, in words.
        by: Who wants it.
        now: The time.
    """

    run: Run
    study: Study
    act: GuardedAct
    digest: str
    told: str
    by: str
    now: datetime


def first_of_two(sessions: Sessions, wanted: Wanted) -> str:
    """Return who asked for an act before; empty where the study asks no second person for it.

    Args:
        sessions: The request is stored in a transaction of its own.
        wanted: The act, and who wants it.

    Raises:
        SecondPersonError: Nobody else has asked for it; then nothing may be done.
    """
    if wanted.act not in wanted.study.oversight.second_person:
        return ""
    run, act, told, by, now = wanted.run, wanted.act, wanted.told, wanted.by, wanted.now

    def ask(session: Session) -> str:
        # Two who ask at once are two.
        session.execute(select(Run.id).where(Run.id == run.id).with_for_update(key_share=True))
        asked = session.scalar(select(AskedAct).where(*_of(run, act, wanted.digest)))
        if asked is not None and now - asked.at <= VALID_FOR:
            return asked.who
        session.execute(delete(AskedAct).where(*_of(run, act, wanted.digest)))
        asked = AskedAct(run_id=run.id, act=act, digest=wanted.digest, told=told, who=by, at=now)
        session.add(asked)
        record_act(session, by, f"{act} asked for", now, run_ref=run.ref, after={"what": told})
        return by

    first = in_transaction(sessions, ask)
    if first != by:
        return first
    raise SecondPersonError(
        f"nothing was done yet: the study asks two people for {act}, and you asked for {told}",
        where=f"run {run.ref}",
        expected="a second person who asks for exactly the same within "
        f"{VALID_FOR.days} days, on the run's page or by the same command",
        remedy="Tell a colleague. If what is to be done changes meanwhile, both ask again",
    )


def refuse_one_person(sessions: Sessions, wanted: Wanted) -> None:
    """Let an act be done only after a second person asked for it, where the study says so.

    Who confirmed it is in the audit log.

    Raises:
        SecondPersonError: Nobody else has asked for it; then nothing may be done.
    """
    first = first_of_two(sessions, wanted)
    if not first:
        return
    run, act = wanted.run, wanted.act
    with sessions.begin() as session:
        done_by_two(session, run, act, wanted.digest)
        after = {"what": wanted.told, "asked for by": first}
        record_act(session, wanted.by, f"{act} confirmed", wanted.now, run_ref=run.ref, after=after)


def done_by_two(session: Session, run: Run, act: GuardedAct, digest: str) -> None:
    """Note in the transaction that does an act that nobody needs to confirm it any more."""
    session.execute(delete(AskedAct).where(*_of(run, act, digest)))


def asked_acts(session: Session, run: Run, now: datetime) -> Sequence[AskedAct]:
    """Return what waits for a second person."""
    waiting = AskedAct.run_id == run.id, AskedAct.at >= now - VALID_FOR
    return session.scalars(select(AskedAct).where(*waiting).order_by(AskedAct.id)).all()


def _of(run: Run, act: GuardedAct, digest: str) -> tuple[ColumnElement[bool], ...]:
    return AskedAct.run_id == run.id, AskedAct.act == act, AskedAct.digest == digest
