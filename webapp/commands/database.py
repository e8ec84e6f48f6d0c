"""Functions shared by the database commands."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy import Engine

from webapp.core.instance import open_instance
from webapp.core.sealing import Sealer
from webapp.database.engine import usable_database
from webapp.database.models.identity import unlock
from webapp.database.scrub import scrub
from webapp.errors import WebappError
from webapp.opening import installation_keys
from webapp.recruiters.settings import load_settings
from webapp.server import server_control as server

# Places where erased data may remain, and how to remove them.
_REMAINS = {
    "sqlite": ("log file", "Stop the server once to empty it."),
    "postgresql": ("files", "Try again when it has ended: parallax db scrub"),
}


@contextmanager
def opened(instance: Path) -> Iterator[Engine]:
    """Yield the installation's database, with any version of the schema."""
    settings = load_settings(folder := open_instance(instance))
    keys = installation_keys(folder, settings)
    with usable_database(settings.database_url) as engine:
        unlock(engine, Sealer(keys))
        yield engine
    engine.dispose()


def refuse_while_serving(instance: Path) -> None:
    """Raise an error while a server uses the database."""
    serving = server.running(instance)
    if serving is not None:
        raise WebappError(
            f"a server is using the database (process {serving.pid})",
            where=serving.url,
            remedy="Stop it first with: parallax stop",
        )


def tell_erased(instance: Path, gone: int) -> None:
    """Print for how many participants erasures were repeated after a restore; scrub the files."""
    if gone:
        click.echo(f"{gone} people who had withdrawn or had their data erased are taken out again.")
        scrub_and_tell(instance)


def scrub_and_tell(instance: Path) -> bool:
    """Scrub erased data from the database's files, and print where that was not possible.

    Returns:
        Whether it was possible everywhere.
    """
    with opened(instance) as engine:
        where, remedy = _REMAINS[engine.dialect.name]
        try:
            why = scrub(engine)
        except (OSError, sqlite3.Error) as error:
            why = str(error)
    if why:
        click.echo(f"Erased data may remain in the database's {where} ({why}). {remedy}", err=True)
    return not why
