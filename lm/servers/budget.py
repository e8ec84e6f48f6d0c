"""What calls cost: the worst case is reserved before each, so that a cap holds."""

import sqlite3
from pathlib import Path
from threading import Lock

from lm.errors import LmError
from lm.servers.images import tokens_at_most
from lm.servers.spec import Terms

_TABLE = "CREATE TABLE IF NOT EXISTS spent (id INTEGER PRIMARY KEY, cost REAL NOT NULL)"
_NAMED = "CREATE TABLE IF NOT EXISTS take (name TEXT NOT NULL)"
_MILLION = 1_000_000


class Budget:
    """The costs of a take's calls: one that was interrupted counts at its worst.

    Args:
        terms: The prices and the cap.

    Raises:
        LmError: A price is unknown, or nothing bounds the calls.
    """

    def __init__(self, terms: Terms) -> None:
        if terms.price_in is None or terms.price_out is None:
            raise LmError(
                "what the server asks for tokens is unknown, so its calls could cost anything. "
                "Give --price-in and --price-out per million tokens, and --cap; 0 for a server of "
                "your own."
            )
        if terms.cap is None and (terms.price_in or terms.price_out):
            raise LmError("calls cost something, but nothing bounds them. Give a --cap.")
        self._in, self._out, self.cap = terms.price_in, terms.price_out, terms.cap
        self._lock = Lock()
        self._connection = _opened(":memory:")

    def keep_in(self, path: Path) -> None:
        """Keep the costs on disk from now on, with those that are there already.

        Raises:
            LmError: The file cannot be used.
        """
        with self._lock:
            before = self._connection
            self._connection = _opened(str(path))
            rows = before.execute("SELECT cost FROM spent").fetchall()
            with self._connection:
                self._connection.executemany("INSERT INTO spent (cost) VALUES (?)", rows)
            before.close()

    def take(self, name: str) -> str:
        """Return the take's name as it was first kept here; ``name``, if it was not yet."""
        with self._lock, self._connection:
            found = self._connection.execute("SELECT name FROM take").fetchone()
            if not found:
                self._connection.execute("INSERT INTO take VALUES (?)", (name,))
        return str(found[0]) if found else name

    def forget_take(self) -> None:
        """Let the take have another name when it goes on."""
        with self._lock, self._connection:
            self._connection.execute("DELETE FROM take")

    def worst(self, prompt: str, most_tokens: int) -> float:
        """Return what a call can cost at most."""
        n_in = tokens_at_most(prompt) + 1
        return (n_in * self._in + most_tokens * self._out) / _MILLION

    def reserve(self, worst: float) -> int:
        """Set aside what a call can cost at most, and return the reservation's number.

        Raises:
            LmError: The cap does not leave that much; nothing is set aside.
        """
        with self._lock, self._connection:
            spent = self._sum()
            if self.cap is not None and spent + worst > self.cap:
                raise LmError(
                    f"the cap of {self.cap:g} is reached: {spent:.6g} are spent or set aside, and "
                    f"the next call can cost {worst:.6g}. What was answered is kept. Run the same "
                    "command with a higher --cap to go on."
                )
            cursor = self._connection.execute("INSERT INTO spent (cost) VALUES (?)", (worst,))
            return int(cursor.lastrowid or 0)

    def settle(self, reservation: int, tokens_in: int, tokens_out: int) -> None:
        """Replace a reservation by what the call cost."""
        cost = (tokens_in * self._in + tokens_out * self._out) / _MILLION
        with self._lock, self._connection:
            self._connection.execute("UPDATE spent SET cost = ? WHERE id = ?", (cost, reservation))

    @property
    def spent(self) -> float:
        """What is spent or set aside."""
        with self._lock:
            return self._sum()

    def _sum(self) -> float:
        [(spent,)] = self._connection.execute("SELECT coalesce(sum(cost), 0) FROM spent")
        return float(spent)


def _opened(path: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
        with connection:
            connection.execute(_TABLE)
            connection.execute(_NAMED)
    except sqlite3.Error as error:
        raise LmError(
            f"{path}: the costs of calls cannot be kept there ({error}). Name another folder."
        ) from error
    return connection
