"""What a tree of processes uses."""

import os
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Used:
    """Of a tree of processes.

    Attributes:
        cpu_s: Its processor seconds so far.
        memory_mib: Its memory now, as proportional set size: a page that several processes share
            counts once.
    """

    cpu_s: float
    memory_mib: float


def used(*pids: int) -> Used:
    """Return what these processes and all their descendants use."""
    cpu_s, memory = 0.0, 0
    for process in _trees(pids):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            cpu_s += times.user + times.system
            memory += _proportional_set_size(process.pid)
    return Used(cpu_s, memory / 2**20)


def _proportional_set_size(pid: int) -> int:
    try:
        sizes = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    except OSError:
        return 0
    return sum(
        1024 * int(line.split()[1]) for line in sizes.splitlines() if line.startswith("Pss:")
    )


def _trees(pids: tuple[int, ...]) -> set[psutil.Process]:
    found = set[psutil.Process]()
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            found |= {process, *process.children(recursive=True)}
    return found


def own_cpu_s() -> float:
    """Return the processor seconds of this process so far."""
    times = os.times()
    return times.user + times.system


def spawn(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a server in a folder; what it prints goes to ``server.log`` there."""
    with (folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=log, stderr=log
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to stop and wait for it; its descendants are ended with it."""
    tree = _trees((process.pid,))
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(20)
    for left in tree:
        with suppress(psutil.NoSuchProcess):
            left.kill()
    process.wait()


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def wait_until_listening(port: int, within_s: float = 60.0) -> None:
    """Return once something accepts connections on the port."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
