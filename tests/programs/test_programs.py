"""A copy of the warm process is what a new interpreter would be."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.programs.start import ADDRESS, WarmPopen
from webapp.server.server_control import _GUNICORN_SETTINGS

TOLD = str(Path(__file__).with_name("told.py"))
NOTHING = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)


def told(way: type[subprocess.Popen[str]], *words: str, **how: object) -> tuple[int, str, str]:
    how = {"stdin": subprocess.PIPE, "env": {**os.environ}, **how}
    with way([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
             **how) as process:  # fmt: skip
        assert (getattr(process, "_told", None) is None) is (way is not WarmPopen)
        out, err = process.communicate("given", timeout=PATIENCE_S)
    return process.returncode, out, err


@pytest.mark.parametrize("end", ["none", "number", "text", "thread", "fork", "spawn"])
def test_a_copy_is_told_and_tells_what_an_interpreter_does(end, tmp_path, monkeypatch):
    monkeypatch.setenv("A_NAME", "ä value")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    before = os.umask(0o027)
    try:
        copy, real = (
            told(way, TOLD, end, "b c", cwd=tmp_path) for way in (WarmPopen, WarmPopen.__base__)
        )
    finally:
        os.umask(before)
    said, of_real = (json.loads(each[1].splitlines()[0]) for each in (copy, real))
    assert (said.pop("starts"), of_real.pop("starts")) == ("WarmPopen", "Popen")
    assert said == of_real
    assert copy[0::2] == real[0::2]
    assert copy[1].splitlines()[1:] == real[1].splitlines()[1:]
    assert said["folder"] == str(tmp_path) and said["mask"] == 0o027 and said["input"] == "given"


def test_a_fault_and_an_interrupt_end_as_python_ends_them():
    for end, status in (("fault", 1), ("interrupt", -signal.SIGINT)):
        copy, real = (told(way, TOLD, end) for way in (WarmPopen, WarmPopen.__base__))
        assert copy[0] == real[0] == status
        assert copy[2].splitlines()[-1] == real[2].splitlines()[-1]


def test_a_file_that_is_passed_on_has_its_number(tmp_path):
    with (tmp_path / "file").open("w") as file:
        number = file.fileno()
        done = told(WarmPopen, TOLD, "file", str(number), pass_fds=(number,))
    assert done[0] == 0, done
    assert (tmp_path / "file").read_text() == "written"


def test_what_a_session_of_its_own_starts_is_of_that_session():
    code, out, _ = told(WarmPopen, TOLD, "program", start_new_session=True)
    first, second = map(json.loads, out.splitlines())
    assert code == 0 and (first["starts"], second["starts"]) == ("WarmPopen", "Popen")
    assert first["group"] == second["group"] and first["group"][0] == first["group"][1]
    assert first["group"][0] != os.getsid(0)


@pytest.mark.parametrize("with_what", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_signal_ends_it_and_is_its_status(with_what):
    command = [sys.executable, TOLD, "wait"]
    with WarmPopen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   stderr=subprocess.DEVNULL) as process:  # fmt: skip
        assert process.stdout.readline() and process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.send_signal(with_what)
        assert process.wait(PATIENCE_S) == process.poll() == -with_what


def test_every_module_is_started_as_a_copy_and_its_own_programs_too():
    command = [sys.executable, "-m", "parallax", "--version"]
    done = told(WarmPopen, *command[1:])
    assert (done[0], done[2]) == (0, "") and done[1].startswith("parallax ")
    assert subprocess.Popen is WarmPopen
    assert json.loads(told(WarmPopen, TOLD, "none")[1])["starts"] == "WarmPopen"


def test_a_servers_first_process_has_read_as_a_copy_what_it_reads_itself(tmp_path):
    settings = tmp_path / "settings.py"
    settings.write_text(f"""
import runpy, subprocess, sys
runpy.run_path({str(_GUNICORN_SETTINGS)!r})
print(subprocess.Popen.__name__, *sys.modules)
sys.exit(3)
""")
    environment = {**os.environ, "PARALLAX_INSTANCE": str(tmp_path / "instance")}
    words = ("-m", "gunicorn", "wsgi:app", "--config", str(settings))
    copy, real = (told(way, *words, env=environment) for way in (WarmPopen, WarmPopen.__base__))
    assert copy[0] == real[0] == 3, (copy, real)
    more = {*copy[1].split()} ^ {*real[1].split()}
    # The rest is what the warm process needs itself, and no server reads.
    own = {"__mp_main__", "tests", "parallax", "lm", "marketplace"}
    assert {name.partition(".")[0] for name in more} <= own, more


def test_what_a_program_used_is_asked_for_as_of_a_child():
    process = subprocess.Popen([sys.executable, TOLD, "number"], **NOTHING)
    pid, status, used = os.wait4(process.pid, 0)
    assert (pid, os.waitstatus_to_exitcode(status)) == (process.pid, 7)
    assert used.ru_utime + used.ru_stime > 0 and used.ru_maxrss > 0
    assert process.wait() == 7


def test_a_test_can_ask_for_new_interpreters(new_interpreter):
    with subprocess.Popen([sys.executable, TOLD, "none"], **NOTHING) as process:
        assert process._told is None


@pytest.mark.parametrize(
    "how",
    [
        {"env": {"PATH": os.environ["PATH"]}},
        {"env": {**os.environ, "PYTHONHASHSEED": "1"}},
        {"env": {**os.environ, ADDRESS: "/nowhere"}},
        {"process_group": 0},
        {"preexec_fn": lambda: None},
    ],
)
def test_what_a_copy_cannot_be_is_a_new_interpreter(how):
    with WarmPopen([sys.executable, TOLD, "none"], **NOTHING, **how) as process:
        assert process._told is None
    assert process.returncode == 0


def test_a_program_that_cannot_be_started_is_told_as_ever(tmp_path):
    with pytest.raises(FileNotFoundError):
        subprocess.run([sys.executable, TOLD], cwd=tmp_path / "nowhere")
