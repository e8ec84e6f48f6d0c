"""Workers end with whoever started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lm.sharding import worker_pool
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
# A parent whose two workers sleep in a task that would take an hour.
PARENT = """
import sys, time
from lm.sharding import worker_pool
if __name__ == "__main__":
    with worker_pool(2, print, 1) as pool:
        running = [pool.submit(time.sleep, 3600) for _ in range(2)]
        while not all(one.running() for one in running):
            time.sleep(0.05)
        print("both run", flush=True)
        running[0].result()
"""


def wait_for(condition) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_killed_parent_leaves_no_worker_behind(tmp_path: Path, how: signal.Signals):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen(
        [sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert parent.stdout is not None
    while "both run" not in (said := parent.stdout.readline()):
        assert said, "the parent ended before its workers ran"
    started = psutil.Process(parent.pid).children(recursive=True)
    assert len(started) >= 2
    parent.send_signal(how)
    parent.wait(PATIENCE_S)
    assert wait_for(lambda: not any(is_alive(child) for child in started))
    parent.stdout.close()


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        # It ended between the two questions.
        return False


def test_an_error_in_the_block_ends_the_workers():
    with pytest.raises(ZeroDivisionError), worker_pool(1, print, 1) as pool:
        running = pool.submit(time.sleep, 3600)
        assert wait_for(running.running)
        children = psutil.Process().children()
        raise ZeroDivisionError
    assert wait_for(lambda: not any(is_alive(child) for child in children if is_worker(child)))


def is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def test_what_workers_return_comes_back():
    with worker_pool(2, print, 1) as pool:
        assert list(pool.map(abs, [-1, 2, -3])) == [1, 2, 3]
