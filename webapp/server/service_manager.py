"""Notify systemd (``Type=notify``) that the service is waiting, ready or alive.

Gunicorn reports a server as ready before any worker can respond, and systemd accepts notifications
only from the first process. Therefore, the first process keeps the notification socket, and the
others send it signals.
"""

import os
import signal
import socket
from contextlib import suppress

_SOCKET_VARIABLE = "NOTIFY_SOCKET"
# Longer than the interval between two attempts to reach the database, or systemd would report a
# failed start.
_EXTRA_TIME_US = 60_000_000
_WAITING = f"STATUS=Waiting for the database\nEXTEND_TIMEOUT_USEC={_EXTRA_TIME_US}"
_READY = "READY=1\nSTATUS=Answering"
_ALIVE = "WATCHDOG=1"
_LONGEST_ALIVE_INTERVAL_S = 10.0


def forward_signals() -> bool:
    """Make this process, the server's first, forward the signals of the others to systemd.

    Returns:
        Whether a service manager expects notifications.
    """
    address = os.environ.pop(_SOCKET_VARIABLE, "")
    if not address:
        return False
    for number, message in enumerate((_READY, _WAITING, _ALIVE), start=signal.SIGRTMIN):

        def forward(_signal_first_process: int, _frame: object, message: str = message) -> None:
            _send(address, message)

        signal.signal(number, forward)
    return True


def alive_interval_s() -> float:
    """Return how often a process reports that it is alive: four times per ``WatchdogSec=``."""
    watchdog_us = os.environ.get("WATCHDOG_USEC", "")
    if not watchdog_us.isdecimal():
        return _LONGEST_ALIVE_INTERVAL_S
    return min(_LONGEST_ALIVE_INTERVAL_S, int(watchdog_us) / 4e6)


def report_ready(first_pid: int) -> None:
    """Report that a process can serve requests; ``first`` is the id of the first process."""
    _signal_first_process(first_pid, signal.SIGRTMIN)


def report_waiting(first_pid: int) -> None:
    """Report that the start takes longer but has not failed."""
    _signal_first_process(first_pid, signal.SIGRTMIN + 1)


def report_alive(first_pid: int) -> None:
    """Report that a process is alive; the first process forwards it only if it is alive, too."""
    _signal_first_process(first_pid, signal.SIGRTMIN + 2)


def _signal_first_process(first_pid: int, number: int) -> None:
    # An orphaned process must not signal an unrelated process that got its parent's id.
    if os.getppid() == first_pid:
        os.kill(first_pid, number)


def _send(address: str, message: str) -> None:
    # Continue serving even if the service manager does not listen.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.send(message.encode())
