"""``parallax work``."""

from pathlib import Path

import click

from webapp import create_app
from webapp.commands.options import with_instance
from webapp.core.logging import write_logs
from webapp.core.metrics import METRICS
from webapp.errors import WebappError
from webapp.jobs.periodic import PERIODIC
from webapp.jobs.queue import Embedded, consume, do, open_queue
from webapp.long_jobs.work import leaving, open_long_queue
from webapp.server.waiting import wait_for_app
from webapp.services import EXTENSION


@click.command()
@click.option("--once", is_flag=True, help="Do every job once, then exit.")
@with_instance
def work(once: bool, instance: Path) -> None:
    """Do the periodic jobs, if no server does them.

    The setting jobs_in_server says whether the server does them.
    """
    app = create_app(instance) if once else wait_for_app(instance)
    services, folder = app.extensions[EXTENSION], Path(app.instance_path)
    write_logs(services.settings.log_format, services.settings.log_level)
    if not once:
        beside = Embedded(open_long_queue(services, folder).huey)
        try:
            consume(open_queue(services, folder, app.extensions[METRICS]))
        finally:
            leaving.set()
            beside.stop()
        return
    failed = [name for name, job in PERIODIC.items() if not do(name, job, services, folder, None)]
    services.engine.dispose()
    if failed:
        raise WebappError(
            f"{', '.join(failed)} failed", where=str(instance), remedy="The log above says why"
        )
    click.echo(f"Done: {', '.join(PERIODIC)}.")
