"""Frozen versions of the codes of imported answers: each is a table, and a record of its hash."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import ParallaxError, why_unread
from experiment.tables.atomic_write import atomic_write
from experiment.tables.codes import CODED_ANSWERS
from experiment.tables.files import read_table, spreadsheet_safe, write_table

_RECORD = re.compile(r"codes_(\d+)\.json")


class CodingError(ParallaxError):
    """Codes of imported answers that cannot be read or frozen."""


@dataclass(frozen=True, slots=True)
class FrozenVersion:
    """A frozen version.

    Attributes:
        number: Its number, from 1.
        rows: Its rows, as in ``CODED_ANSWERS``.
    """

    number: int
    rows: tuple[Mapping[str, str], ...]


def write_version(
    folder: Path, rows: Iterable[Mapping[str, str]], about: Mapping[str, object]
) -> Path:
    """Write the next version of an import's codes, and return its table; earlier ones stay.

    Args:
        folder: The folder of the import.
        rows: The rows, as in ``CODED_ANSWERS``.
        about: Who coded, when, and whatever else belongs into the record.
    """
    number = _find_latest(folder) + 1
    table, record = folder / f"codes_{number}.csv", folder / f"codes_{number}.json"
    safe = ({**row, "typed": spreadsheet_safe(row["typed"])} for row in rows)
    write_table(CODED_ANSWERS, safe, table)
    text = json.dumps({**about, "sha256": _hash(table)}, indent=2, ensure_ascii=False) + "\n"
    with atomic_write(record) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return table


def read_latest_version(folder: Path) -> FrozenVersion | None:
    """Return the latest version of an import's codes; None if there is none.

    Raises:
        CodingError: Its table was changed after it was frozen, or its record cannot be read.
        TableError: Its table cannot be read.
    """
    number = _find_latest(folder)
    if not number:
        return None
    table, record = folder / f"codes_{number}.csv", folder / f"codes_{number}.json"
    try:
        expected = json.loads(record.read_text("utf-8"))["sha256"]
        is_unchanged = _hash(table) == expected
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CodingError(
            f"version {number} of the codes cannot be read ({why_unread(error)})",
            where=str(record),
            expected=f"{table.name} and {record.name}, as `parallax coding freeze` wrote them",
        ) from error
    if not is_unchanged:
        raise CodingError(
            f"version {number} of the codes was changed after it was frozen",
            where=str(table),
            expected="the table as `parallax coding freeze` wrote it",
            remedy="Let a coder change the code on the page and freeze the next version, or delete "
            f"{table.name} and {record.name} to use the version before it",
        )
    rows = []
    for row in read_table(CODED_ANSWERS, table):
        texts = {name: str(value or "") for name, value in row.items()}
        rows.append(texts | {"typed": texts["typed"].removeprefix("'")})
    return FrozenVersion(number, tuple(rows))


def _find_latest(folder: Path) -> int:
    """Return the number of the latest version; 0 if there is none."""
    names = (_RECORD.fullmatch(path.name) for path in folder.iterdir())
    return max((int(name[1]) for name in names if name), default=0)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
