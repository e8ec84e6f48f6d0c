"""An installation moved from its SQLite file to PostgreSQL: all of it, or nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text

from tests.earlier import unpack
from webapp.commands import move as command
from webapp.database import engine as engines
from webapp.database import move
from webapp.database.engine import make_engine
from webapp.database.exclusive_access import take_shared_lock
from webapp.database.models import Participant, Response
from webapp.database.models.installation import stamp_of
from webapp.database.move import MoveError
from webapp.database.row_counts import find_wrong_counts
from webapp.errors import WebappError
from webapp.gate import paying_copy

pytestmark = pytest.mark.one_database("sqlite")


@pytest.fixture
def url(postgres):
    with postgres.database(empty=True) as url:
        yield url


@pytest.fixture
def launched(shell, instance) -> str:
    return shell("launch", "minimal", "--seed", "3").split("Run ")[1].split()[0]


@pytest.fixture
def use_postgresql(instance, url):
    """Return a function that lets the installation's settings name the PostgreSQL database."""
    return lambda: (instance / "parallax.toml").write_text(f"database_url = {json.dumps(url)}\n")


def rows_of(engine_url: str, query) -> list[tuple]:
    engine = make_engine(engine_url)
    with engine.connect().execution_options(reading=True) as connection:
        rows = connection.execute(query).all()
    engine.dispose()
    return [tuple(row) for row in rows]


def sqlite_url(instance: Path) -> str:
    return f"sqlite:///{instance / 'parallax.sqlite3'}"


class StoppedError(Exception):
    """The move was stopped there."""


def change_a_stamp(target, table, _key) -> None:
    if table.name == "stamp":
        target.execute(text("UPDATE stamp SET value = value || '.'"))


def stop(*_: object) -> None:
    raise StoppedError


class TestInMidRun:
    """The earlier installation: people at work, one erased, a reward that is owed."""

    @pytest.fixture
    def instance(self, tmp_path):
        return unpack("sqlite", tmp_path / "instance")

    def test_everything_is_moved(self, shell, instance, url, use_postgresql):
        shell("db", "upgrade")
        people = select(Participant.ref, Participant.state, Participant.arrived_at)
        before = rows_of(sqlite_url(instance), people.order_by(Participant.id))
        n_responses = len(rows_of(sqlite_url(instance), select(Response.id)))
        output = shell("db", "move", url)
        assert "tables agree, by rows and SHA-256" in output
        assert "Erasures: 1 wishes agree with the record." in output
        assert "it agrees with its file" in output
        assert f"response            {n_responses:>12,}  " in output
        assert "still holds everybody's data" in output
        assert rows_of(url, people.order_by(Participant.id)) == before
        use_postgresql()
        assert "which is the current one" in shell("db", "status")
        assert "This copy has the right to pay" in shell("paying-copy", "show")
        engine = make_engine(url)
        with engine.begin() as connection:
            assert find_wrong_counts(connection) == {}
            last = connection.scalar(text("SELECT max(id) FROM participant"))
            following = text("SELECT nextval(pg_get_serial_sequence('participant', 'id'))")
            assert connection.scalar(following) == last + 1
            assert stamp_of(connection, "move arriving") is None
        engine.dispose()


def test_afterwards_the_sqlite_file_serves_and_pays_nobody(shell, launched, url, instance):
    shell("db", "backup", kept := str(instance / "kept"))
    shell("db", "move", url)
    for words in (
        "runs", "serve --background", f"bonus {launched} --yes", f"db backup {instance}/other",
        f"db restore {kept} --replace", "db upgrade", "db status", "db scrub",
    ):  # fmt: skip
        with pytest.raises(MoveError) as refused:
            shell(*words.split())
        assert "this installation was moved to postgresql" in str(refused.value)
        assert "and its SQLite file is not used any more" in str(refused.value)
        assert "Set database_url to the PostgreSQL database" in str(refused.value)
    # An earlier version of the program, or one that had it open, cannot write either.
    with closing(sqlite3.connect(instance / "parallax.sqlite3")) as connection:
        for statement in ("INSERT INTO stamp (name, value) VALUES ('a', 'b')", "DELETE FROM run"):
            with pytest.raises(sqlite3.IntegrityError, match="installation was moved to"):
                connection.execute(statement)


def test_a_command_that_waited_for_its_turn_to_write_says_that_all_was_moved(
    shell, launched, url, monkeypatch
):
    shell("db", "move", url)
    # It looked at the file before the file was marked.
    monkeypatch.setattr(engines, "refuse_moved", lambda _: None)
    for words in (f"close {launched}", "launch minimal --seed 4", "projects add lab"):
        with pytest.raises(MoveError, match=r"was moved to postgresql.* is not used any more"):
            shell(*words.split())
    assert launched in shell("runs")


def test_the_right_to_pay_moves_too(shell, launched, url, instance):
    shell("db", "move", url)
    card = paying_copy.read_card(instance)
    assert (card.state, card.database.split()[0]) == (paying_copy.CardState.PAYING, "postgresql")
    for engine, pays in ((make_engine(url), True), (make_engine(sqlite_url(instance)), False)):
        with engine.connect().execution_options(reading=True) as connection:
            assert paying_copy.is_paying(connection, instance) is pays
        engine.dispose()


def test_a_restored_copy_stays_one(shell, launched, url, instance, tmp_path, use_postgresql):
    shell("db", "backup", str(tmp_path / "kept"))
    shell("db", "restore", str(tmp_path / "kept"), "--replace")
    shell("db", "move", url)
    use_postgresql()
    assert "does not have the right to pay" in shell("paying-copy", "show")
    assert "has the right to pay" in shell("paying-copy", "take-over")


@pytest.mark.parametrize("where", ["copying", "proving", "marking"])
def test_until_the_file_is_marked_the_sqlite_installation_goes_on(
    shell, launched, url, instance, use_postgresql, monkeypatch, where
):
    with monkeypatch.context() as patch:
        if where == "copying":  # inside the transaction that fills the target
            patch.setattr(move, "create_triggers", stop)
        elif where == "proving":
            patch.setattr(command, "_compare_files", stop)
        else:
            patch.setattr(command, "close_source", stop)
        with pytest.raises(StoppedError):
            shell("db", "move", url)
    assert launched in shell("runs")
    assert "This copy has the right to pay" in shell("paying-copy", "show")
    if where == "copying":
        tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
        assert rows_of(url, text(tables)) == [(0,)]
    else:
        use_postgresql()
        with pytest.raises(MoveError, match=r"the move has not ended.*run again: parallax db move"):
            shell("runs")
        (instance / "parallax.toml").unlink()
    shell("close", launched)
    assert "The installation is in postgresql" in shell("db", "move", url)
    use_postgresql()
    assert "3     no    0 of 8" in shell("runs")  # closed before the second try


def test_when_the_file_is_marked_the_same_command_ends_the_move(
    shell, launched, url, instance, use_postgresql, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(command, "end_move", stop)
        with pytest.raises(StoppedError):
            shell("db", "move", url)
    with pytest.raises(MoveError, match="not used any more"):
        shell("runs")
    assert "The installation is in postgresql" in shell("db", "move", url)
    with pytest.raises(MoveError, match=r"was moved to postgresql.* already"):
        shell("db", "move", url)
    use_postgresql()
    assert launched in shell("runs")
    assert "This copy has the right to pay" in shell("paying-copy", "show")
    with pytest.raises(MoveError, match="is not on SQLite, so there is nothing to move"):
        shell("db", "move", url)


@pytest.mark.parametrize("url", ["sqlite:///other.sqlite3", "no address", "mysql://a/b"])
def test_a_target_that_is_no_postgresql_is_refused(shell, launched, url):
    with pytest.raises(MoveError, match="this is not the URL of a PostgreSQL database"):
        shell("db", "move", url)


def test_a_target_that_holds_an_installation_is_refused(shell, launched, postgres):
    with (
        postgres.database() as url,
        pytest.raises(MoveError, match="holds an installation already"),
    ):
        shell("db", "move", url)
    assert launched in shell("runs")


def test_the_unfinished_move_of_another_installation_is_not_replaced(
    shell, launched, url, instance, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(command, "close_source", stop)
        with pytest.raises(StoppedError):
            shell("db", "move", url)
    engine = make_engine(url)
    with engine.begin() as connection:
        other = text("UPDATE stamp SET value = replace(value, :here, '/other') WHERE name = :name")
        connection.execute(other, {"here": str(instance), "name": "move arriving"})
    engine.dispose()
    with pytest.raises(MoveError, match="unfinished move of another installation, from /other"):
        shell("db", "move", url)


def test_what_would_be_lost_is_refused(shell, launched, url, instance):
    with closing(sqlite3.connect(instance / "parallax.sqlite3")) as connection, connection:
        connection.execute("CREATE TABLE own_notes (id INTEGER)")
    with pytest.raises(MoveError, match="tables that Parallax does not know: own_notes"):
        shell("db", "move", url)
    with closing(sqlite3.connect(instance / "parallax.sqlite3")) as connection, connection:
        connection.execute("DROP TABLE own_notes")
        connection.execute("INSERT INTO stamp (name, value) VALUES ('odd', 'a' || char(0))")
    with pytest.raises(MoveError, match="a row of the table stamp cannot be stored in PostgreSQL"):
        shell("db", "move", url)
    assert launched in shell("runs")


def test_a_copy_that_differs_is_refused(shell, launched, url, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(move, "_continue_numbers", change_a_stamp)
        with pytest.raises(MoveError, match="the rows of stamp differ after the copy"):
            shell("db", "move", url)
    with monkeypatch.context() as patch:
        patch.setattr(command.ledger, "explain_doubt", lambda reader, _: reader.dialect.name)
        with pytest.raises(MoveError, match="the keys, the ledger or the erasures differ"):
            shell("db", "move", url)
    assert launched in shell("runs")


def test_a_server_that_uses_the_file_is_stopped_first(shell, launched, url, instance):
    engine = make_engine(sqlite_url(instance))
    server = take_shared_lock(engine)
    with pytest.raises(WebappError, match="a server is using the database"):
        shell("db", "move", url)
    server.release()
    engine.dispose()
