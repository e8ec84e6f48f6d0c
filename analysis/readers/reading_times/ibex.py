"""Results of Ibex and PCIbex: Maze and self-paced reading (DashedSentence).

Fields are separated by commas; a comma within a field is written %2C. The first seven fields are
always: time of arrival, digest of the address, controller, order, inner element, label, group.
PCIbex runs a controller inside a PennController element and puts its type, its name and the time of
the event between.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from analysis.errors import AnalysisError
from analysis.readers.mapping import FALSE_WORDS, TRUE_WORDS
from analysis.readers.reading_times.table import (
    ImportedTimes,
    TimesFormat,
    check_times,
    parse_time,
    unreadable_file,
)

_MAZE, _SPR, _QUESTION = "Maze", "DashedSentence", "Question"
# The value for a word that was not seen.
_UNSEEN_VALUES = ("None", "NULL", "undefined", "")
_TRUE = dict.fromkeys(TRUE_WORDS, True) | dict.fromkeys(FALSE_WORDS, False)
_ARRIVAL_TIME = re.compile(r"^\d+$")


def read_ibex(files: Sequence[Path], texts: Sequence[Path]) -> ImportedTimes:
    """Return the times of results files; texts is empty, since the files contain their words.

    A participant is a submission, identified by its arrival time and the digest of its address.
    Words after a wrong choice that ended the sentence were not seen and are left out.

    Raises:
        AnalysisError: A line of a Maze or of self-paced reading has too few fields, or a time is
            not a number.
    """
    rows, notes = list[dict[str, object]](), list[str]()
    for file in files:
        unseen = 0
        answers: dict[tuple[str, str], bool] = {}
        timed_rows = list[tuple[tuple[str, str], dict[str, object]]]()
        for line, fields in _read_lines(file):
            person = f"{fields[0]}-{fields[1][:8]}"
            controller, own_fields = _split_controller(fields)
            trial = (person, fields[3])
            if controller == _QUESTION and len(own_fields) > 2 and own_fields[2].lower() in _TRUE:
                answers[trial] = _TRUE[own_fields[2].lower()]
            if controller not in (_MAZE, _SPR):
                continue
            fewest_fields = 6 if controller == _MAZE else 3
            if len(own_fields) < fewest_fields:
                raise AnalysisError(
                    f"a line of {controller} has {len(own_fields)} fields of its own",
                    where=f"{file}, line {line}",
                    expected=f"{fewest_fields} or more: the word's number, the word, ..., its time",
                )
            ms = own_fields[5] if controller == _MAZE else own_fields[2]
            if ms in _UNSEEN_VALUES:
                unseen += 1
                continue
            maze = controller == _MAZE
            first_position = 1 if maze else 0
            timed_rows.append(
                (
                    trial,
                    {
                        "participant": person,
                        "text_id": f"{fields[5]}-{_group(fields)}",
                        "position": int(parse_time(own_fields[0], file, line)) + first_position,
                        "text": own_fields[1],
                        "rt_ms": parse_time(ms, file, line),
                        "condition": fields[5],
                        "distractor": own_fields[2] if maze else None,
                        "correct": _TRUE.get(own_fields[4].lower()) if maze else None,
                    },
                )
            )
        rows += [row | {"question_correct": answers.get(trial)} for trial, row in timed_rows]
        if unseen:
            notes.append(f"{file.name}: {unseen:,} words after a wrong choice were not seen.")
    return check_times(rows, notes, files[0])


def _group(fields: Sequence[str]) -> str:
    return fields[6] if fields[6] not in _UNSEEN_VALUES else fields[3]


def _split_controller(fields: Sequence[str]) -> tuple[str, list[str]]:
    """Return the controller that wrote a line, and the fields beyond the common ones."""
    if fields[2] != "PennController":
        return fields[2], list(fields[7:])
    kind = fields[7].removeprefix("Controller-") if len(fields) > 7 else ""
    return kind, [*fields[9:11], *fields[12:]]


def _read_lines(file: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable_file(file, error) from error
    for number_, line in enumerate(text.splitlines(), start=1):
        fields = [unquote(field).strip() for field in line.split(",")]
        if len(fields) > 7 and _ARRIVAL_TIME.match(fields[0]):
            yield number_, fields


FORMAT = TimesFormat(
    ("ibex", "pcibex"),
    "| `ibex`, `pcibex` | results of the controllers `Maze` and "
    "`DashedSentence` (self-paced reading), with the answers of `Question`. PCIbex runs "
    "them inside its own elements |",
    read_ibex,
)
