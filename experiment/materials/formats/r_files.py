"""R's own files (.rds, .RData): a data frame as rows of texts. Nothing in a file is executed."""

import bz2
import gzip
import io
import lzma
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from experiment.errors import MaterialsError, why_unread

if TYPE_CHECKING:
    from rdata.parser import RObject

SUFFIXES = (".rds", ".rdata", ".rda")
_IN_R = "write its table in R: write.csv(TABLE, 'table.csv', row.names = FALSE)"
# Unpacked, as a workbook; a sequence is written as its ends, whatever its length.
_LARGEST_BYTES, _LONGEST_SEQUENCE = 64 * 1024 * 1024, 8 * 1024 * 1024
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
# The beginning of a workspace, which names its objects.
_WORKSPACE = (b"RDX", b"RDA", b"RDB")
_LATIN_1, _SHOWN, _EPOCH = 4, 20, date(1970, 1, 1)
# What R calls an object without a class of its own.
_TYPES = {
    "NILVALUE": "NULL", "NIL": "NULL", "CLO": "function", "ENV": "environment", "GLOBALENV":
    "environment", "LANG": "call", "SYM": "name", "LGL": "logical", "INT": "integer",
    "REAL": "numeric", "CPLX": "complex", "STR": "character", "VEC": "list", "RAW": "raw",
}  # fmt: skip
Rows = list[tuple[int, list[str]]]


def read_r_file(path: Path, title: str = "") -> tuple[Rows, tuple[str, ...]]:
    """Return a data frame of a file as rows of texts, the headers first, and notes about it.

    Factors are their labels, missing values are empty, times are dates as text.

    Args:
        path: The file.
        title: The data frame, if the file has several: its name, or LIST$NAME in a list.

    Raises:
        MaterialsError: The library is not installed; the file is damaged or too large, has no data
            frame, or several of which none is named.
    """
    frames: dict[str, RObject] = {}
    others: dict[str, str] = {}
    with _refuse_damaged(path):
        for name, content in _objects(path).items():
            _sort_object(name, content, frames, others)
    name, frame = _choose(path, frames, others, title)
    with _refuse_damaged(path):
        rows, notes = _frame_rows(name, frame)
    if others:
        listed = [f'"{name}" ({kind})' if name else kind for name, kind in others.items()]
        notes.append(f"Not read from the file, as it is no data frame: {_shorten(listed)}.")
    return rows, tuple(notes)


@contextmanager
def _refuse_damaged(path: Path) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise MaterialsError(
            f"reading R's own format ({path.suffix}) needs the library rdata",
            where=str(path),
            remedy=f"Install it with `pip install 'parallax-experiments[rdata]'`, or {_IN_R}",
        ) from error
    except Exception as error:
        # A damaged file can raise any kind of exception.
        raise MaterialsError(
            f"the file cannot be read ({why_unread(error) or type(error).__name__}): it is "
            "damaged, or holds objects that the library does not know, such as models",
            where=str(path),
            expected="data frames that saveRDS() or save() wrote",
            remedy=f"Save the data frame alone, or {_IN_R}",
        ) from error


def _objects(path: Path) -> "dict[str, RObject]":
    """Return the objects of a file by their names; the one of an .rds has none."""
    from rdata.parser import parse_data

    content = _unpack(path)
    is_workspace = content.startswith(_WORKSPACE)
    # The name of the file may say otherwise.
    parsed = parse_data(
        content, extension=SUFFIXES[is_workspace], altrep_constructor_dict=_sequences()
    )
    return dict(_pairs(parsed.object)) if is_workspace else {"": parsed.object}


def _unpack(path: Path) -> bytes:
    with path.open("rb") as file:
        head = file.read(5)
    packed = (opener for mark, opener in _OPENERS.items() if head.startswith(mark))
    opener: Callable[..., Any] = next(packed, io.open)
    with opener(path, "rb") as file:
        content: bytes = file.read(_LARGEST_BYTES + 1)
    if len(content) > _LARGEST_BYTES:
        raise ValueError(f"unpacked it has more than the {_LARGEST_BYTES:,} bytes that are allowed")
    return content


def _sequences() -> "MappingProxyType[bytes, Callable[[RObject], Any]]":
    """Return how vectors are completed that R writes in short: 1:n, or numbers as texts."""
    from rdata.parser import DEFAULT_ALTREP_MAP

    def bounded(complete: Callable[["RObject"], Any]) -> Callable[["RObject"], Any]:
        def check(state: "RObject") -> Any:  # noqa: ANN401
            if state.value[0] > _LONGEST_SEQUENCE:
                raise ValueError(f"a sequence of {state.value[0]:,.0f} numbers")
            return complete(state)

        return check

    def numbers_as_texts(state: "RObject") -> Any:  # noqa: ANN401
        vector = state.value[0]
        numbers = vector.value.tolist()
        if hasattr(vector.value, "filled"):
            vector.value = vector.value.filled()
        info, texts = DEFAULT_ALTREP_MAP[b"deferred_string"](state)
        for text, number in zip(texts, numbers, strict=True):
            if number is None or number != number:
                text.value = None
        return info, texts

    short = {name: bounded(DEFAULT_ALTREP_MAP[name]) for name in _SEQUENCES}
    return MappingProxyType({**DEFAULT_ALTREP_MAP, **short, b"deferred_string": numbers_as_texts})


_SEQUENCES = (b"compact_intseq", b"compact_realseq")


def _sort_object(
    name: str, content: "RObject", frames: "dict[str, RObject]", others: dict[str, str]
) -> None:
    """Add an object to the data frames or to the others; of a plain list, each of its objects."""
    classes = _classes(content)
    if "data.frame" in classes:
        frames[name] = content
    elif content.info.type.name == "VEC" and classes == ["list"] and content.value:
        names = _names(content)
        for number, inner in enumerate(content.value, start=1):
            own = (names[number - 1] if number <= len(names) else "") or str(number)
            _sort_object("$".join(filter(None, (name, own))), inner, frames, others)
    else:
        others[name] = classes[0]


def _choose(
    path: Path, frames: "dict[str, RObject]", others: dict[str, str], title: str
) -> "tuple[str, RObject]":
    listed = _shorten([f'"{name}"' for name in frames])
    if title and title in frames:
        return title, frames[title]
    if title and frames and (len(frames) > 1 or "" not in frames):
        raise MaterialsError(
            f'the file has no data frame "{title}"', where=str(path), expected=f"one of: {listed}"
        )
    if title and frames:
        raise MaterialsError(
            "the file has one data frame, without a name",
            where=str(path),
            remedy="Leave out --sheet",
        )
    if not frames:
        kinds = [f'{kind} "{name}"' if name else kind for name, kind in others.items()]
        raise MaterialsError(
            f"the file has no data frame; it holds {_shorten(kinds) or 'nothing'}",
            where=str(path),
            expected="a data.frame or tibble",
            remedy=f"{_IN_R[0].upper()}{_IN_R[1:]}",
        )
    if len(frames) > 1:
        raise MaterialsError(
            f"the file has {len(frames)} data frames",
            where=str(path),
            expected=f"one of: {listed}",
            remedy=f"Name one with --sheet: --sheet '{next(iter(frames))}' (of reading times, with "
            f"sheet = '{next(iter(frames))}' in the mapping)",
        )
    return next(iter(frames.items()))


def _frame_rows(name: str, frame: "RObject") -> tuple[Rows, list[str]]:
    notes = [f'Read from the file: the data frame "{name}".'] if name else []
    columns: dict[int, list[str]] = {}
    names = _names(frame)
    for place, column in enumerate(frame.value):
        cells = _cells(column)
        if cells is None:
            kind = _classes(column)[0]
            notes.append(f'The column "{names[place]}" is not read: its class is {kind}.')
            continue
        columns[place] = cells
        levels = _attribute(column, "levels")
        if levels is not None and "ordered" in _classes(column):
            order = " < ".join(_texts(levels))
            notes.append(f'The column "{names[place]}" is an ordered factor: {order}.')
    attribute = _attribute(frame, "row.names")
    if attribute is not None and attribute.info.type.name == "STR":
        row_names = _texts(attribute)
        if not all(text.isdecimal() for text in row_names):
            notes.append(f'The names of the rows ("{row_names[0]}", ...) are not read.')
    body = zip(*columns.values(), strict=True)
    headers = [names[place] for place in columns]
    return [(0, headers), *((n, list(cells)) for n, cells in enumerate(body, start=1))], notes


def _cells(column: "RObject") -> list[str] | None:
    """Return a column's values as texts; None for lists, matrices, and tables within tables."""
    classes, kind = _classes(column), column.info.type.name
    if _attribute(column, "dim") is not None or kind not in ("LGL", "INT", "REAL", "STR"):
        return None
    if kind == "STR":
        return _texts(column)
    if "integer64" in classes:
        whole = column.value.view("int64").tolist()
        return ["" if number == -(2**63) else str(number) for number in whole]
    numbers = column.value.tolist()
    if kind == "LGL":
        return ["" if truth is None else str(truth).upper() for truth in numbers]
    levels = _attribute(column, "levels")
    if "factor" in classes and levels is not None:
        labels = _texts(levels)
        return ["" if code is None else labels[code - 1] for code in numbers]
    write: Callable[[float], str] = _write_number
    if "Date" in classes:
        write = _write_date
    elif "POSIXct" in classes:
        zone = _zone(column)

        def write(number: float) -> str:
            return datetime.fromtimestamp(number, UTC).astimezone(zone).isoformat(" ")

    return ["" if number is None or math.isnan(number) else write(number) for number in numbers]


def _zone(column: "RObject") -> ZoneInfo:
    named = _attribute(column, "tzone")
    try:
        return ZoneInfo((_texts(named) if named else [""])[0] or "UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def _write_number(number: float) -> str:
    if isinstance(number, float) and number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return "Inf" if number == math.inf else "-Inf" if number == -math.inf else repr(number)


def _write_date(days: float) -> str:
    return (_EPOCH + timedelta(math.floor(days))).isoformat()


def _classes(content: "RObject") -> list[str]:
    """Return an object's classes, or R's name for its type."""
    kind = content.info.type.name
    own = _attribute(content, "class")
    return (_texts(own) if own else []) or [_TYPES.get(kind, kind)]


def _names(content: "RObject") -> list[str]:
    names = _attribute(content, "names")
    return _texts(names) if names else []


def _attribute(content: "RObject", name: str) -> "RObject | None":
    pairs = _pairs(content.attributes) if content.attributes else ()
    return next((value for key, value in pairs if key == name), None)


def _pairs(content: "RObject") -> "Iterator[tuple[str, RObject]]":
    """Yield the names and values of a list of pairs."""
    while content.info.type.name == "LIST":
        tag = content.tag
        while tag is not None and tag.info.type.name == "REF":
            tag = tag.referenced_object
        value, content = content.value
        yield _text(tag.value) if tag is not None else "", value


def _texts(vector: "RObject") -> list[str]:
    return [_text(text) for text in vector.value]


def _text(text: "RObject") -> str:
    if text.value is None:
        return ""
    content: bytes = text.value
    if text.info.gp & _LATIN_1:
        return content.decode("cp1252", "replace")
    return content.decode("utf-8", "replace")


def _shorten(listed: Sequence[str]) -> str:
    return ", ".join(listed[:_SHOWN]) + (" and more" if len(listed) > _SHOWN else "")
