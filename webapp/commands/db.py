"""``parallax db status``, ``upgrade`` and ``scrub``: the database's schema and files."""

from pathlib import Path

import click

from webapp.commands.database import opened, refuse_while_serving, scrub_and_tell, tell_erased
from webapp.commands.options import with_instance
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.database.schema import schema_problem, stored_revision, upgrade
from webapp.database.use import alone
from webapp.privacy.restored import carry_out_again


@click.command()
@with_instance
def status(instance: Path) -> None:
    """Show the database's schema version.

    It says too whether this version of Parallax can use it.
    """
    with opened(instance) as engine:
        revision = stored_revision(engine)
    if revision is None:
        click.echo("The database is empty; the first start creates its tables.")
    else:
        problem = schema_problem(revision)
        click.echo(problem or f"The database has the schema {revision}, which is the current one.")


@click.command("upgrade")
@with_instance
def upgrade_(instance: Path) -> None:
    """Upgrade the database to the schema of this version.

    It is changed wholly or not at all.
    """
    refuse_while_serving(instance)
    with opened(instance) as engine, alone(engine):
        before, after = upgrade(engine)
        gone = carry_out_again(open_instance(instance), engine, utc_now())
    tell_erased(open_instance(instance), gone)
    if before == after:
        click.echo(f"The database already has the schema {after}.")
    else:
        click.echo(f"The database was upgraded from the schema {before} to {after}.")


@click.command("scrub")
@with_instance
def scrub_(instance: Path) -> None:
    """Rewrite the database's files without what was erased.

    A server may go on, but on PostgreSQL each table is closed for as long as it is rewritten.
    PostgreSQL's write-ahead log, its archives and its replicas are not reached: docs/privacy.md.
    """
    if scrub_and_tell(open_instance(instance)):
        click.echo("The database's files were rewritten; what was erased is not in them.")
