"""What a service of ``Type=notify`` tells systemd: that it waits, answers, and is alive.

Gunicorn calls a server ready before any process of it answers, and systemd believes nobody but
the first process. So the first process keeps the way to systemd for itself, and the others send
it signals.
"""

import os
import signal
import socket
from contextlib import suppress

_VARIABLE = "NOTIFY_SOCKET"
# Longer than two tries to reach the database are apart, or systemd would call the start failed.
_MORE_TIME_US = 60_000_000
_WAITING = f"STATUS=Waiting for the database\nEXTEND_TIMEOUT_USEC={_MORE_TIME_US}"
_READY = "READY=1\nSTATUS=Answering"
_ALIVE = "WATCHDOG=1"


def take_over() -> bool:
    """Let this process, the server's first, pass on what the others signal.

    Returns:
        Whether a service manager wants to hear it.
    """
    address = os.environ.pop(_VARIABLE, "")
    if not address:
        return False
    for number, said in enumerate((_READY, _WAITING, _ALIVE), start=signal.SIGRTMIN):

        def pass_on(_signal: int, _frame: object, said: str = said) -> None:
            _send(address, said)

        signal.signal(number, pass_on)
    return True


def tell_ready(first: int) -> None:
    """Say that a process answers; ``first`` is the number of the server's first process."""
    _signal(first, signal.SIGRTMIN)


def tell_waiting(first: int) -> None:
    """Say that the start takes longer and has not failed."""
    _signal(first, signal.SIGRTMIN + 1)


def tell_alive(first: int) -> None:
    """Say that a process answers still; the first process passes it on only if it lives, too."""
    _signal(first, signal.SIGRTMIN + 2)


def _signal(first: int, number: int) -> None:
    # An orphan must not signal another process that has its parent's number by now.
    if os.getppid() == first:
        os.kill(first, number)


def _send(address: str, said: str) -> None:
    # A service manager that does not listen is no reason to stop serving.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.send(said.encode())
