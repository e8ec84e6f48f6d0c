"""Whatever an installation writes, its owner alone can use; its server counts what it did."""

import json
import os
import stat
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.patience import PATIENCE_S
from tests.webapp.commands.conftest import of
from webapp.server import server_control as server

pytestmark = pytest.mark.one_database


@pytest.fixture(autouse=True)
def _usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """Return what others may do with a folder and everything in it, where that is anything."""
    found = dict[Path, int]()
    for path in (folder, *folder.rglob("*")):
        # A server at work makes and removes journals between the listing and the look.
        with suppress(FileNotFoundError):
            found[path] = stat.S_IMODE(path.lstat().st_mode)
    return {str(path): oct(mode) for path, mode in found.items() if mode & 0o077}


def test_after_a_whole_run_others_can_use_no_file_of_the_instance(
    shell, instance, metrics, monkeypatch
):
    """Its one server also shows the metrics of two processes."""
    monkeypatch.setenv("PARALLAX_LOG_LEVEL", "debug")
    shell("launch", "minimal", "--seed", "1", "--recruiter", "simulator")
    ref = shell("runs").splitlines()[-1].split()[0]
    started = server.start(instance, workers=2)
    shell("simulate", ref, "--participants", "3", "--url", started.url)
    the_metrics_are_those_of_all_processes_and_of_the_database(started, ref, metrics)
    shell("exclude", ref)
    shell("export", ref)
    shell("db", "backup", str(instance / "backup"), "--drill")
    at_work = modes(instance)
    server.stop(instance)
    for line in (instance / "server.log").read_text("utf-8").splitlines():
        json.loads(line)
    names = {path.name for path in instance.iterdir()}
    # It does the jobs: the test of a reload tells its server to do none.
    assert {"parallax.sqlite3", "server.log", "jobs.sqlite3", "metrics"} <= names
    assert {"exports", "backup"} <= names
    assert at_work == {}
    assert modes(instance) == {}


def the_metrics_are_those_of_all_processes_and_of_the_database(started, run, metrics) -> None:
    httpx.get(f"{started.url}/nowhere", trust_env=False, timeout=PATIENCE_S)
    found = metrics()
    assert of(found, "parallax_requests_total", endpoint="answers.save", status="200") == 24
    assert of(found, "parallax_requests_total", endpoint="none", status="404") == 1
    assert of(found, "parallax_request_seconds_count", endpoint="answers.save") == 24
    assert of(found, "parallax_responses_stored") == 24
    assert of(found, "parallax_participants", run=run, state="finished") == 3
    assert of(found, "parallax_places_free", run=run) == 5
    assert of(found, "parallax_database_up") == 1
    assert of(metrics(), "parallax_request_seconds_count", endpoint="answers.save") == 24
