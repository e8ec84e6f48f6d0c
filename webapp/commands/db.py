"""``parallax db``: the database's schema, and its backups."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy import Engine

from webapp.commands.options import with_instance
from webapp.core.instance import open_instance
from webapp.database.backup.backup import back_up, restore
from webapp.database.engine import usable_database
from webapp.database.schema import schema_problem, stored_revision, upgrade
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings
from webapp.server import process as server


@click.command()
@with_instance
def status(instance: Path) -> None:
    """Say which schema the database has.

    It says too whether this version of Parallax can use it.
    """
    with _database(instance) as engine:
        revision = stored_revision(engine)
    if revision is None:
        click.echo("The database is empty; the first start makes its tables.")
    else:
        problem = schema_problem(revision)
        click.echo(problem or f"The database has the schema {revision}, as it should.")


@click.command("upgrade")
@with_instance
def upgrade_(instance: Path) -> None:
    """Bring the database to the schema of this version.

    It is changed wholly or not at all.
    """
    _refuse_while_serving(instance)
    with _database(instance) as engine:
        before, after = upgrade(engine)
    if before == after:
        click.echo(f"The database has the schema {after} already.")
    else:
        click.echo(f"The database went from the schema {before} to {after}.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@with_instance
def backup(file: Path, instance: Path) -> None:
    """Write everything the database holds to FILE.

    Participants go on answering meanwhile.
    """
    with _database(instance) as engine:
        content = back_up(engine, file)
    click.echo(f"{file} holds {content}. It was read back and is sound.")


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Lose what the database holds now.")
@with_instance
def restore_(file: Path, replace: bool, instance: Path) -> None:
    """Make the database hold what the backup FILE holds.

    It is changed wholly or not at all.
    """
    _refuse_while_serving(instance)
    with _database(instance) as engine:
        content = restore(engine, file, replace=replace)
        problem = schema_problem(content.revision)
    click.echo(f"The database holds {content} again.")
    if problem:
        click.echo(problem)


@contextmanager
def _database(instance: Path) -> Iterator[Engine]:
    with usable_database(load_settings(open_instance(instance)).database_url) as engine:
        yield engine
    engine.dispose()


def _refuse_while_serving(instance: Path) -> None:
    serving = server.running(instance)
    if serving is not None:
        raise WebappError(
            f"a server is using the database (process {serving.pid})",
            where=serving.url,
            remedy="Stop it first with: parallax stop",
        )
