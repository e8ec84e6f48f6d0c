"""Coarsen an export: remove what may identify participants; the export itself is not changed."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime

from analysis.archive.package import Package, Row
from analysis.archive.traces import (
    DEVICE_COLUMNS,
    EVENT_TEXT,
    SCREEN_COLUMNS,
    K,
    Kind,
    combinations,
    free_text_fields,
)
from experiment.studies.study import Study
from experiment.tables.column import TableSchema
from experiment.tables.schemas import ANSWERS, DEVICES

# Sizes of windows are kept to this many pixels.
_PIXELS = 100
Rows = Callable[[TableSchema], Iterator[Row]]


def rows_without(package: Package, study: Study, kinds: Collection[Kind]) -> Rows:
    """Return a function that reads each table without the identifying traces of these kinds.

    Free text is removed, exact times are cut to their day, columns that describe a device are
    emptied, and window sizes are rounded to 100 pixels. From rare combinations of answers, answers
    are removed until at least ``K`` participants share every remaining combination.
    """
    answers = list(package.rows(ANSWERS))
    free = free_text_fields(study, answers)
    removed = _rare_answers(combinations(answers, free)) if Kind.RARE_ANSWERS in kinds else set()
    texts = bool({Kind.FREE_TEXT, Kind.IDS} & set(kinds))

    def read(table: TableSchema) -> Iterator[Row]:
        for row in package.rows(table):
            if table.name == ANSWERS.name and (
                (texts and row["field"] in free)
                or (str(row["participant"]), str(row["field"])) in removed
            ):
                continue
            yield _coarsened(table, row, kinds, texts=texts)

    return read


def _coarsened(table: TableSchema, row: Row, kinds: Collection[Kind], *, texts: bool) -> Row:
    changed = dict(row)
    if Kind.TIMES in kinds:
        changed |= {name: _day(value) for name, value in row.items() if isinstance(value, datetime)}
    if Kind.DEVICES in kinds:
        if table.name == DEVICES.name:
            changed |= {name: None if _number(row[name]) else "" for name in DEVICE_COLUMNS}
        for name in SCREEN_COLUMNS:
            size = changed.get(name)
            if isinstance(size, int):
                changed[name] = round(size / _PIXELS) * _PIXELS
    if texts and table.name == "events":
        changed[EVENT_TEXT] = ""
    return changed


def _number(value: object) -> bool:
    return value is None or isinstance(value, int | float)


def _day(time: datetime) -> datetime:
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def _rare_answers(
    given: Mapping[str, tuple[tuple[str, str], ...]],
) -> set[tuple[str, str]]:
    """Return the answers to remove, as pairs (participant, field).

    Among participants with a rare combination, the field with the most distinct answers is removed
    first. If too few participants are left without any answer, the smallest other group joins them.
    """
    kept = {person: dict(pairs) for person, pairs in given.items()}
    spread = Counter(field for field, _ in {pair for pairs in given.values() for pair in pairs})
    fields = sorted(spread, key=lambda field: (-spread[field], field))
    for field in fields:
        for person in _rare_people(kept.values(), kept):
            kept[person].pop(field, None)
    while rare := _rare_people(kept.values(), kept):
        groups = Counter(_key(pairs) for pairs in kept.values() if pairs)
        if not groups:
            break
        smallest = min(groups, key=lambda key: (groups[key], key))
        for person, pairs in kept.items():
            if _key(pairs) == smallest or person in rare:
                pairs.clear()
    return {
        (person, field)
        for person, pairs in given.items()
        for field, _ in pairs
        if field not in kept[person]
    }


def _key(pairs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(pairs.items()))


def _rare_people(
    combos: Iterable[Mapping[str, str]], kept: Mapping[str, dict[str, str]]
) -> list[str]:
    counts = Counter(_key(pairs) for pairs in combos)
    return [person for person, pairs in kept.items() if 0 < counts[_key(pairs)] < K]
