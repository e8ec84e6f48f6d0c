"""The input and output of the gate's checks, and the small files that they keep."""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection

from webapp.core.settings import Settings


class Operation(StrEnum):
    """An operation that the gate allows or blocks."""

    ADMIT = "take new participants"
    PAY = "pay"
    PUBLISH = "publish"
    EXPORT = "export"
    TELL_PANELS = "make panel calls that must not be repeated"


EVERY_OPERATION = frozenset(Operation)


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation that a check compares with its database.

    Attributes:
        instance: The instance folder.
        settings: The installation's settings.
    """

    instance: Path
    settings: Settings


@dataclass(frozen=True, slots=True)
class Blocker:
    """A problem that must be repaired before certain operations.

    Attributes:
        problem: The problem, as part of a sentence.
        remedy: The instructions for repairing it.
        forbids: The operations that are blocked until then.
    """

    problem: str
    remedy: str
    forbids: frozenset[Operation] = EVERY_OPERATION


# A check reads through the given connection (it opens no other and writes nothing), compares the
# result with the instance folder, and yields a blocker for every problem. It runs for every new
# participant, so it must be cheap: a few rows and a small file.
Check = Callable[[Connection, Installation], Iterable[Blocker]]


def write_numbers(path: Path, content: Mapping[str, int]) -> None:
    """Replace a file in the instance folder by these numbers as JSON, flushed to disk."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        json.dump(dict(content), file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
