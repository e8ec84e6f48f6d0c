"""Whatever an installation writes, its owner alone can use, and its log is of one form."""

import json
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from tests.free_ports import free_port
from webapp.server import process as server

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


def test_after_a_whole_run_others_can_use_no_file_of_the_instance(shell, instance, monkeypatch):
    monkeypatch.setenv("PARALLAX_METRICS_PORT", str(free_port()))
    monkeypatch.setenv("PARALLAX_LOG_LEVEL", "debug")
    shell("launch", "minimal", "--seed", "1", "--recruiter", "simulator")
    ref = shell("runs").splitlines()[-1].split()[0]
    shell("serve", "--background", "--port", "0")
    try:
        shell("simulate", ref)
        shell("exclude", ref)
        shell("export", ref)
        shell("db", "backup", str(instance / "backup"), "--drill")
        at_work = modes(instance)
    finally:
        server.stop(instance)
    for line in (instance / "server.log").read_text("utf-8").splitlines():
        json.loads(line)
    names = {path.name for path in instance.iterdir()}
    # It does the jobs: the test of the metrics tells its server to do none.
    assert {"parallax.sqlite3", "server.log", "jobs.sqlite3", "metrics"} <= names
    assert {"exports", "backup"} <= names
    assert at_work == {}
    assert modes(instance) == {}
