"""Notify systemd (``Type=notify``) that the service is waiting, ready or alive.

Gunicorn reports a server as ready before any worker can respond, and systemd accepts notifications
only from the first process. Therefore, the first process keeps the notification socket, and the
others send it signals.
"""

import os
import signal
import socket
from contextlib import suppress

_VARIABLE = "NOTIFY_SOCKET"
# Longer than the interval between two attempts to reach the database, or systemd would report a
# failed start.
_MORE_TIME_US = 60_000_000
_WAITING = f"STATUS=Waiting for the database\nEXTEND_TIMEOUT_USEC={_MORE_TIME_US}"
_READY = "READY=1\nSTATUS=Answering"
_ALIVE = "WATCHDOG=1"


def take_over() -> bool:
    """Make this process, the server's first, forward the signals of the others to systemd.

    Returns:
        Whether a service manager expects notifications.
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
    """Report that a process can serve requests; ``first`` is the id of the first process."""
    _signal(first, signal.SIGRTMIN)


def tell_waiting(first: int) -> None:
    """Report that the start takes longer but has not failed."""
    _signal(first, signal.SIGRTMIN + 1)


def tell_alive(first: int) -> None:
    """Report that a process is alive; the first process forwards it only if it is alive, too."""
    _signal(first, signal.SIGRTMIN + 2)


def _signal(first: int, number: int) -> None:
    # An orphaned process must not signal an unrelated process that got its parent's id.
    if os.getppid() == first:
        os.kill(first, number)


def _send(address: str, said: str) -> None:
    # Continue serving even if the service manager does not listen.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.send(said.encode())
