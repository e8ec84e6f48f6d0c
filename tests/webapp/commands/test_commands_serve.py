"""Starting, stopping and asking for the settings."""

import os
import signal
import subprocess
import sys
import time

import httpx
import pytest

from tests.patience import PATIENCE_S
from webapp.commands.doctor import CHECKS
from webapp.errors import WebappError
from webapp.server import server_control as server

pytestmark = pytest.mark.one_database


def test_an_instance_has_one_background_server_which_answers_until_it_is_stopped(shell, instance):
    """And which is known to be gone where something killed it; its database is left alone."""
    started_here = "The server answers at http://127.0.0.1:"
    assert started_here in shell("serve", "--background", "--port", "0")
    first = server.find_running_server(instance)
    with pytest.raises(WebappError, match="a server is already running in the background"):
        shell("serve", "--background", "--port", "0")
    assert server.find_running_server(instance) == first
    os.killpg(os.getpgid(first.pid), signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_S
    while server.find_running_server(instance) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (instance / "server.json").exists()
    with pytest.raises(WebappError, match="no server is running in the background"):
        shell("stop")
    assert not (instance / "server.json").exists()
    assert started_here in shell("serve", "--background", "--port", "0")
    started = server.find_running_server(instance)
    assert httpx.get(f"{started.url}/healthz", timeout=PATIENCE_S).json() == {"status": "ok"}
    for command in (("upgrade",), ("restore", "backup")):
        with pytest.raises(WebappError, match=r"a server is using the database.*parallax stop"):
            shell("db", *command)
    assert f"{started.url} (process {started.pid}) has stopped" in shell("stop")
    assert server.find_running_server(instance) is None
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{started.url}/healthz", timeout=PATIENCE_S)


def test_stop_says_when_there_is_nothing_to_stop(shell):
    with pytest.raises(WebappError, match="no server is running in the background"):
        shell("stop")


def test_a_number_of_a_process_that_is_no_server_is_never_ended(shell, instance):
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    instance.mkdir(exist_ok=True)
    (instance / "server.lock").touch()
    (instance / "server.json").write_text(f'{{"pid": {bystander.pid}, "url": "http://x"}}')
    with pytest.raises(WebappError, match="no server is running in the background"):
        shell("stop")
    assert bystander.poll() is None
    bystander.communicate(b"\n")


@pytest.mark.parametrize("mode", [(), ("--background",)])
def test_a_port_in_use_is_one_paragraph_and_exit_code_2(instance, taken_port, mode):
    done = subprocess.run(
        [sys.executable, "-m", "parallax", "serve", "--port", str(taken_port), *mode],
        env={**os.environ, "PARALLAX_INSTANCE": str(instance)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"Error: 127.0.0.1:{taken_port}: port {taken_port} is in use.")
    assert done.stderr.count("\n") == 1
    assert not (instance / "server.json").exists()


def test_the_foreground_server_ends_when_it_is_interrupted(instance):
    process = subprocess.Popen(
        [sys.executable, "-m", "parallax", "serve", "--port", "0"],
        env={**os.environ, "PARALLAX_INSTANCE": str(instance), "PARALLAX_WORKERS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    line = next(line for line in process.stderr if "Listening at" in line)
    url = line.partition("Listening at: ")[2].split()[0]
    assert httpx.get(f"{url}/healthz", timeout=PATIENCE_S).status_code == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0


def test_an_address_of_another_machine_is_refused(shell):
    with pytest.raises(WebappError, match="nothing can listen there"):
        shell("serve", "--background", "--host", "192.0.2.1", "--port", "0")


def test_an_instance_folder_that_cannot_be_used_is_named(shell, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WebappError, match="the instance folder cannot be used"):
        shell("serve", "--background", "--instance", str(tmp_path / "file" / "instance"))


def test_a_database_that_cannot_be_reached_is_said_before_anything_starts(shell, instance):
    instance.mkdir(exist_ok=True)
    (instance / "parallax.toml").write_text('database_url = "sqlite:////proc/no/such.db"\n')
    with pytest.raises(WebappError, match="the database cannot be used"):
        shell("serve", "--background", "--port", "0")
    assert server.find_running_server(instance) is None


def test_settings_show_their_source_and_no_password(shell, instance, monkeypatch):
    instance.mkdir(exist_ok=True)
    (instance / "parallax.toml").write_text("port = 8123\nsession_days = 3\n")
    monkeypatch.setenv("PARALLAX_SESSION_DAYS", "5")
    monkeypatch.setenv("PARALLAX_DATABASE_URL", "postgresql://me:hunter2@db/parallax")
    lines = {line.split()[0]: line for line in shell("settings").splitlines()}
    assert lines["port"].split()[1:4] == ["8123", "8000", "parallax.toml"]
    assert lines["session_days"].split()[1:4] == ["5", "30", "environment"]
    assert lines["host"].split()[1:4] == ["127.0.0.1", "127.0.0.1", "default"]
    assert "postgresql://me:***@db/parallax" in lines["database_url"]
    assert "hunter2" not in shell("settings")


def test_the_doctor_names_every_check_and_ends_with_1_at_a_fault(instance):
    def asked(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "parallax", "doctor", "--instance", str(instance)]
        return subprocess.run([*command, *options], capture_output=True, text=True)

    sound = asked()
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert {line.split()[1] for line in sound.stdout.splitlines()} == set(CHECKS)
    (instance / "secret_key").write_text("k" * 64)
    (instance / "secret_key").chmod(0o644)
    assert asked().returncode == 1
    assert 'parallax_doctor{check="key"} 2' in asked("--metrics").stdout
