"""``parallax unblind``: letting a run's results be seen."""

import getpass
from pathlib import Path

import click

from webapp.commands.options import open_sessions, with_instance
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.runs.runs import named_run, study_as_launched
from webapp.runs.unblind import unblind_by_two


@click.command()
@click.argument("run")
@click.option("--reason", required=True, help="Why the results are looked at now; it is kept.")
@with_instance
def unblind(run: str, reason: str, instance: Path) -> None:
    """Let the results of RUN be seen and exported from now on.

    It cannot be taken back. Who did it, when and why is kept with the run and in the audit log.
    """
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        study = study_as_launched(session, found := named_run(session, run))
    who = getpass.getuser()
    unblind_by_two(sessions, found, study, by=who, reason=reason.strip(), now=utc_now())
    click.echo(f"The run {run} is unblinded.")
