"""The one table format into which every importer of reading times converts its file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.errors import AnalysisError
from experiment.errors import why_unread
from experiment.plugins import offered_in

# ``parallax lm reading-times`` uses the first five names.
COLUMNS = (
    "participant",
    "text_id",
    "position",
    "text",
    "rt_ms",
    "condition",
    "distractor",
    "correct",
    "question_correct",
)
_KEYS = ["participant", "text_id", "position"]
_SHOWN = 3
# Fewer equal times may be a coincidence.
_FEWEST_TIMES = 3


@dataclass(frozen=True, slots=True)
class ImportedTimes:
    """Reading times read from files.

    Attributes:
        frame: ``COLUMNS``, one row per participant and word or region; position counts from 1, and
            correct is whether a Maze's word was chosen rightly. Values that a format lacks are
            missing.
        notes: Left-out data, with reasons, in sentences.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TimesFormat:
    """A format of reading times; modules here define one as ``FORMAT``, or a tuple of several.

    Attributes:
        names: The names on the command line.
        documentation: The format's row in docs/reading.md.
        read: Reads the files, and those of the texts, into the table.
    """

    names: tuple[str, ...]
    documentation: str
    read: Callable[[Sequence[Path], Sequence[Path]], ImportedTimes]


def times_formats() -> dict[str, TimesFormat]:
    """Return all formats, by name."""
    formats = offered_in("analysis.readers.reading_times", "FORMAT", TimesFormat)
    return {name: times_format for times_format in formats for name in times_format.names}


def check_times(
    rows: Sequence[dict[str, object]], notes: Sequence[str], where: Path
) -> ImportedTimes:
    """Return rows as a checked table.

    Args:
        rows: Rows, each with some of ``COLUMNS``.
        notes: The left-out data.
        where: The file, for messages.

    Raises:
        AnalysisError: There are no rows, or a row occurs twice.
    """
    if not rows:
        raise AnalysisError(
            "the file holds no reading times",
            where=str(where),
            expected="rows of the format that was named",
            remedy="`parallax reading import --help` lists the formats",
        )
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    impossible = ~((frame["rt_ms"] > 0) & np.isfinite(frame["rt_ms"].astype(float)))
    if impossible.any():
        first_impossible = frame[impossible].iloc[0]
        notes = [
            *notes,
            f"{int(impossible.sum()):,} times are not positive and left out; the first: "
            f"{first_impossible['rt_ms']:g} ms of participant {first_impossible['participant']}, "
            "text "
            f"{first_impossible['text_id']}, position {first_impossible['position']}.",
        ]
        frame = frame[~impossible].reset_index(drop=True)
    frame, sent_again = _drop_repeated_sessions(frame)
    notes = [*notes, *sent_again]
    repeated_rows = frame[frame.duplicated(_KEYS)]
    if len(repeated_rows):
        repeated = repeated_rows.iloc[0]
        raise AnalysisError(
            f"{len(repeated_rows):,} times are repeated; the first: participant "
            f"{repeated['participant']}, text {repeated['text_id']}, position "
            f"{repeated['position']}",
            where=str(where),
            expected="one time for each combination of participant, text and position",
        )
    return ImportedTimes(frame, tuple(notes))


def _drop_repeated_sessions(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the times without sessions that another session holds whole, and a note on these.

    Two people never have the same time to the millisecond at every position.
    """
    cells = zip(frame["text_id"], frame["position"], frame["rt_ms"], strict=True)
    sessions: dict[object, set[tuple[object, ...]]] = {}
    for person, cell in zip(frame["participant"], cells, strict=True):
        sessions.setdefault(person, set()).add(cell)
    owners: dict[tuple[object, ...], list[object]] = {}
    copies: dict[object, object] = {}
    # The largest sessions come first, and of equal ones the earliest.
    for person, times in sorted(sessions.items(), key=lambda entry: -len(entry[1])):
        holders = set.intersection(*(set(owners.get(time, ())) for time in times))
        if holders and len(times) >= _FEWEST_TIMES:
            copies[person] = next(iter(holders))
            continue
        for time in times:
            owners.setdefault(time, []).append(person)
    if not copies:
        return frame, []
    copy_list = ", ".join(
        f"{copy} is {original}" for copy, original in list(copies.items())[:_SHOWN]
    )
    note = (
        f"{len(copies):,} sessions have the same times as another and are left out, as sent "
        f"again: {copy_list}."
    )
    return frame[~frame["participant"].isin(list(copies))].reset_index(drop=True), [note]


def parse_time(text: str, where: Path, line: int) -> float:
    """Parse a time in milliseconds.

    Raises:
        AnalysisError: The text is not a number.
    """
    try:
        return float(text)
    except ValueError as error:
        raise AnalysisError(
            f'the time "{text}" cannot be read as a number',
            where=f"{where}, line {line}",
            expected="milliseconds",
        ) from error


def unreadable_file(file: Path, error: Exception) -> AnalysisError:
    """Return the error for an unreadable file."""
    return AnalysisError(f"the times cannot be read: {why_unread(error)}", where=str(file))
