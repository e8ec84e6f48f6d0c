"""The start-up options of a stand-in, and the description of a started one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flask import Flask


@dataclass(frozen=True, slots=True)
class Asked:
    """Start-up options of a stand-in.

    Attributes:
        folder: Folder of its state.
        url: Its address.
        balance: The play money, in minor units.
        currency: Its currency.
        keys: The accepted API keys; empty accepts any caller.
        public: Whether users of other machines can reach it.
    """

    folder: Path
    url: str
    balance: int
    currency: str
    keys: tuple[str, ...]
    public: bool


@dataclass(frozen=True, slots=True)
class Started:
    """A started stand-in.

    Attributes:
        app: The WSGI application.
        ways_in: Lines that explain how researchers and participants reach it.
        keeps_state: Whether its state is saved in its folder; otherwise it is in memory only.
        dispose: Closes its resources, such as database connections.
    """

    app: Flask
    ways_in: tuple[str, ...]
    keeps_state: bool
    dispose: Callable[[], object]
