"""What a check of the gate compares and yields, and the small files that it keeps."""

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
    """What the gate lets pass or forbids."""

    ADMIT = "take new participants"
    PAY = "pay"
    PUBLISH = "publish"
    EXPORT = "export"
    TELL_PANELS = "tell panels what must not be told twice"


EVERY_OPERATION = frozenset(Operation)


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation that a check compares with its database.

    Attributes:
        instance: The instance folder.
        settings: Its settings.
    """

    instance: Path
    settings: Settings


@dataclass(frozen=True, slots=True)
class Blocker:
    """Something that must be repaired before some operations.

    Attributes:
        says: The problem, as part of a sentence.
        remedy: What to do about it.
        forbids: The operations that wait for it.
    """

    says: str
    remedy: str
    forbids: frozenset[Operation] = EVERY_OPERATION


# A check reads by the connection that it is given (it takes no other, and writes nothing), compares
# what it reads with the instance folder, and yields a blocker for everything that is to be
# repaired. It is asked for every newcomer, so it must be cheap: a few rows and a small file.
Check = Callable[[Connection, Installation], Iterable[Blocker]]


def write_beside(path: Path, content: Mapping[str, int]) -> None:
    """Replace a file of the instance folder by one that holds these numbers, safe on the disk."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        json.dump(dict(content), file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
