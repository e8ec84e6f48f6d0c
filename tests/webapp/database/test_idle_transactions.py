"""A process that hangs in the middle of a transaction keeps nobody waiting for ever."""

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from webapp import create_app
from webapp.database import pool
from webapp.database.backup.backup import _temporary_database
from webapp.database.locks import exclusive
from webapp.database.models import Run

pytestmark = pytest.mark.one_database("postgresql")
LIMIT = text("SHOW idle_in_transaction_session_timeout")


def test_a_server_s_transactions_have_a_limit(app, instance):
    engine = app.extensions["parallax"].engine
    with engine.connect() as connection:
        assert connection.scalar(LIMIT) == "2min"


def test_what_a_hanging_process_locked_is_free_again(run, instance, monkeypatch):
    monkeypatch.setattr(pool, "_IDLE_LIMIT", "500ms")
    services = create_app(instance).extensions["parallax"]
    lock = select(Run.id).with_for_update()
    with services.sessions() as hanging, services.sessions() as waiting:
        hanging.execute(lock)
        # It would fail after 30 seconds if the lock were kept.
        assert waiting.execute(lock).all()
        with pytest.raises(DBAPIError) as caught:
            hanging.execute(text("SELECT 1"))
        assert caught.value.connection_invalidated
        hanging.invalidate()
    services.engine.dispose()


def test_the_locks_of_a_long_job_and_a_long_drill_are_kept(run, instance, monkeypatch):
    monkeypatch.setattr(pool, "_IDLE_LIMIT", "500ms")
    services = create_app(instance).extensions["parallax"]
    with (
        exclusive(services.engine, instance, "example") as held,
        _temporary_database(services.engine),
    ):
        assert held
        with services.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.execute(text("SELECT pg_sleep(1.5)"))
        with exclusive(services.engine, instance, "example") as again:
            assert not again
    services.engine.dispose()
