"""Without what Linux has and Windows lacks: authoring, static studies, a classroom's server."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import httpx
import pytest

from tests.patience import PATIENCE_S

# What Windows lacks, and its own locks in the place of the others. The stand-in's locks are files,
# made by whoever is first, as nobody else can then make them.
_WITHOUT = """
import asyncio, os, subprocess, sys, types
for name in ("fcntl", "resource", "pwd", "gunicorn"):
    sys.modules[name] = None
real = os.open
held = {}
def locking(descriptor, mode, _bytes):
    place = os.readlink(f"/proc/self/fd/{descriptor}") + ".held"
    if mode:
        os.close(real(place, os.O_CREAT | os.O_EXCL))
    else:
        os.unlink(place)
for name in ("geteuid", "getuid", "fork", "O_CLOEXEC"):
    delattr(os, name)
import experiment.machine
experiment.machine.msvcrt = types.SimpleNamespace(locking=locking, LK_NBLCK=1, LK_UNLCK=0)
"""
_RUN = "import parallax\nparallax.main()\n"


# Tells the port that the server took.
_TELLING = """
from webapp.server import process
listen = process._listen
def told(*where):
    listening = listen(*where)
    print(listening.getsockname()[1], flush=True)
    return listening
process._listen = told
"""


def without(tmp_path: Path, program: str = _RUN) -> str:
    """Return a file that runs a program where those are missing."""
    file = tmp_path / "without.py"
    file.write_text(textwrap.dedent(_WITHOUT) + program, encoding="utf-8")
    return str(file)


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PARALLAX_INSTANCE": str(tmp_path / "instance")}
    command = [sys.executable, without(tmp_path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_a_static_study_is_written_and_its_sessions_are_asked_for(tmp_path):
    out = tmp_path / "site"
    done = run(
        tmp_path, "study", "static", "minimal", "--simulated", "--seed", "1", "--out", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "sessions" / "1.json").read_text())["trials"]
    refused = run(tmp_path, "import", "sessions", str(out))
    assert refused.returncode == 2
    assert "none of the files holds a session" in refused.stderr


@pytest.mark.parametrize("command", [["study", "check", "minimal"], ["runs"], ["settings"]])
def test_authoring_and_looking_need_none_of_it(tmp_path, command):
    done = run(tmp_path, *command)
    assert done.returncode == 0, done.stderr


def test_a_classroom_is_served_without_gunicorn(tmp_path):
    environment = os.environ | {"PARALLAX_INSTANCE": str(tmp_path / "instance")}
    command = [sys.executable, without(tmp_path, _TELLING + _RUN), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            answer = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE_S)
            assert answer.status_code == 200
        finally:
            server.kill()


def test_a_server_in_the_background_is_refused_by_name_where_there_is_none(tmp_path):
    done = run(tmp_path, "serve", "--background", "--port", "0")
    assert done.returncode == 2
    assert "does not run on this system" in done.stderr
