"""What may identify participants in an export: find it, list it, and coarsen it for an archive."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from analysis.archive.package import Package, Row
from experiment.coding.normalise import normalise
from experiment.responses.typed.text import TYPED_COLUMN
from experiment.studies.study import Study
from experiment.tables.column import TableSchema
from experiment.tables.files import spreadsheet_safe
from experiment.tables.schemas import ANSWERS, DEVICES, RESPONSES

# A combination of answers shared by fewer participants may identify one of them.
K = 5
_SHOWN = 3
# Patterns of personal ids in text: an address, a platform's id, a telephone number.
_ID_PATTERNS = {
    "an e-mail address": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"),
    "a platform's id": re.compile(r"\b(?:[0-9a-f]{24}|A[0-9A-Z]{11,20})\b"),
    "a telephone number": re.compile(r"(?<!\w)\+?\d[\d ()/-]{7,}\d(?!\w)"),
    "a web address": re.compile(r"https?://\S+"),
}
# Columns that describe a participant's device.
DEVICE_COLUMNS = ("user_agent_family", "refresh_rate_hz", "time_zone_offset_min", "language")
SCREEN_COLUMNS = ("viewport_width_px", "viewport_height_px")
EVENT_TEXT = "detail"


class Kind(StrEnum):
    """The kinds of data that may identify a participant."""

    IDS = "ids"
    FREE_TEXT = "free_text"
    RARE_ANSWERS = "rare_answers"
    TIMES = "times"
    DEVICES = "devices"


@dataclass(frozen=True, slots=True)
class Trace:
    """A part of an export that may identify a participant.

    Attributes:
        kind: The kind of data.
        where: Table and column.
        what: The number of occurrences, with examples.
    """

    kind: Kind
    where: str
    what: str

    def __str__(self) -> str:
        """Return the trace as one line of a list."""
        return f"{self.kind}: {self.where}: {self.what}"


def find_traces(package: Package, study: Study) -> list[Trace]:
    """Return all traces that may identify participants, in the order of ``Kind``."""
    answers = list(package.rows(ANSWERS)) if ANSWERS in _named_table(package, ANSWERS.name) else []
    free = free_text_fields(study, answers)
    traces = [*_find_text_traces(answers, free), *_find_rare_answers(answers, free)]
    traces += _find_typed_traces(package)
    for table in package.tables:
        times = [column.name for column in table.columns if column.type == "datetime"]
        devices = [
            column for column in (*DEVICE_COLUMNS, *SCREEN_COLUMNS)
            if column in table.column_names
            and (column in SCREEN_COLUMNS or table.name == DEVICES.name)
        ]  # fmt: skip
        text = [EVENT_TEXT] if table.name == "events" else []
        if not (times or devices or text):
            continue
        counts = Counter[str]()
        for row in package.rows(table):
            counts.update(name for name in (*times, *devices, *text) if row[name] not in (None, ""))
        for names, kind, what in (
            (times, Kind.TIMES, "exact times"),
            (devices, Kind.DEVICES, "values that describe a device"),
            (text, Kind.FREE_TEXT, "texts"),
        ):
            traces += [
                Trace(kind, f"{table.name}.{name}", f"{counts[name]:,} {what}")
                for name in names
                if counts[name]
            ]
    return sorted(traces, key=lambda one: list(Kind).index(one.kind))


def _named_table(package: Package, name: str) -> list[object]:
    return [ANSWERS for table in package.tables if table.name == name]


def free_text_fields(study: Study, answers: Iterable[Mapping[str, object]]) -> set[str]:
    """Return the fields that accepted free text; unknown fields count as such."""
    closed = {
        question.name for question in (*study.questionnaire, *study.screening) if question.closed
    }
    return {str(row["field"]) for row in answers} - closed


def _find_text_traces(answers: list[Row], free: set[str]) -> list[Trace]:
    traces = []
    for field in sorted(free):
        texts = [str(row["value"]) for row in answers if row["field"] == field and row["value"]]
        for what, pattern in _ID_PATTERNS.items():
            if n := sum(bool(pattern.search(text)) for text in texts):
                traces.append(Trace(Kind.IDS, f"answers.{field}", f"{n} with what may be {what}"))
        if texts:
            shown = "; ".join(f'"{text[:60]}"' for text in texts[:_SHOWN])
            traces.append(
                Trace(Kind.FREE_TEXT, f"answers.{field}", f"{len(texts)} texts, such as {shown}")
            )
    return traces


def _find_typed_traces(package: Package) -> list[Trace]:
    """Return what is rare, or looks like an id, in the texts that were typed in trials."""
    where, rare = f"{RESPONSES.name}.{TYPED_COLUMN}", _find_rare_texts(package)
    traces = [
        Trace(Kind.IDS, where, f"{n} with what may be {what}")
        for what, pattern in _ID_PATTERNS.items()
        if (n := sum(bool(pattern.search(text)) for text in rare))
    ]
    if rare:
        shown = "; ".join(f'"{text[:60]}"' for text in sorted(rare)[:_SHOWN])
        what = f"{len(rare)} texts that fewer than {K} people typed, such as {shown}"
        traces.append(Trace(Kind.FREE_TEXT, where, what))
    return traces


def _find_rare_texts(package: Package) -> set[str]:
    """Return the texts of trials that fewer than ``K`` people typed, whatever their spelling."""
    people: dict[str, set[str]] = {}
    texts: set[str] = set()
    for table in package.tables:
        if table.name != RESPONSES.name or TYPED_COLUMN not in table.column_names:
            continue
        for row in package.rows(table):
            if text := row[TYPED_COLUMN]:
                texts.add(str(text))
                people.setdefault(normalise(str(text)), set()).add(str(row["participant"]))
    return {text for text in texts if len(people[normalise(text)]) < K}


def answer_combinations(
    answers: Iterable[Mapping[str, object]], free: set[str]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return each participant's answers to closed questions, as (field, value) pairs."""
    answers_by_person: dict[str, list[tuple[str, str]]] = {}
    for row in answers:
        if row["field"] not in free:
            pair = (str(row["field"]), str(row["value"]))
            answers_by_person.setdefault(str(row["participant"]), []).append(pair)
    return {person: tuple(sorted(pairs)) for person, pairs in answers_by_person.items()}


def _find_rare_answers(answers: list[Row], free: set[str]) -> list[Trace]:
    counts = Counter(answer_combinations(answers, free).values())
    rare = sorted((n, combination) for combination, n in counts.items() if n < K)
    if not rare:
        return []
    people = sum(n for n, _ in rare)
    shown = "; ".join(
        f"{' and '.join(f'{field} {value}' for field, value in combination)} ({n})"
        for n, combination in rare[:_SHOWN]
    )
    what = f"{len(rare)} combinations of fewer than {K} people, {people} people in all: {shown}"
    return [Trace(Kind.RARE_ANSWERS, "answers", what)]


# Sizes of windows are kept to this many pixels.
_PIXEL_STEP = 100
Rows = Callable[[TableSchema], Iterator[Row]]


def rows_without(package: Package, study: Study, kinds: Collection[Kind]) -> Rows:
    """Return a function that reads each table without the identifying traces of these kinds.

    Free text is removed, and of typed answers what fewer than ``K`` people typed; exact times are
    cut to their day, columns that describe a device are
    emptied, and window sizes are rounded to 100 pixels. From rare combinations of answers, answers
    are removed until at least ``K`` participants share every remaining combination.
    """
    answers = list(package.rows(ANSWERS))
    free = free_text_fields(study, answers)
    removed = (
        _rare_answers(answer_combinations(answers, free)) if Kind.RARE_ANSWERS in kinds else set()
    )
    texts = bool({Kind.FREE_TEXT, Kind.IDS} & set(kinds))
    rare = _find_rare_texts(package) if texts else set()

    def read(table: TableSchema) -> Iterator[Row]:
        for row in package.rows(table):
            if table.name == ANSWERS.name and (
                (texts and row["field"] in free)
                or (str(row["participant"]), str(row["field"])) in removed
            ):
                continue
            coarsened = _coarsen_row(table, row, kinds, texts=texts)
            is_rare = table.name == RESPONSES.name and row.get(TYPED_COLUMN) in rare
            yield coarsened | {TYPED_COLUMN: None} if is_rare else coarsened

    return read


def escape_texts(rows: Rows) -> Rows:
    """Return rows for CSV files, where no spreadsheet takes a participant's text for a formula."""

    def read(table: TableSchema) -> Iterator[Row]:
        for row in rows(table):
            texts = {name: row[name] for name in table.free_texts if row[name] is not None}
            yield {**row, **{name: spreadsheet_safe(str(text)) for name, text in texts.items()}}

    return read


def _coarsen_row(table: TableSchema, row: Row, kinds: Collection[Kind], *, texts: bool) -> Row:
    changed = dict(row)
    if Kind.TIMES in kinds:
        changed |= {
            name: _coarsen_to_day(value)
            for name, value in row.items()
            if isinstance(value, datetime)
        }
    if Kind.DEVICES in kinds:
        if table.name == DEVICES.name:
            changed |= {name: None if _count_words(row[name]) else "" for name in DEVICE_COLUMNS}
        for name in SCREEN_COLUMNS:
            size = changed.get(name)
            if isinstance(size, int):
                changed[name] = round(size / _PIXEL_STEP) * _PIXEL_STEP
    if texts and table.name == "events":
        changed[EVENT_TEXT] = ""
    return changed


def _count_words(value: object) -> bool:
    return value is None or isinstance(value, int | float)


def _coarsen_to_day(time: datetime) -> datetime:
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
        groups = Counter(_answer_key(pairs) for pairs in kept.values() if pairs)
        if not groups:
            break
        smallest = min(groups, key=lambda key: (groups[key], key))
        for person, pairs in kept.items():
            if _answer_key(pairs) == smallest or person in rare:
                pairs.clear()
    return {
        (person, field)
        for person, pairs in given.items()
        for field, _ in pairs
        if field not in kept[person]
    }


def _answer_key(pairs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(pairs.items()))


def _rare_people(
    combos: Iterable[Mapping[str, str]], kept: Mapping[str, dict[str, str]]
) -> list[str]:
    counts = Counter(_answer_key(pairs) for pairs in combos)
    return [person for person, pairs in kept.items() if 0 < counts[_answer_key(pairs)] < K]
