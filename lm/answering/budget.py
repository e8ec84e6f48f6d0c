"""The costs of server calls: every attempt's highest possible cost is reserved beforehand."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import TypeGuard

from lm.answering.messages import count_tokens_at_most
from lm.answering.spec import Terms
from lm.errors import LmError

_TABLES = (
    "CREATE TABLE IF NOT EXISTS spent (id INTEGER PRIMARY KEY, cost REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS take (name TEXT NOT NULL)",
)
_MILLION = 1_000_000
# Another command's transaction only takes milliseconds.
_BUSY_TIMEOUT_S = 30


class Budget:
    """The ledger of one run's calls, with a cap on their total cost.

    Before an attempt, the ledger contains its highest possible cost; afterwards, the cost in the
    reply. An attempt that was interrupted, or whose reply has no cost, keeps its highest possible
    cost. Commands that use the same file share the cap.

    Args:
        terms: The prices and the cap.
        ledger: The file that stores the costs; it is created at the first call that can cost
            money. Without a file, costs are kept in memory.

    Raises:
        LmError: A price is unknown or no valid amount, or the costs have no bound.
    """

    def __init__(self, terms: Terms, ledger: Path | None = None) -> None:
        if terms.price_in is None or terms.price_out is None:
            raise LmError(
                "the price of the server's tokens is unknown, so its calls could cost any amount. "
                "Give --price-in and --price-out per million tokens, and --cap; 0 for a server of "
                "your own."
            )
        amounts = {"price-in": terms.price_in, "price-out": terms.price_out, "cap": terms.cap or 0}
        for name, amount in amounts.items():
            if not isfinite(amount) or amount < 0:
                raise LmError(f"--{name} {amount:g} is not an amount of money. Give 0 or more.")
        if terms.cap is None and (terms.price_in or terms.price_out):
            raise LmError("calls cost money, but there is no cap on their total. Give a --cap.")
        self._price_in, self._price_out, self.cap = terms.price_in, terms.price_out, terms.cap
        self._ledger, self._lock = ledger, Lock()
        self._connection: sqlite3.Connection | None = None
        self._excess = 0.0

    def worst_cost(self, prompt: str, most_tokens: int) -> float:
        """Return the highest cost of an attempt: one token per byte, and the longest answer."""
        return self._cost(count_tokens_at_most(prompt) + 1, most_tokens)

    def reserve(self, worst: float) -> int:
        """Reserve the highest possible cost of an attempt, and return the reservation's number.

        Raises:
            LmError: The cost exceeds the rest of the cap; nothing is reserved.
        """
        if not worst:
            return 0
        worst += self._excess
        with self._transaction() as connection:
            spent = _sum_costs(connection)
            if self.cap is not None and spent + worst > self.cap:
                raise LmError(
                    f"the cap of {self.cap:g} is reached: {spent:.6g} are spent or set aside, "
                    f"and the next call can cost {worst:.6g}. The answers so far are kept. Run "
                    "the same command with a higher --cap to go on."
                )
            cursor = connection.execute("INSERT INTO spent (cost) VALUES (?)", (worst,))
            return int(cursor.lastrowid or 0)

    def settle(self, reservation: int, usage: object) -> None:
        """Replace a reservation by the cost of the tokens that a reply reports, if it reports any.

        A server may report more than the highest expected cost, for example for a system prompt.
        Later reservations are increased by the same amount.
        """
        tokens = _read_token_counts(usage)
        if not reservation or tokens is None:
            return
        cost = self._cost(*tokens)
        with self._transaction() as connection:
            [(reserved,)] = connection.execute("SELECT cost FROM spent WHERE id = ?", [reservation])
            connection.execute("UPDATE spent SET cost = ? WHERE id = ?", (cost, reservation))
            self._excess += max(0.0, cost - reserved)

    def release(self, reservation: int) -> None:
        """Remove a reservation whose attempt cannot have been billed."""
        self.settle(reservation, {"prompt_tokens": 0, "completion_tokens": 0})

    @property
    def spent(self) -> float:
        """The sum of all costs and reservations."""
        if not (self._connection or (self._ledger and self._ledger.exists())):
            return 0.0
        with self._transaction() as connection:
            return _sum_costs(connection)

    def take(self, name: str) -> str:
        """Return the run's stored name; store ``name`` first if there is none."""
        with self._transaction() as connection:
            row = connection.execute("SELECT name FROM take").fetchone()
            if not row:
                connection.execute("INSERT INTO take VALUES (?)", (name,))
        return str(row[0]) if row else name

    def forget_take(self) -> None:
        """Delete the run's stored name, so that it gets a new one when it is resumed."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM take")

    def _cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self._price_in + tokens_out * self._price_out) / _MILLION

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Lock the ledger against other threads and commands; commit unless the block fails.

        Raises:
            LmError: The ledger cannot be used.
        """
        with self._lock:
            try:
                self._connection = connection = self._connection or self._connect()
                # The sum and the row that depends on it are under the same lock.
                connection.execute("BEGIN IMMEDIATE")
                with connection:
                    yield connection
            except (sqlite3.Error, OSError) as error:
                raise LmError(
                    f"{self._ledger}: the costs of calls cannot be kept there ({error}). Name "
                    "another folder, and make sure that its disk has space."
                ) from error

    def _connect(self) -> sqlite3.Connection:
        if self._ledger:
            self._ledger.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._ledger or ":memory:",
            timeout=_BUSY_TIMEOUT_S,
            check_same_thread=False,
            isolation_level=None,
        )
        for table in _TABLES:
            connection.execute(table)
        return connection


def _sum_costs(connection: sqlite3.Connection) -> float:
    [(spent,)] = connection.execute("SELECT coalesce(sum(cost), 0) FROM spent")
    return float(spent)


def _read_token_counts(usage: object) -> tuple[int, int] | None:
    """Return the tokens of prompt and answer that a reply reports; None if it reports none.

    Some servers do not include thinking in the answer's tokens, only in the total.
    """
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    total = usage.get("total_tokens")
    if _is_count(prompt) and _is_count(completion):
        return prompt, max(completion, total - prompt) if _is_count(total) else completion
    return None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
