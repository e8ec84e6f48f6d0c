"""Without what Linux has and Windows lacks: authoring, static studies, a classroom's server."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

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

# One command after another, and then a server: each start anew costs more than the command.
_EACH = """
import contextlib, io, json, sys
import parallax
ended = []
for sys.argv[1:] in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            parallax.main()
        except SystemExit as end:
            ended.append([end.code, said.getvalue()])
print(json.dumps(ended), flush=True)
"""

# Tells the port that the server took.
_SERVE = """
from webapp.server import server_control
listen = server_control._open_socket
def told(*where):
    listening = listen(*where)
    print(listening.getsockname()[1], flush=True)
    return listening
server_control._open_socket = told
sys.argv[1:] = ["serve", "--port", "0"]
parallax.main()
"""


def without(folder: Path, program: str) -> str:
    """Return a file that runs a program where those are missing."""
    file = folder / "without.py"
    file.write_text(textwrap.dedent(_WITHOUT) + program, encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("machine") / "site"


@pytest.fixture(scope="module")
def said(site: Path) -> Iterator[TextIO]:
    """What the program says that runs the commands where those are missing, and then serves."""
    file = without(site.parent, _EACH + _SERVE)
    environment = os.environ | {"PARALLAX_INSTANCE": str(site.parent / "instance")}
    program = [sys.executable, file, json.dumps(commands(site))]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=environment) as running:
        try:
            assert running.stdout is not None
            yield running.stdout
        finally:
            running.kill()


def commands(site: Path) -> list[list[str]]:
    return [
        ["study", "check", "minimal"],
        ["settings"],
        ["study", "static", "minimal", "--simulated", "--seed", "1", "--out", str(site)],
        ["runs"],
        ["import", "sessions", str(site)],
        ["serve", "--background", "--port", "0"],
    ]


@pytest.fixture(scope="module")
def ended(site: Path, said: TextIO) -> dict[str, tuple[int, str]]:
    """How each command ended, and what it said of errors."""
    told = json.loads(said.readline())
    return {" ".join(one[:2]): tuple(end) for one, end in zip(commands(site), told, strict=True)}


def test_a_static_study_is_written_and_its_sessions_are_asked_for(site, ended):
    assert ended["study static"][0] == 0
    assert json.loads((site / "sessions" / "1.json").read_text())["trials"]
    code, said = ended["import sessions"]
    assert code == 2
    assert "none of the files holds a session" in said


@pytest.mark.parametrize("command", ["study check", "runs", "settings"])
def test_authoring_and_looking_need_none_of_it(ended, command):
    assert ended[command] == (0, "")


@pytest.mark.usefixtures("ended")
def test_a_classroom_is_served_without_gunicorn(said):
    port = int(said.readline())
    answer = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE_S)
    assert answer.status_code == 200


def test_a_server_in_the_background_is_refused_by_name_where_there_is_none(ended):
    code, said = ended["serve --background"]
    assert code == 2
    assert "does not run on this system" in said
