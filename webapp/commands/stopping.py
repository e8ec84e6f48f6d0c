"""``parallax stopping``: apply a run's stopping rule."""

from pathlib import Path

import click

from webapp.commands.options import add_instance_option, open_sessions
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.retry import run_in_transaction
from webapp.runs.runs import find_named_run, find_stopping_time, load_launched_study
from webapp.runs.stopping import is_answered, stop_run


@click.command()
@click.argument("run")
@add_instance_option
def stopping(run: str, instance: Path) -> None:
    """Apply RUN's stopping rule, and close the run to new participants if the rule is met.

    A periodic job does the same, and hides the run on its platform. Only `parallax compare`
    shows why a run stopped, after unblinding.
    """
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        stored_run = find_named_run(session, run)
        study = load_launched_study(session, stored_run)
        is_stopped = find_stopping_time(session, stored_run) is not None
        is_over = is_stopped or is_answered(session, stored_run, study)
    if is_over and not is_stopped:
        # Reading takes no lock: answers were stored meanwhile.
        run_in_transaction(
            sessions, lambda session: stop_run(session, find_named_run(session, run), utc_now())
        )
    click.echo(f"Run {run} {'is stopped' if is_over else 'goes on'}.")
