"""``parallax unblind``: letting a run's results be seen."""

import getpass
from pathlib import Path

import click
from sqlalchemy.orm import Session

from webapp.commands.options import open_sessions, with_instance
from webapp.core.clock import utc_now
from webapp.database.retry import in_transaction
from webapp.runs.runs import named_run
from webapp.runs.unblind import unblind as unblind_run


@click.command()
@click.argument("run")
@click.option("--reason", required=True, help="Why the results are looked at now; it is kept.")
@with_instance
def unblind(run: str, reason: str, instance: Path) -> None:
    """Let the results of RUN be seen and exported from now on.

    It cannot be taken back. Who did it, when and why is kept with the run and in the audit log.
    """

    def change(session: Session) -> None:
        found = named_run(session, run)
        unblind_run(session, found, by=getpass.getuser(), reason=reason.strip(), now=utc_now())

    in_transaction(open_sessions(instance), change)
    click.echo(f"The run {run} is unblinded.")
