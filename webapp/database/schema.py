"""The schema's revision: create the tables of an empty database, upgrade others on request."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, String, column, inspect, select, table

from webapp.database.locks import advisory_lock
from webapp.database.models import Base, Run
from webapp.database.row_counts import create_triggers, drop_triggers, recount
from webapp.errors import WebappError

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS_FOLDER = Path(__file__).parent / "migrations"
# Migration files are named by revision, and applied in the order of their names.
_VERSIONS_FOLDER = _MIGRATIONS_FOLDER / "versions"
# The name that commit 92008c70 gives a schema without a stored revision.
_WITHOUT_REVISION = "0001"
# The last commit that upgrades a schema from before the baseline.
UPGRADES_OLDER = "92008c70"
_REVISION_TABLE = "alembic_version"
# An arbitrary number that no other program uses as an advisory lock in the same database.
_LOCK_KEY = 0x7061_7261_6C6C_6178


class SchemaError(WebappError):
    """The database's schema is not the one that this code requires."""


@cache
def revisions() -> list[str]:
    """Return all known revisions, oldest first; this code requires the last one."""
    return sorted(file.name.partition("_")[0] for file in _VERSIONS_FOLDER.glob("[0-9]*.py"))


def revision_of(connection: Connection) -> str | None:
    """Return the revision of a database's schema; None if it contains no tables of Parallax."""
    inspector, revision = inspect(connection), None
    if inspector.has_table(_REVISION_TABLE):
        revision_query = select(column("version_num", String)).select_from(table(_REVISION_TABLE))
        revision = connection.scalars(revision_query).one_or_none()
    if revision is None and inspector.has_table(Run.__tablename__):
        return _WITHOUT_REVISION
    return revision


def stored_revision(engine: Engine) -> str | None:
    """Return the schema revision of an engine's database, as ``revision_of`` does."""
    with engine.connect().execution_options(reading=True) as connection:
        return revision_of(connection)


def create_missing_schema(engine: Engine) -> None:
    """Create every table in an empty database; leave any other database unchanged.

    Raises:
        SchemaError: The schema is older or newer than this code's.
    """
    revision = stored_revision(engine)
    if revision is None:
        with _schema_lock(engine) as connection:
            # Several servers may start at once with one empty database.
            revision = revision_of(connection) or create_tables(connection)
    if problem := schema_problem(revision):
        raise problem


def schema_problem(revision: str) -> SchemaError | None:
    """Return the error, with its remedy, for an unsuitable schema; None for a suitable one."""
    baseline, latest = revisions()[0], revisions()[-1]
    if revision == latest:
        return None
    if revision in revisions():
        return SchemaError(
            f"the database has the schema {revision}, but this version of Parallax needs {latest}",
            remedy="Back it up with: parallax db backup FILE. Then run: parallax db upgrade",
        )
    if revision < baseline:
        return SchemaError(
            f"the database has the schema {revision}, and this version upgrades none before "
            f"{baseline}",
            remedy="Back it up with: parallax db backup FILE. Then, in a checkout of commit "
            f"{UPGRADES_OLDER} of Parallax, run: parallax db upgrade. It brings the schema to "
            f"{baseline}, and this version goes on from there",
        )
    return SchemaError(
        f"the database has the schema {revision}, which is newer than this code",
        expected=f"{latest} or older",
        remedy="Use the version of Parallax that upgraded the database, or a newer one",
    )


def upgrade(engine: Engine) -> tuple[str, str]:
    """Upgrade the schema to this code's revision in one transaction.

    Returns:
        The old and the new revision.

    Raises:
        SchemaError: The database is empty, or its schema is newer than this code's or older than
            the baseline.
    """
    with _schema_lock(engine) as connection:
        revision_before = revision_of(connection)
        if revision_before is None:
            raise SchemaError(
                "the database is empty, so there is nothing to upgrade",
                remedy="The first start of the server creates its tables",
            )
        if revision_before not in revisions() and (problem := schema_problem(revision_before)):
            raise problem
        _migrate(connection)
    return revision_before, revisions()[-1]


def _migrate(connection: Connection) -> None:
    # SQLite cannot replace a table that a trigger uses, or loses its triggers.
    drop_triggers(connection)
    _import_alembic().upgrade(_alembic_config(connection), revisions()[-1])
    recount(connection)
    create_triggers(connection)


def create_tables(connection: Connection) -> str:
    """Create every table in an empty database, and return the revision."""
    # A test checks that upgrading from the baseline gives the same schema.
    Base.metadata.create_all(connection)
    create_triggers(connection)
    _import_alembic().stamp(_alembic_config(connection), revisions()[-1])
    return revisions()[-1]


def drop_tables(connection: Connection) -> None:
    """Drop every table, with the triggers."""
    drop_triggers(connection)
    Base.metadata.drop_all(connection)
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {_REVISION_TABLE}")


def _import_alembic() -> ModuleType:
    # Imported only here, because it would slow down the start of every command.
    from alembic import command

    return command


def _alembic_config(connection: Connection) -> "Config":
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_MIGRATIONS_FOLDER).replace("%", "%%"))
    return config


@contextmanager
def _schema_lock(engine: Engine) -> Iterator[Connection]:
    """Yield a connection in a transaction that alone may change the schema."""
    with engine.connect() as connection:
        if engine.dialect.name != "sqlite":
            with connection.begin():
                advisory_lock(connection, _LOCK_KEY, wait=True)
                yield connection
            return
        with _suspend_foreign_keys(connection), connection.begin():
            yield connection
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            if broken:
                raise SchemaError(f"{len(broken)} rows would refer to rows that do not exist")


@contextmanager
def _suspend_foreign_keys(connection: Connection) -> Iterator[None]:
    # SQLite replaces a changed table, and rows that refer to it must survive. The setting only
    # works outside transactions, so it is made on the driver's connection.
    driver = connection.connection.cursor()
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys=ON")
        driver.close()
