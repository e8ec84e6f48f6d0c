"""``parallax serve``, ``stop``, ``reload``, ``settings`` and ``work``."""

import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import click

from experiment.tables.files import text_table
from webapp import create_app
from webapp.commands.options import add_new_instance_option
from webapp.commands.users import make_first_owner_link
from webapp.core.instance import open_instance
from webapp.core.logging import write_logs
from webapp.core.metrics import METRICS
from webapp.errors import WebappError
from webapp.jobs.long_job_queue import open_long_queue, server_stops
from webapp.jobs.periodic_queue import (
    PERIODIC_JOBS,
    EmbeddedQueue,
    open_queue,
    run_job,
    serve_queue,
)
from webapp.recruiters.settings import list_settings, load_settings
from webapp.server import server_control as server
from webapp.server.waiting import wait_for_app
from webapp.services import EXTENSION


@click.command()
@click.option("--host", help="The address to listen on.  [default: the setting host]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port; 0 takes any free one.  [default: the setting port]",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help=(
        "How many processes serve participants; with several, researcher pages get one "
        "more.  [default: the setting workers]"
    ),
)
@click.option(
    "--connections",
    type=click.IntRange(min=1),
    help=(
        "How many connections each process keeps open at a time.  [default: the setting "
        "connections]"
    ),
)
@click.option(
    "--background", is_flag=True, help="Run in the background; stop it with parallax stop."
)
@add_new_instance_option
def serve(
    host: str | None,
    port: int | None,
    workers: int | None,
    connections: int | None,
    background: bool,
    instance: Path,
) -> server.Server:
    """Serve participants, until interrupted or in the background."""
    settings = load_settings(open_instance(instance))
    host, port = host or settings.host, settings.port if port is None else port
    if not background:
        announce = partial(_print_owner_link, instance)
        server.serve(instance, host, port, workers, connections, announce)
    started = server.start(instance, host, port, workers, connections)
    click.echo(f"The server answers at {started.url} (process {started.pid}).")
    _print_owner_link(instance, started.url)
    click.echo("Stop it with: parallax stop")
    return started


def _print_owner_link(instance: Path, base: str) -> None:
    """Print the first owner's link while there is no owner; never where a service's log keeps it.

    Only a terminal gets the link itself, because the output of a service is stored and read by
    others.
    """
    with suppress(WebappError):  # the server itself reports what is wrong with the database
        link = make_first_owner_link(instance, base)
        if link is None:
            return
        click.echo("Nobody owns this installation yet. Its first owner opens this link once,")
        if sys.stdout.isatty():
            click.echo(f"within an hour: {link}")
        else:
            click.echo(
                f"within an hour: {link.partition('=')[0]}=... (hidden here, because logs are "
                "kept; print it in a terminal: parallax users owner-link)"
            )


@click.command()
@add_new_instance_option
def stop(instance: Path) -> None:
    """Stop the server in the background.

    It first completes the requests that it has received.
    """
    stopped = server.stop(instance)
    click.echo(f"The server at {stopped.url} (process {stopped.pid}) has stopped.")


@click.command()
@click.option("--pid", type=int, help="The process id of a server in the foreground.")
@add_new_instance_option
def reload(pid: int | None, instance: Path) -> None:
    """Reload the server's settings and code.

    No request is lost.
    """
    click.echo(f"The server (process {server.reload(instance, pid)}) is reloading.")


@click.command()
@add_new_instance_option
def settings(instance: Path) -> None:
    """Print every setting with its value, source, default and meaning."""
    header = ("setting", "value", "default", "source", "meaning")
    rows = list(list_settings(instance))
    click.echo(text_table(header, rows))


@click.command()
@click.option("--once", is_flag=True, help="Do every job once, then exit.")
@add_new_instance_option
def work(once: bool, instance: Path) -> None:
    """Run the periodic jobs, if no server runs them.

    The setting jobs_in_server says whether the server does them.
    """
    app = create_app(instance) if once else wait_for_app(instance)
    services, folder = app.extensions[EXTENSION], Path(app.instance_path)
    write_logs(services.settings.log_format, services.settings.log_level)
    if not once:
        long_job_worker = EmbeddedQueue(open_long_queue(services, folder).huey)
        try:
            serve_queue(open_queue(services, folder, app.extensions[METRICS]))
        finally:
            server_stops.set()
            long_job_worker.stop()
        return
    failed_jobs = [
        name
        for name, job in PERIODIC_JOBS.items()
        if not run_job(name, job, services, folder, None)
    ]
    services.engine.dispose()
    if failed_jobs:
        raise WebappError(
            f"{', '.join(failed_jobs)} failed", where=str(instance), remedy="The log above says why"
        )
    click.echo(f"Done: {', '.join(PERIODIC_JOBS)}.")
