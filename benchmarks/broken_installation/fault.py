"""Something that is wrong with an installation."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from broken_installation.site import Site

Injection = Callable[[Site], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with an installation.

    Attributes:
        name: What, in words.
        inject: Breaks the installation for the time of a block.
        says: A regular expression for what must be named.
        remedy: The same for what must be advised, in the same text.
        only: The kind of database it concerns; empty for both.
        restarts: Whether the server stands still meanwhile, and is started anew afterwards.
    """

    name: str
    inject: Injection
    says: str
    remedy: str
    only: str = ""
    restarts: bool = False
