"""A lock between threads, in turns."""

from collections import deque
from threading import Lock


class FairLock:
    """A lock between threads that goes to the thread that has waited longest.

    Who says that they are quick go before the others, but never twice in a row: after each of them,
    one of the others has a turn.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting, self._quick = deque[Lock](), deque[Lock]()
        self._taken = self._by_quick = False

    def acquire(self, timeout_s: float, *, quick: bool = False) -> bool:
        """Wait for the lock, and return whether it came in time.

        Args:
            timeout_s: How long to wait.
            quick: Whether it will be given back at once.
        """
        gate = Lock()
        gate.acquire()
        with self._lock:
            if not self._taken:
                self._taken, self._by_quick = True, quick
                return True
            (self._quick if quick else self._waiting).append(gate)
        try:
            came = gate.acquire(timeout=timeout_s)
        except BaseException:
            # Interrupted: nobody would take the lock that is handed to this gate.
            if not self._leave(gate):
                self.release()
            raise
        # It may have been handed over in the very moment that the time was over.
        return came or not self._leave(gate)

    def release(self) -> None:
        """Hand the lock over."""
        with self._lock:
            self._by_quick = bool(self._quick) and not (self._by_quick and self._waiting)
            if self._by_quick:
                self._quick.popleft().release()
            elif self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False

    def _leave(self, gate: Lock) -> bool:
        """Wait no longer, and return whether the lock had not come yet."""
        with self._lock:
            for waiting in (self._waiting, self._quick):
                if gate in waiting:
                    waiting.remove(gate)
                    return True
            return False
