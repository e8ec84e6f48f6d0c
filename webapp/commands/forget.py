"""``parallax forget`` and ``erase``: taking somebody out of everything that is stored."""

import getpass
from pathlib import Path

import click
from sqlalchemy import select

from webapp.commands.database import scrub_and_tell
from webapp.commands.options import open_sessions, with_instance
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.database.models import Participant, Run
from webapp.database.models.identity import sealer_of
from webapp.erasures.record import Record
from webapp.errors import RunError
from webapp.privacy.forget import find_person, forget, refuse_unpaid
from webapp.runs.runs import named_run
from webapp.sessions.withdraw import Wish, withdraw
from webapp.users.audit_log import record_act


@click.command("forget")
@click.argument("who")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--although-unpaid",
    is_flag=True,
    help="Forget them even if their submitted work is not paid yet.",
)
@with_instance
def forget_(who: str, yes: bool, although_unpaid: bool, instance: Path) -> None:
    """Remove all data that identify WHO.

    WHO is a participant's reference, their own code, or a platform's id of them. Their answers are
    erased. What the books must keep no longer identifies anybody. If an older backup is restored,
    they are forgotten again.
    """
    if not yes:
        click.confirm("This cannot be undone. Forget them?", abort=True)
    who, now = who.strip(), utc_now()
    with open_sessions(instance).begin() as session:
        person = find_person(session, who)
        if person.is_nobody:
            raise RunError(
                "no participant has that reference, code or id",
                expected="a participant's reference, their own code, or a platform's id of them",
            )
        if not although_unpaid:
            refuse_unpaid(person)
        refs = [(each.ref, session.get_one(Run, each.run_id).ref) for each in person.participants]
        record = Record(open_instance(instance), sealer_of(session.get_bind().dialect))
        forget(session, person, now, record)
        after = {"participations": str(len(refs)), "payments kept": str(len(person.payments))}
        record_act(session, getpass.getuser(), "person forgotten", now, after=after)
    scrub_and_tell(open_instance(instance))
    click.echo(
        f"Forgotten: {len(refs)} participation(s), {len(person.assignments)} assignment(s); "
        f"{len(person.payments)} ledger entries no longer identify anyone."
    )
    for ref, run in refs:
        click.echo(f"In exports of run {run} made earlier, delete the rows of participant {ref}.")


@click.command()
@click.argument("run")
@click.argument("code")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_instance
def erase(run: str, code: str, yes: bool, instance: Path) -> None:
    """Erase what a participant of RUN gave, by their CODE.

    CODE is the one that their last page showed. Answers, times, devices and events are gone
    for good; what paying them needs stays. Exports made before still hold their rows.
    """
    if not yes:
        click.confirm("This cannot be undone. Erase it?", abort=True)
    with open_sessions(instance).begin() as session:
        found = named_run(session, run)
        participant = session.scalar(
            select(Participant)
            .where(Participant.run_id == found.id, Participant.code == code.strip().lower())
            .with_for_update()
        )
        if participant is None:
            raise RunError(
                f'no participant of the run "{run}" has that code',
                expected="the code that a participant's last page showed them",
            )
        record = Record(open_instance(instance), sealer_of(session.get_bind().dialect))
        withdraw(session, participant, Wish.ERASE, utc_now(), record)
        reference = participant.ref
    scrub_and_tell(open_instance(instance))
    click.echo(f"Erased. In exports made earlier, delete the rows of participant {reference}.")
