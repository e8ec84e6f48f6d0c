"""What the commands of the database share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy import Engine

from webapp.core.instance import open_instance
from webapp.database.engine import usable_database
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings
from webapp.server import process as server


@contextmanager
def opened(instance: Path) -> Iterator[Engine]:
    """Yield the installation's database, of whatever schema."""
    with usable_database(load_settings(open_instance(instance)).database_url) as engine:
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


def tell_forgotten(gone: int) -> None:
    """Say how many of a restored database were forgotten again."""
    if gone:
        click.echo(f"{gone} who had asked to be forgotten are forgotten again.")
