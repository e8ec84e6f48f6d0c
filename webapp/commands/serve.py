"""``parallax serve``, ``stop``, ``reload`` and ``settings``."""

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import BaseModel

from experiment.tables.text_table import text_table
from webapp.commands.options import with_instance
from webapp.core.instance import open_instance
from webapp.core.settings import ENVIRONMENT_PREFIX, FILE_NAME, flat_name
from webapp.recruiters.settings import SECTIONS, load_settings
from webapp.server import process as server

_PASSWORD = re.compile(r"(://[^:/@]*):[^@]*@")


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
    help="How many worker processes to run.  [default: the setting workers]",
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
@with_instance
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
        server.serve(instance, host, port, workers, connections)
    started = server.start(instance, host, port, workers, connections)
    click.echo(f"The server answers at {started.url} (process {started.pid}).")
    click.echo("Stop it with: parallax stop")
    return started


@click.command()
@with_instance
def stop(instance: Path) -> None:
    """Stop the server in the background.

    It first answers what it was asked.
    """
    stopped = server.stop(instance)
    click.echo(f"The server at {stopped.url} (process {stopped.pid}) has stopped.")


@click.command()
@click.option("--pid", type=int, help="The process id of a server in the foreground.")
@with_instance
def reload(pid: int | None, instance: Path) -> None:
    """Reload the server's settings and code.

    No request is lost.
    """
    click.echo(f"The server (process {server.reload(instance, pid)}) is reloading.")


@click.command()
@with_instance
def settings(instance: Path) -> None:
    """Print every setting, its value and where it comes from.

    Each line names the default and the meaning too.
    """
    values, in_file = load_settings(instance), _names_in_file(instance)
    header = ("setting", "value", "default", "source", "meaning")
    rows = list(_rows("", values, in_file))
    for section in SECTIONS.names():
        model = SECTIONS.model(section)
        if model is not None:
            rows += _rows(section, values.of_recruiter(section, model), in_file)
    click.echo(text_table(header, rows))


def _rows(section: str, values: BaseModel, in_file: set[str]) -> Iterator[tuple[str, ...]]:
    for name, field in type(values).model_fields.items():
        flat = flat_name(section, name)
        yield (
            flat,
            _shown(getattr(values, name)),
            _shown(field.default),
            _source(flat, in_file),
            field.description or "",
        )


def _names_in_file(instance: Path) -> set[str]:
    file = instance / FILE_NAME
    given = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    sections = {key: of for key, of in given.items() if isinstance(of, dict)}
    return {*given, *(flat_name(key, name) for key, of in sections.items() for name in of)}


def _source(name: str, in_file: set[str]) -> str:
    if ENVIRONMENT_PREFIX + name.upper() in os.environ:
        return "environment"
    return FILE_NAME if name in in_file else "default"


def _shown(value: object) -> str:
    return _PASSWORD.sub(r"\1:***@", str(value)) or '""'
