"""A service manager that follows systemd's rules, for machines on which systemd does not run.

It reads a unit's text and does what systemd.service(5) and systemd.unit(5) say of the keys in
``Rules``: when a start counts as done, what is restarted, when it is given up, how it is stopped.
It does not confine the processes (``ProtectSystem=`` and the like are left alone).
"""

import os
import signal
import socket
import struct
import subprocess
import threading
import time
from collections import deque
from configparser import RawConfigParser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LOOK_EVERY_S = 0.05
# systemd ends a process cleanly by these too.
_CLEAN_SIGNALS = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE})


@dataclass(frozen=True)
class Rules:
    """What a unit says of starting and restarting, in seconds; systemd's defaults otherwise."""

    notify: bool = False
    restart: str = "no"
    prevent: frozenset[int] = frozenset()
    restart_s: float = 0.1
    start_s: float = 90.0
    stop_s: float = 90.0
    burst: int = 5
    interval_s: float = 10.0
    watchdog_s: float = 0.0
    stop_signal: int = signal.SIGTERM


def rules_of(unit: str) -> Rules:
    """Return the rules of a unit's text, of one drop-in or of several texts in a row.

    Raises:
        ValueError: A kind of restart that is not known here.
    """
    read = RawConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(unit)

    def number(section: str, key: str, otherwise: float) -> float:
        return float(read.get(section, key, fallback=str(otherwise)).removesuffix("s"))

    restart = read.get("Service", "Restart", fallback="no")
    if restart not in ("no", "on-failure", "always"):
        raise ValueError(f"Restart={restart} is not known here")
    stop_signal = read.get("Service", "KillSignal", fallback="SIGTERM")
    return Rules(
        notify=read.get("Service", "Type", fallback="simple") == "notify",
        restart=restart,
        prevent=frozenset(
            int(code)
            for code in read.get("Service", "RestartPreventExitStatus", fallback="").split()
        ),
        restart_s=number("Service", "RestartSec", Rules.restart_s),
        start_s=number("Service", "TimeoutStartSec", Rules.start_s),
        stop_s=number("Service", "TimeoutStopSec", Rules.stop_s),
        burst=int(number("Unit", "StartLimitBurst", Rules.burst)),
        interval_s=number("Unit", "StartLimitIntervalSec", Rules.interval_s),
        watchdog_s=number("Service", "WatchdogSec", Rules.watchdog_s),
        stop_signal=signal.Signals[stop_signal],
    )


class Unit:
    """One service.

    Args:
        name: What it is called.
        rules: How it is started, restarted and stopped.
        command: What is run.
        environment: Its environment.
        folder: Where its log and its socket lie.

    Attributes:
        state: ``inactive``, ``activating``, ``active``, ``deactivating``, ``auto-restart`` or
            ``failed``; the last is what nobody but a person ends.
        why: Why it failed.
        starts: How often it was started.
        pid: The number of its first process, 0 where none runs.
    """

    def __init__(
        self, name: str, rules: Rules, command: list[str], environment: dict[str, str], folder: Path
    ) -> None:
        self.name, self.rules = name, rules
        self.state, self.why, self.starts, self.pid = "inactive", "", 0, 0
        self._command, self._log = command, folder / f"{name}.log"
        self._environment = dict(environment)
        self._recent = deque[float]()
        self._wanted, self._changed = False, threading.Event()
        self._told: socket.socket | None = None
        if rules.notify:
            address = folder / f"{name}.notify"
            self._told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
            self._told.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            self._told.bind(str(address))
            self._environment["NOTIFY_SOCKET"] = str(address)
        if rules.watchdog_s:
            self._environment["WATCHDOG_USEC"] = str(int(rules.watchdog_s * 1e6))
        self._thread = threading.Thread(target=self._look_after, name=name, daemon=True)
        self._thread.start()

    def start(self) -> None:
        """Do what ``systemctl start`` does, without waiting; a failed unit may start again."""
        self._recent.clear()
        self.state, self.why = "activating", ""
        self._wanted = True
        self._changed.set()

    def stop(self) -> None:
        """Do what ``systemctl stop`` does, and return once no process is left."""
        self._wanted = False
        self._changed.set()
        while self.pid or self.state not in ("inactive", "failed"):
            time.sleep(_LOOK_EVERY_S)

    def processes(self) -> list[int]:
        """Return the numbers of all living processes of the service, the first one's first."""
        # Read once: to the system, number 0 is the group of whoever asks, and everything's parent.
        first = self.pid
        return sorted(_living(first), key=lambda pid: pid != first) if first else []

    def kill(self) -> None:
        """Kill every process at once, as a power cut or the kernel would."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def signal_first(self, number: int) -> None:
        """Send a signal to the first process alone, where one runs."""
        if first := self.pid:
            with suppress(ProcessLookupError):
                os.kill(first, number)

    def _look_after(self) -> None:
        while True:
            self._changed.wait()
            self._changed.clear()
            while self._wanted:
                if self._too_often():
                    self._give_up("start-limit-hit")
                    break
                status, timed_out = self._run()
                if not self._wanted:
                    break
                if self._is_final(status, timed_out):
                    break
                self.state = "auto-restart"
                self._changed.wait(self.rules.restart_s)
            if self.state != "failed":
                self.state = "inactive"

    def _too_often(self) -> bool:
        now = time.monotonic()
        while self._recent and now - self._recent[0] > self.rules.interval_s:
            self._recent.popleft()
        self._recent.append(now)
        return self.rules.interval_s > 0 and len(self._recent) > self.rules.burst

    def _is_final(self, status: int, timed_out: bool) -> bool:
        """Return whether nobody starts the service again by itself."""
        if status in self.rules.prevent:
            self._give_up(f"exit status {status}")
            return True
        clean = not timed_out and (status == 0 or -status in _CLEAN_SIGNALS)
        if self.rules.restart == "always" or (self.rules.restart == "on-failure" and not clean):
            return False
        self._give_up(f"it ended with {status}, and {self.rules.restart} restarts no such thing")
        return True

    def _give_up(self, why: str) -> None:
        self.state, self.why, self._wanted = "failed", why, False

    def _run(self) -> tuple[int, bool]:
        """Run it once, and return its exit status and whether it was ended for being too late."""
        self.starts += 1
        self.state = "activating"
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                self._command, env=self._environment, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self.pid = process.pid
        began = heard = time.monotonic()
        start_until, timed_out = began + self.rules.start_s, False
        if not self.rules.notify:
            self.state = "active"
        while process.poll() is None and self._wanted and not timed_out:
            for said in self._heard():
                heard = time.monotonic()
                if said == "READY=1":
                    self.state = "active"
                name, _, value = said.partition("=")
                if name == "EXTEND_TIMEOUT_USEC":
                    start_until = max(start_until, heard + int(value) / 1e6)
            now = time.monotonic()
            late = self.state == "activating" and now > start_until
            silent = self.state == "active" and 0 < self.rules.watchdog_s < now - heard
            timed_out = late or silent
            time.sleep(_LOOK_EVERY_S)
        if process.poll() is None:
            self.state = "deactivating"
            # The watchdog's signal is SIGABRT; after it systemd waits as long as for a stop.
            self._end(process, signal.SIGABRT if timed_out else self.rules.stop_signal)
        self._end_the_rest(process.pid)
        self.pid = 0
        return process.wait(), timed_out

    def _end(self, process: subprocess.Popen[bytes], by: int) -> None:
        os.kill(process.pid, by)
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(self.rules.stop_s)
            return
        process.kill()
        process.wait()

    def _end_the_rest(self, session: int) -> None:
        # KillMode=control-group: what the first process leaves behind ends too.
        for number in (self.rules.stop_signal, signal.SIGKILL):
            until = time.monotonic() + self.rules.stop_s
            for pid in _living(session):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            while _living(session) and time.monotonic() < until:
                time.sleep(_LOOK_EVERY_S)

    def _heard(self) -> list[str]:
        """Return what the first process said; of others systemd believes nothing."""
        lines = list[str]()
        while self._told is not None:
            try:
                said, ancillary, _, _ = self._told.recvmsg(4096, socket.CMSG_SPACE(12))
            except BlockingIOError:
                break
            senders = [struct.unpack("iii", data[:12])[0] for _, _, data in ancillary]
            if self.pid in senders:
                lines += said.decode().splitlines()
        return lines


def _living(first: int) -> list[int]:
    """Return the processes of a session that have not ended, and what descends from them.

    PostgreSQL's processes make sessions of their own; those of a server that is gone end alone.
    """
    parents, found = dict[int, int](), {first}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid = int(path.parent.name)
            # The name in brackets may hold anything; after it come state, parent, group, session.
            state, parent, _, session = path.read_text().rpartition(")")[2].split()[:4]
            if state not in "ZX":
                parents[pid] = first if int(session) == first else int(parent)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found & parents.keys())
