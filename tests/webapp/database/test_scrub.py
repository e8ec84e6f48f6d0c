"""PostgreSQL's files are written anew, and a table that somebody keeps open is named."""

import logging
import time

import pytest
from click.testing import CliRunner
from sqlalchemy import text

import parallax

pytestmark = pytest.mark.one_database("postgresql")


def scrub(instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    return runner.invoke(parallax.cli, ["db", "scrub"], catch_exceptions=False)


def test_a_table_that_somebody_keeps_open_is_waited_for_three_seconds_and_said(
    run, sessions, instance, caplog
):
    caplog.set_level(logging.WARNING)
    with sessions() as session:
        session.execute(text("LOCK TABLE answer IN ACCESS SHARE MODE"))
        began = time.monotonic()
        done = scrub(instance)
        took_s = time.monotonic() - began
    assert took_s >= 3
    assert "Erased data may remain in the database's files" in done.stderr
    assert "Try again when it has ended: parallax db scrub" in done.stderr
    assert "rewritten" not in done.stdout
    assert [each for each in caplog.messages if "answer" in each]
    assert not [each for each in caplog.messages if "participant" in each], "only that one"
    again = scrub(instance)
    assert (again.stderr, again.exit_code) == ("", 0)
    assert "rewritten without the erased data" in again.stdout


def test_a_transaction_that_still_sees_what_was_deleted_is_named_and_the_files_not_called_clean(
    run, sessions, instance, monkeypatch
):
    monkeypatch.setattr("webapp.database.scrub._WAIT_LIMIT_S", 0.3)
    with sessions() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        session.execute(text("SET application_name = 'a long report'"))
        session.execute(text("SELECT 1"))
        with sessions.begin() as other:
            # It reads no table, so it closes none; it only began before this was deleted.
            other.execute(text("CREATE TABLE gone AS SELECT 1 AS one"))
            other.execute(text("DELETE FROM gone"))
        done = scrub(instance)
        assert "a transaction that began before still sees it: process" in done.stderr
        assert "(a long report)" in done.stderr
        assert "these tables" not in done.stderr and "rewritten" not in done.stdout
    again = scrub(instance)
    assert (again.stderr, again.exit_code) == ("", 0)


def test_whoever_began_to_read_after_the_deletion_keeps_nothing(run, sessions, instance):
    with sessions() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        session.execute(text("SELECT 1"))
        done = scrub(instance)
    assert (done.stderr, done.exit_code) == ("", 0)


def test_a_scrub_leaves_every_row_and_every_pooled_connection_as_it_was(run, sessions, instance):
    scrub(instance)
    with sessions() as session:
        assert session.scalar(text("SELECT count(*) FROM run")) == 1
        assert session.scalar(text("SHOW lock_timeout")) == "30s"
