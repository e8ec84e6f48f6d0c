"""Erasing what somebody gave, when they ask for it with the code that they were shown."""

from pathlib import Path

import click
from sqlalchemy import select

from webapp.commands.database import scrub_and_tell
from webapp.commands.options import open_sessions, with_instance
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.database.models import Participant
from webapp.database.models.identity import sealer_of
from webapp.erasures.record import Record
from webapp.errors import RunError
from webapp.runs.runs import named_run
from webapp.sessions.withdraw import Wish, withdraw


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
