"""``parallax correct`` and ``restrict``: what participants write that they wish."""

import getpass
from collections.abc import Callable
from pathlib import Path

import click
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from webapp.commands.options import open_sessions, with_instance
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.database.models import Participant, Run
from webapp.database.models.identity import sealer_of
from webapp.database.retry import in_transaction
from webapp.database.scrub import empty_log
from webapp.erasures.record import Record
from webapp.errors import RunError
from webapp.privacy.corrections import correct as correct_answers
from webapp.privacy.corrections import correctable
from webapp.privacy.restriction import release, restrict
from webapp.runs.runs import study_as_launched
from webapp.users.audit_log import record_act

_REASON = click.option("--reason", required=True, help="How they asked for it; it is kept.")


@click.command("correct")
@click.argument("who")
@click.argument("field")
@click.argument("value")
@_REASON
@with_instance
def correct_(who: str, field: str, value: str, reason: str, instance: Path) -> None:
    """Put VALUE in the place of WHO's answer to the question FIELD.

    WHO is a participant's reference or their own code. The earlier answer is not kept. If an older
    backup is restored, it is corrected again.
    """

    def change(session: Session, run: Run, person: Participant, record: Record) -> None:
        questions = correctable(session, study_as_launched(session, run), person)
        names = [question.name for question in questions]
        if field not in names:
            raise RunError(
                f'the participant was asked no question "{field}"',
                expected=f"one of: {', '.join(names) or 'none, because they answered none'}",
            )
        given, now = {field: value}, utc_now()
        if problems := correct_answers(session, person, questions, given, now, record):
            raise RunError(f"the new answer to {field} cannot be stored: {problems[field]}")
        _note(session, run, person, "answer corrected", reason, field=field)

    _change(who, instance, change)
    click.echo(f"The answer to {field} is corrected. Exports made earlier still have the other.")


@click.command("restrict")
@click.argument("who")
@click.option("--lift", is_flag=True, help="Use the data again; tell the participant before.")
@_REASON
@with_instance
def restrict_(who: str, lift: bool, reason: str, instance: Path) -> None:
    """Keep WHO's data without using them, until they allow it again.

    WHO is a participant's reference or their own code. No export, rule, report or page has their
    answers meanwhile; what they are owed can be paid. A restored backup keeps it so.
    """

    def change(session: Session, run: Run, person: Participant, record: Record) -> None:
        act, done = ("data used again", release) if lift else ("data restricted", restrict)
        if done(session, person, utc_now(), record):
            _note(session, run, person, act, reason)

    _change(who, instance, change)
    told = "may be used again" if lift else "are stored and not used. Delete them in exports"
    click.echo(f"The participant's data {told}.")


def _change(
    who: str, instance: Path, change: Callable[[Session, Run, Participant, Record], None]
) -> None:
    def work(session: Session) -> None:
        named = or_(Participant.ref == who.strip(), Participant.code == who.strip().lower())
        person = session.scalar(select(Participant).where(named).with_for_update(of=Participant))
        if person is None:
            raise RunError(
                "no participant has that reference or code",
                expected="a participant's reference, or the code that only they were shown",
            )
        record = Record(open_instance(instance), sealer_of(session.get_bind().dialect))
        change(session, session.get_one(Run, person.run_id), person, record)

    sessions = open_sessions(instance)
    in_transaction(sessions, work)
    empty_log(sessions.kw["bind"])


def _note(
    session: Session, run: Run, person: Participant, act: str, reason: str, **after: str
) -> None:
    told = {"participant": person.ref, **after, "reason": reason}
    record_act(session, getpass.getuser(), act, utc_now(), run_ref=run.ref, after=told)
