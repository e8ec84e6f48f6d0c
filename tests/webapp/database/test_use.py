"""The database is replaced by nobody under a server, and under none that begins meanwhile."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.patience import PATIENCE_S
from webapp.database.engine import DatabaseAwayError
from webapp.database.use import alone, hold
from webapp.errors import WebappError


@pytest.fixture
def engine(app):
    return app.extensions["parallax"].engine


def test_servers_hold_the_database_together_and_who_replaces_it_has_it_alone(engine):
    first, second = hold(engine), hold(engine)
    first.release()
    with pytest.raises(WebappError, match="a server is using the database"), alone(engine):
        pytest.fail("a second server still uses it")
    second.release()
    with alone(engine):
        with pytest.raises(DatabaseAwayError, match="upgraded or restored"):
            hold(engine)
        with pytest.raises(WebappError, match="using the database"), alone(engine):
            pytest.fail("two replace it at a time")
    hold(engine).release()


def test_a_server_in_the_foreground_is_not_replaced_under(instance, run, tmp_path):
    environment = {**os.environ, "PARALLAX_INSTANCE": str(instance), "PARALLAX_WORKERS": "1"}
    command = [sys.executable, "-m", "parallax"]
    backup = str(tmp_path / "backup")

    def shell(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, "db", *words], env=environment, capture_output=True, text=True
        )

    assert shell("backup", backup).returncode == 0
    log = tmp_path / "log"
    with log.open("wb") as writing:
        serving = subprocess.Popen(
            [*command, "serve", "--port", "0"], env=environment, stderr=writing
        )
        try:
            assert httpx.get(f"{url(log, serving)}/healthz", timeout=PATIENCE_S).status_code == 200
            for words in (("restore", backup, "--replace"), ("upgrade",)):
                refused = shell(*words)
                assert refused.returncode == 2
                assert "a server is using the database" in refused.stderr
        finally:
            serving.terminate()
            serving.wait(PATIENCE_S)
    assert shell("restore", backup, "--replace").returncode == 0


def url(log: Path, serving: subprocess.Popen[bytes]) -> str:
    while "Listening at: " not in (said := log.read_text()):
        assert serving.poll() is None, said
    return said.partition("Listening at: ")[2].split()[0]
