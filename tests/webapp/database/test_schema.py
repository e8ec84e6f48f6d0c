"""The schema: what the migrations make is what the models say, on both databases."""

import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Engine, MetaData, Table, insert, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from experiment.studies.load import load_study
from webapp.core.keys import make_keys
from webapp.core.sealing import Sealer
from webapp.database import schema
from webapp.database.engine import make_engine, make_sessions, open_database
from webapp.database.models import Assignment, Base, LinkVisit, Participant, Payment
from webapp.database.models.identity import SealedText, sealer_of, unlock
from webapp.database.schema import SchemaError, alone, migrate, revisions, stored_revision, upgrade
from webapp.runs.runs import named_run, study_as_launched

pytestmark = pytest.mark.empty_database
FIRST = "0001"
BEFORE_MIGRATIONS = Path(__file__).with_name("before_migrations.sql")
SEALED = re.compile(r"\d+\.[A-Za-z0-9+/=]{38,}")
TEXTS = {
    (table.name, column.name)
    for table in Base.metadata.sorted_tables
    for column in table.columns
    if isinstance(column.type, SealedText)
}
AT = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def url(database_url, tmp_path) -> str:
    return database_url or f"sqlite:///{tmp_path}/empty.sqlite3"


@pytest.fixture
def engine(url, tmp_path) -> Iterator[Engine]:
    engine = make_engine(url)
    unlock(engine, Sealer(make_keys(tmp_path)))
    yield engine
    engine.dispose()


def bring(engine: Engine, to: str) -> None:
    with alone(engine) as connection:
        migrate(connection, to)


def bring_before_migrations(engine: Engine) -> None:
    """Make the database that the version before the first migration made."""
    if engine.dialect.name == "sqlite":
        with closing(sqlite3.connect(str(engine.url.database))) as connection:
            connection.executescript(BEFORE_MIGRATIONS.read_text())
        return
    bring(engine, FIRST)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))


def tables(engine: Engine, before: Iterable[Table] = ()) -> list[Table]:
    """Return every table; of those of the schema before, only what has changed is looked at."""
    found, known = MetaData(), list(before)
    now = inspect(engine).get_multi_columns() if known else {}
    columns = {
        name: [(each["name"], str(each["type"]), each["nullable"]) for each in of_table]
        for (_, name), of_table in now.items()
    }
    for table in known:
        if columns.get(table.name) == [(c.name, str(c.type), c.nullable) for c in table.columns]:
            table.to_metadata(found)
    found.reflect(engine)
    return [table for table in found.sorted_tables if table.name != "alembic_version"]


def value(column: Column, number: int) -> object:
    if column.primary_key or column.foreign_keys:
        return number
    example = {
        str: f"{column.name} {number}", int: number, bool: True, float: 0.5 + number,
        bytes: b"\0\xff", datetime: AT, object: {"wort": "größer"},
    }  # fmt: skip
    return example[_python_type(column)]


def _python_type(column: Column) -> type:
    # SQLite's JSON says it holds dicts, PostgreSQL's objects.
    found = column.type.python_type
    return object if found is dict else found


def fill(engine: Engine, found: list[Table] | None = None) -> list[Table]:
    """Put two rows into every table that has none, and return the tables."""
    found = tables(engine) if found is None else found
    with engine.begin() as connection:
        for table in found:
            if connection.execute(select(table)).first() is None:
                rows = [{c.name: value(c, number) for c in table.columns} for number in (1, 2)]
                connection.execute(insert(table), rows)
    return found


def content(
    engine: Engine, found: Iterable[Table] | None = None
) -> dict[tuple[str, str], list[object]]:
    """Every column's values, in the order of the rows."""
    values = {}
    with engine.connect() as connection:
        for table in tables(engine) if found is None else found:
            names = table.columns.keys()
            # Thousands of times, so it is said in the databases' own words.
            given = ", ".join(f'"{name}"' for name in names)
            asked = f'SELECT {given} FROM "{table.name}" ORDER BY id'
            rows = connection.exec_driver_sql(asked).all()
            values |= {(table.name, c): [row[n] for row in rows] for n, c in enumerate(names)}
    return values


def opened(
    engine: Engine, found: Iterable[Table] | None = None
) -> dict[tuple[str, str], list[object]]:
    """The same, with the texts opened that are sealed where they stand."""

    def open_(sealed: object) -> object:
        return sealer_of(engine.dialect).open(sealed) if SEALED.fullmatch(str(sealed)) else sealed

    return {
        name: [open_(each) for each in values] if name in TEXTS else values
        for name, values in content(engine, found).items()
    }


def differences(engine: Engine) -> list[object]:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return compare_metadata(context, Base.metadata)


def test_every_migration_keeps_the_data_upwards_and_downwards(engine):
    path = [*revisions(), *revisions()[-2::-1]]
    at, shapes = path[0], dict[str, list[Table]]()
    bring(engine, at)
    shapes[at] = tables(engine)
    held = opened(engine, shapes[at])
    for to in path[1:]:
        empty = [table for table in shapes[at] if not held[table.name, "id"]]
        before = held | opened(engine, fill(engine, empty))
        bring(engine, to)
        # Downwards a schema has the columns that it had upwards, or these cannot be read.
        shapes[to] = shapes.get(to) or tables(engine, shapes[at])
        at, held = to, opened(engine, shapes[to])
        assert {name: held[name] for name in before.keys() & held.keys()} == {
            name: before[name] for name in before.keys() & held.keys()
        }
        assert stored_revision(engine) == to
    bring(engine, "base")
    assert tables(engine) == []


def test_an_upgrade_seals_what_platforms_call_people(engine):
    for before in (FIRST, "0015"):
        bring(engine, before)
        fill(engine)
    upgrade(engine)
    stored = content(engine)
    assert not re.search(r"worker_id [12]|assignment [12]", str(stored))
    assert TEXTS and all(SEALED.fullmatch(str(each)) for name in TEXTS for each in stored[name])
    with make_sessions(engine)() as session:
        people = session.scalars(select(Participant).order_by(Participant.id)).all()
        assert [each.platform_id for each in people] == ["platform_id 1", "platform_id 2"]
        payment = session.scalars(select(Payment).where(Payment.worker_id == "worker_id 2")).one()
        assert payment.assignment == "assignment 2"
        visit = session.get_one(LinkVisit, 1)
        assert visit.parameters == {"wort": "größer"}
        assert session.get_one(Assignment, 1).receipt == "receipt 1"


def test_the_migrated_schema_is_what_the_models_say(engine):
    bring(engine, revisions()[-1])
    assert differences(engine) == []


def test_an_empty_database_gets_the_same_schema_at_once(engine, url):
    open_database(url).dispose()
    assert stored_revision(engine) == revisions()[-1]
    assert differences(engine) == []
    bring(engine, "base")
    assert tables(engine) == []


def test_servers_that_start_at_once_make_one_schema(url, engine):
    with ThreadPoolExecutor(8) as pool:
        for opened in pool.map(open_database, [url] * 8):
            opened.dispose()
    assert stored_revision(engine) == revisions()[-1]


def test_an_old_schema_is_refused_with_the_remedy_and_upgraded_on_request(url, engine):
    bring(engine, FIRST)
    with pytest.raises(SchemaError, match=r"has the schema 0001.*run: parallax db upgrade"):
        open_database(url)
    assert upgrade(engine) == (FIRST, revisions()[-1])
    open_database(url).dispose()


def test_a_database_from_before_migrations_is_known_and_upgraded(url, engine):
    bring_before_migrations(engine)
    fill(engine)
    with pytest.raises(SchemaError, match=r"has the schema 0001.*run: parallax db upgrade"):
        open_database(url)
    assert upgrade(engine) == (FIRST, revisions()[-1])
    open_database(url).dispose()
    assert content(engine)["participant", "ref"] == ["ref 1", "ref 2"]
    assert differences(engine) == []


def test_a_database_from_before_the_first_schema_is_refused_by_name(url, engine):
    bring_before_migrations(engine)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE response DROP COLUMN was_hidden"))
    for use in (lambda: open_database(url), lambda: upgrade(engine)):
        with pytest.raises(SchemaError, match=r"cannot be upgraded: it lacks response\.was_hidden"):
            use()


def test_a_newer_schema_is_neither_used_nor_upgraded(url, engine):
    open_database(url).dispose()
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for use in (lambda: open_database(url), lambda: upgrade(engine)):
        with pytest.raises(SchemaError, match="schema 9999, which is newer than this code"):
            use()


def test_an_empty_database_is_not_upgraded(engine):
    with pytest.raises(SchemaError, match="nothing to upgrade"):
        upgrade(engine)


def test_an_upgrade_that_fails_changes_nothing(engine):
    bring(engine, FIRST)
    fill(engine)
    with engine.begin() as connection:
        # Neither database takes away a column that a view shows.
        connection.execute(text("CREATE VIEW numbers AS SELECT number FROM participant"))
    before = content(engine)
    with pytest.raises(SQLAlchemyError):
        upgrade(engine)
    assert content(engine) == before
    assert stored_revision(engine) == FIRST
    assert not inspect(engine).has_table("study_file")


def test_an_upgrade_takes_up_the_studies_whose_folders_are_there(engine, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(load_study("minimal").folder, folder)
    bring(engine, FIRST)
    fill(engine)
    with engine.begin() as connection:
        here = {"folder": str(folder), "version": "1.0"}
        as_launched = text(
            "UPDATE run SET study_folder = :folder, study_version = :version WHERE id = 1"
        )
        connection.execute(as_launched, here)
    upgrade(engine)
    shutil.rmtree(folder)
    with make_sessions(engine)() as session:
        study = study_as_launched(session, named_run(session, "ref 1"))
        assert study.name == "minimal" and study.text("consent")
        with pytest.raises(schema.WebappError, match="its folder was gone"):
            study_as_launched(session, named_run(session, "ref 2"))


def test_the_revisions_are_those_that_the_migrations_name():
    scripts = ScriptDirectory(str(Path(schema.__file__).parent / "migrations"))
    assert revisions() == [each.revision for each in scripts.walk_revisions()][::-1]
