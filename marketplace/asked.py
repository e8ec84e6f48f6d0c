"""What a stand-in is asked when it starts, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flask import Flask


@dataclass(frozen=True, slots=True)
class Asked:
    """How a stand-in starts.

    Attributes:
        folder: Where its state is kept.
        url: Where it answers.
        balance: The play money, minor units.
        currency: Its currency.
        keys: Who may call; empty for anybody.
        public: Whether others than this machine's users come.
    """

    folder: Path
    url: str
    balance: int
    currency: str
    keys: tuple[str, ...]
    public: bool


@dataclass(frozen=True, slots=True)
class Started:
    """A stand-in.

    Attributes:
        app: What serves it.
        ways_in: How researchers and participants reach it, a line each.
        keeps_state: Whether its state is in its folder; in memory otherwise.
        dispose: Closes what it holds.
    """

    app: Flask
    ways_in: tuple[str, ...]
    keeps_state: bool
    dispose: Callable[[], object]
