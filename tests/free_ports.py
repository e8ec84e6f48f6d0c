"""Ports for servers that are told theirs before they start."""

import random
import socket

# Below those that the system gives to outgoing connections (from 32768 on Linux): between the
# choice and the server's start, another process of the tests opens hundreds of those.
_LOWEST, _HIGHEST = 10_240, 32_767


def free_port() -> int:
    """Return a port of this machine on which nobody listens."""
    while True:
        port = random.SystemRandom().randint(_LOWEST, _HIGHEST)
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
