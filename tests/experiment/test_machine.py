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

# The same for one command after another: each start anew costs more than the command.
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
print(json.dumps(ended))
"""

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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("machine") / "site"


@pytest.fixture(scope="module")
def ended(site: Path) -> dict[str, tuple[int, str]]:
    """How each command ended, and what it said of errors."""
    commands = [
        ["study", "check", "minimal"],
        ["runs"],
        ["settings"],
        ["study", "static", "minimal", "--simulated", "--seed", "1", "--out", str(site)],
        ["import", "sessions", str(site)],
        ["serve", "--background", "--port", "0"],
    ]
    environment = os.environ | {"PARALLAX_INSTANCE": str(site.parent / "instance")}
    program = [sys.executable, without(site.parent, _EACH), json.dumps(commands)]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return {" ".join(one[:2]): tuple(end) for one, end in zip(commands, told, strict=True)}


def test_a_static_study_is_written_and_its_sessions_are_asked_for(site, ended):
    assert ended["study static"][0] == 0
    assert json.loads((site / "sessions" / "1.json").read_text())["trials"]
    code, said = ended["import sessions"]
    assert code == 2
    assert "none of the files holds a session" in said


@pytest.mark.parametrize("command", ["study check", "runs", "settings"])
def test_authoring_and_looking_need_none_of_it(ended, command):
    assert ended[command] == (0, "")


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


def test_a_server_in_the_background_is_refused_by_name_where_there_is_none(ended):
    code, said = ended["serve --background"]
    assert code == 2
    assert "does not run on this system" in said
