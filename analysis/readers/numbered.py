"""Numbered columns: which numbers they have, wherever these begin and whatever is missing."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.readers.mapping import NUMBER

_SHOWN = 5


def numbers_of(columns: Sequence[str], patterns: Iterable[str], path: Path) -> list[str]:
    """Return the numbers, as they are written, of columns named by patterns such as ``item{n}``.

    Raises:
        AnalysisError: One pattern has a number that another lacks.
    """
    found = {pattern: numbers_in(columns, pattern) for pattern in patterns}
    if not found:
        return []
    every = set().union(*found.values())
    for pattern, own in found.items():
        if own and (lacking := sorted(every - own, key=_value)):
            shown = ", ".join(pattern.replace(NUMBER, number) for number in lacking[:_SHOWN])
            raise AnalysisError(
                f"the numbered columns do not fit together: there is no {shown}",
                where=str(path),
                expected=f"the same numbers in {' and '.join(found)}",
                remedy="Correct the mapping, or the headers",
            )
    return sorted(every, key=_value) if all(found.values()) else []


def numbers_in(columns: Sequence[str], pattern: str) -> set[str]:
    """Return the numbers that stand for ``{n}`` in the columns that a pattern names."""
    named = re.compile(r"(\d+)".join(map(re.escape, pattern.split(NUMBER, 1))))
    return {found[1] for column in columns if (found := named.fullmatch(column))}


def _value(number: str) -> tuple[int, str]:
    return int(number), number
