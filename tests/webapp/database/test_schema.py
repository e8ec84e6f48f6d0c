"""The schema: the models', the baseline's and that of 92008c70 are one, on both databases."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from tests.earlier import EARLIER, unpack
from webapp.core.keys import make_keys
from webapp.core.sealing import Sealer
from webapp.database import schema
from webapp.database.engine import make_engine, open_database
from webapp.database.models import Base
from webapp.database.models.identity import unlock
from webapp.database.schema import SchemaError, revisions, stored_revision, upgrade

pytestmark = pytest.mark.empty_database
# What both databases keep of their schema, each row as the database itself writes it.
CATALOGUES = {
    "sqlite": ["SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"],
    "postgresql": [
        "SELECT table_name, column_name, data_type, is_nullable, column_default"
        " FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'public'::regnamespace",
        "SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger"
        " WHERE NOT tgisinternal",
        "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
        "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
    ],
}
NEXT_REVISION = '''"""A column more."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0037", "0036"


def upgrade() -> None:
    with op.batch_alter_table("participant") as batch:
        batch.add_column(sa.Column("shoe_size", sa.Integer()))
'''


@pytest.fixture
def url(database_url, tmp_path) -> str:
    return database_url or f"sqlite:///{tmp_path}/empty.sqlite3"


@pytest.fixture
def engine(url, tmp_path) -> Iterator[Engine]:
    engine = make_engine(url)
    unlock(engine, Sealer(make_keys(tmp_path)))
    yield engine
    engine.dispose()


@pytest.fixture
def earlier(url, tmp_path, request) -> None:
    """Put the database that 92008c70 made and filled in the place of the empty one."""
    if url.startswith("sqlite"):
        shutil.copyfile(
            unpack("sqlite", tmp_path / "files") / "parallax.sqlite3", tmp_path / "empty.sqlite3"
        )
        return
    archive = unpack("postgresql", tmp_path / "files") / "backups" / "after_the_erasure"
    program = request.getfixturevalue("postgres").programs / "pg_restore"
    to = f"--dbname={url.replace('+psycopg', '')}"
    subprocess.run([program, "--no-owner", to, archive], check=True)


@pytest.fixture
def next_revision(tmp_path, monkeypatch) -> str:
    """A revision after the present one, which adds a column."""
    folder = shutil.copytree(schema._MIGRATIONS_FOLDER, tmp_path / "migrations")
    (folder / "versions" / "0037_shoe_size.py").write_text(NEXT_REVISION)
    monkeypatch.setattr(schema, "_MIGRATIONS_FOLDER", folder)
    monkeypatch.setattr(schema, "revisions", lambda: [*revisions(), "0037"])
    return "0037"


def written(engine: Engine) -> list[tuple[object, ...]]:
    """Everything that the database's catalogues say of its schema, in order."""
    with engine.connect() as connection:
        return sorted(
            tuple(map(str, row))
            for catalogue in CATALOGUES[engine.dialect.name]
            for row in connection.exec_driver_sql(catalogue)
        )


def differences(engine: Engine) -> list[object]:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return compare_metadata(context, Base.metadata)


def number_of_answers(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.scalar(text("SELECT count(*) FROM response"))


def set_revision(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))


def test_an_empty_database_gets_the_schema_that_the_models_say(engine, url):
    open_database(url).dispose()
    assert stored_revision(engine) == revisions()[-1]
    assert differences(engine) == []


def test_an_earlier_database_has_the_same_schema_triggers_and_views_once_it_is_upgraded(
    earlier, engine, tmp_path, request
):
    upgrade(engine)
    assert differences(engine) == []
    if engine.dialect.name == "sqlite":
        fresh = open_database(f"sqlite:///{tmp_path}/fresh.sqlite3")
        assert written(engine) == written(fresh)
        fresh.dispose()
        return
    with request.getfixturevalue("postgres").database(empty=True) as other:
        fresh = open_database(other)
        assert written(engine) == written(fresh)
        fresh.dispose()


def test_servers_that_start_at_once_make_one_schema(url, engine):
    with ThreadPoolExecutor(8) as pool:
        for opened in pool.map(open_database, [url] * 8):
            opened.dispose()
    assert stored_revision(engine) == revisions()[-1]


def test_a_revision_that_follows_is_asked_for_and_keeps_every_row(
    earlier, url, engine, next_revision
):
    before = number_of_answers(engine)
    with pytest.raises(SchemaError, match=r"has the schema 0035.*run: parallax db upgrade"):
        open_database(url)
    assert upgrade(engine) == ("0035", next_revision)
    assert stored_revision(engine) == next_revision
    assert number_of_answers(engine) == before == 19
    assert "shoe_size" in {each["name"] for each in inspect(engine).get_columns("participant")}


def test_an_upgrade_that_fails_changes_nothing(earlier, engine, next_revision):
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE participant ADD COLUMN shoe_size VARCHAR"))
    before = written(engine)
    with pytest.raises(SQLAlchemyError, match="shoe_size"):
        upgrade(engine)
    assert written(engine) == before
    assert stored_revision(engine) == "0035"


@pytest.mark.parametrize("revision", ["0034", "0001"])
def test_a_schema_from_before_the_baseline_is_refused_with_the_commit_that_upgrades_it(
    earlier, url, engine, revision
):
    set_revision(engine, revision)
    before = written(engine), number_of_answers(engine)
    for use in (lambda: open_database(url), lambda: upgrade(engine)):
        with pytest.raises(
            SchemaError,
            match=rf"schema {revision}.* none before 0035.* commit 92008c70 .*parallax db upgrade",
        ):
            use()
    assert (written(engine), number_of_answers(engine)) == before
    assert stored_revision(engine) == revision


def test_a_database_without_a_revision_is_refused_like_the_first(earlier, url, engine):
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
    with pytest.raises(SchemaError, match=r"has the schema 0001.*commit 92008c70"):
        open_database(url)
    assert not inspect(engine).has_table("alembic_version")


@pytest.mark.one_database
def test_a_database_that_an_early_version_made_is_refused_as_it_is(tmp_path, url, engine):
    file = tmp_path / "empty.sqlite3"
    with closing(sqlite3.connect(file)) as database:
        database.executescript((EARLIER / "parallax.sql").read_text("utf-8"))
    before = written(engine)
    for use in (lambda: open_database(url), lambda: upgrade(engine)):
        with pytest.raises(SchemaError, match=r"has the schema 0004.*commit 92008c70"):
            use()
    assert written(engine) == before


def test_a_newer_schema_is_neither_used_nor_upgraded(url, engine):
    open_database(url).dispose()
    set_revision(engine, "9999")
    for use in (lambda: open_database(url), lambda: upgrade(engine)):
        with pytest.raises(SchemaError, match="schema 9999, which is newer than this code"):
            use()


def test_an_empty_database_is_not_upgraded(engine):
    with pytest.raises(SchemaError, match="nothing to upgrade"):
        upgrade(engine)


def test_the_revisions_are_those_that_the_migrations_name():
    scripts = ScriptDirectory(str(Path(schema.__file__).parent / "migrations"))
    assert revisions() == [each.revision for each in scripts.walk_revisions()][::-1]
