"""The database is replaced by nobody under a server, and under none that begins meanwhile."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from threading import Event

import httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import text

import parallax
from tests.patience import PATIENCE_S
from webapp.database import exclusive_access as module
from webapp.database.engine import DatabaseUnavailableError
from webapp.database.exclusive_access import exclusive_access, take_shared_lock
from webapp.errors import WebappError


@pytest.fixture
def engine(app):
    return app.extensions["parallax"].engine


def test_servers_hold_the_database_together_and_who_replaces_it_has_it_alone(engine):
    first, second = take_shared_lock(engine), take_shared_lock(engine)
    first.release()
    with (
        pytest.raises(WebappError, match="a server is using the database"),
        exclusive_access(engine),
    ):
        pytest.fail("a second server still uses it")
    second.release()
    with exclusive_access(engine):
        with pytest.raises(DatabaseUnavailableError, match="upgraded or restored"):
            take_shared_lock(engine)
        with pytest.raises(WebappError, match="using the database"), exclusive_access(engine):
            pytest.fail("two replace it at a time")
    take_shared_lock(engine).release()


@pytest.mark.one_database("postgresql")
def test_a_hold_that_is_given_back_while_it_is_taken_anew_keeps_no_connection(engine, monkeypatch):
    monkeypatch.setattr(module, "_CHECK_INTERVAL_S", 0.01)
    mine = take_shared_lock(engine)
    take, taken, given_back = mine._take_lock, Event(), Event()

    def slowly():
        connection = take()
        taken.set()
        assert given_back.wait(PATIENCE_S)
        mine.seen = connection
        return connection

    mine._take_lock = slowly
    mine._drop_connection()  # as where the database, restarted, has forgotten it
    assert taken.wait(PATIENCE_S)
    mine.release()
    looking = [thread for thread in threading.enumerate() if thread.name == "use"]
    given_back.set()
    for thread in looking:
        thread.join(PATIENCE_S)
    assert mine.seen.closed


@pytest.mark.one_database("postgresql")
def test_what_was_done_is_done_although_the_lock_s_connection_is_lost(engine):
    end = text(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND"
        " database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with exclusive_access(engine), engine.connect() as connection:
        assert connection.scalars(end).all() == [True]
    with exclusive_access(engine):
        pass


@pytest.mark.one_database("postgresql")
def test_a_server_in_the_foreground_is_not_replaced_under(instance, run, engine, tmp_path):
    engine.dispose()  # this process uses the database no longer
    environment = {"PARALLAX_INSTANCE": str(instance), "PARALLAX_WORKERS": "1"}
    backup, log = str(tmp_path / "backup"), tmp_path / "log"

    def shell(*words: str) -> None:
        CliRunner(env=environment).invoke(parallax.cli, ["db", *words], catch_exceptions=False)

    shell("backup", backup)
    with log.open("wb") as writing:
        serving = subprocess.Popen(
            [sys.executable, "-m", "parallax", "serve", "--port", "0"],
            env=os.environ | environment, stderr=writing,
        )  # fmt: skip
        try:
            assert httpx.get(f"{url(log, serving)}/healthz", timeout=PATIENCE_S).status_code == 200
            for words in (("restore", backup, "--replace"), ("upgrade",)):
                with pytest.raises(WebappError, match="a server is using the database"):
                    shell(*words)
        finally:
            serving.terminate()
            serving.wait(PATIENCE_S)
    shell("restore", backup, "--replace")


def url(log: Path, serving: subprocess.Popen[bytes]) -> str:
    while not (found := re.search(r"Listening at: (\S+?)[ \"]", said := log.read_text())):
        assert serving.poll() is None, said
        time.sleep(0.02)
    return found[1]
