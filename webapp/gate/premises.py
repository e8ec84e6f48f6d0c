"""What a check of the gate is given and says, and the small files that it keeps."""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection

from webapp.core.settings import Settings


class Act(StrEnum):
    """What the gate is asked about."""

    ADMIT = "take new participants"
    PAY = "pay"
    PUBLISH = "publish"
    EXPORT = "export"
    TELL = "tell panels what must not be told twice"


EVERY_ACT = frozenset(Act)


@dataclass(frozen=True, slots=True)
class Premises:
    """The installation as a check sees it, beside its database.

    Attributes:
        instance: The instance folder.
        settings: Its settings.
    """

    instance: Path
    settings: Settings


@dataclass(frozen=True, slots=True)
class Objection:
    """Something that must be mended before some acts.

    Attributes:
        says: What was found, as part of a sentence.
        remedy: What to do about it.
        forbids: What is not done before.
    """

    says: str
    remedy: str
    forbids: frozenset[Act] = EVERY_ACT


# A check reads by the connection that it is given (it takes no other, and writes nothing), compares
# what it reads with the instance folder, and yields an objection for everything that is to be
# mended. It is asked for every newcomer, so it must be cheap: a few rows and a small file.
Check = Callable[[Connection, Premises], Iterable[Objection]]


def write_beside(path: Path, content: Mapping[str, int]) -> None:
    """Replace a file of the instance folder by one that holds these numbers, safe on the disk."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        json.dump(dict(content), file)
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(path)
