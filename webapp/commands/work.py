"""``parallax work``."""

from pathlib import Path

import click

from webapp import create_app
from webapp.commands.installation import with_instance
from webapp.errors import WebappError
from webapp.jobs.consume import consume
from webapp.jobs.periodic import PERIODIC
from webapp.jobs.queue import do, open_queue
from webapp.logs import write_logs
from webapp.metrics import METRICS
from webapp.services import EXTENSION


@click.command()
@click.option("--once", is_flag=True, help="Do every job one time, and end.")
@with_instance
def work(once: bool, instance: Path) -> None:
    """Do the periodic jobs, for servers that do not (the setting jobs_in_server)."""
    app = create_app(instance)
    own, folder = app.extensions[EXTENSION], Path(app.instance_path)
    write_logs(own.settings.log_format, own.settings.log_level)
    if not once:
        consume(open_queue(own, folder, app.extensions[METRICS]))
        return
    failed = [name for name, job in PERIODIC.items() if not do(name, job, own, folder, None)]
    own.engine.dispose()
    if failed:
        raise WebappError(
            f"{', '.join(failed)} failed", where=str(instance), remedy="The log above says why"
        )
    click.echo(f"Done: {', '.join(PERIODIC)}.")
