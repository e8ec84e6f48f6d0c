"""DMDX results: G-maze, L-maze and self-paced reading as in Witzel et al. (2012).

A results file (.azk) has a line for each frame; the frame's number consists of the item number and,
in the last three digits, the word number. A negative time is a wrong answer. The item file (.rtf,
as text) has the contents of each frame.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.readers.reading_times.table import (
    ImportedTimes,
    TimesFormat,
    check_times,
    parse_time,
    unreadable_file,
)

_SUBJECT = re.compile(r"^Subject (\d+)")
_TIMED = re.compile(r"^\s*(\d{4,})\s+(-?\d+(?:\.\d+)?)\s*$")
# A frame: the sign for the right key, the frame number, and its last text.
_FRAME = re.compile(r'^([+=-])\s*(\d{4,})\b[^"]*(?:"READY"[^"]*)?"([^"]*)"')
# The question after a sentence.
_QUESTION_CODE = 251
_RIGHT_KEY = "+"


def read_dmdx(files: Sequence[Path], texts: Sequence[Path]) -> ImportedTimes:
    """Return the times in results files, each with the item file of its list.

    Participants are named by file and number; frames with one word are self-paced reading, and
    frames with two words are a Maze.

    Args:
        files: The results files, one for each list.
        texts: The item files in the same order.

    Raises:
        AnalysisError: A file has no item file, or the item file lacks a frame that has a time.
    """
    if len(files) != len(texts):
        raise AnalysisError(
            f"there are {len(files)} results files, but {len(texts)} item files",
            where=", ".join(map(str, [*files, *texts])),
            expected="--texts for each results file, in the same order",
        )
    rows, notes = list[dict[str, object]](), list[str]()
    for file, text in zip(files, texts, strict=True):
        frames = dict(_read_frames(text))
        unknown = 0
        questions: dict[tuple[str, int], bool] = {}
        timed_rows = list[tuple[tuple[str, int], dict[str, object]]]()
        for subject, frame, ms in _read_times(file):
            item, part = divmod(frame, 1000)
            if part == _QUESTION_CODE:
                questions[subject, item] = ms > 0
            elif (item, part) not in frames:
                unknown += 1
            else:
                position, word, distractor = frames[item, part]
                row: dict[str, object] = {
                    "participant": f"{file.stem}-{subject}",
                    "text_id": f"{item}-{text.stem}",
                    "position": position,
                    "text": word,
                    "rt_ms": abs(ms),
                    "distractor": distractor or None,
                    "correct": ms > 0 if distractor else None,
                }
                timed_rows.append(((subject, item), row))
        rows += [row | {"question_correct": questions.get(trial)} for trial, row in timed_rows]
        if unknown:
            notes.append(f"{file.name}: {unknown:,} times are of frames without a word.")
    return check_times(rows, notes, files[0])


def _read_times(file: Path) -> Iterator[tuple[str, int, float]]:
    subject = ""
    for line, text in enumerate(_read_lines(file), start=1):
        if match := _SUBJECT.match(text):
            subject = match[1]
        elif match := _TIMED.match(text):
            if not subject:
                raise AnalysisError(
                    "a time comes before the first line that names a participant",
                    where=f"{file}, line {line}",
                    expected='a line "Subject N, ..." before the times',
                )
            yield subject, int(match[1]), parse_time(match[2], file, line)


def _read_frames(file: Path) -> Iterator[tuple[tuple[int, int], tuple[int, str, str]]]:
    """Yield each frame's item and part, with the word's position, the word and its distractor."""
    for text in _read_lines(file):
        match = _FRAME.match(text)
        if match is None:
            continue
        item, part = divmod(int(match[2]), 1000)
        tokens = match[3].split()
        words = [token for token in tokens if any(letter.isalnum() for letter in token)]
        if part == _QUESTION_CODE or not words:
            continue
        if len(tokens) == 2 and len(words) == 2:
            right = match[1] == _RIGHT_KEY
            yield (item, part), (part + 1, words[right], words[not right])
        elif len(words) == 1:
            yield (item, part), (tokens.index(words[0]) + 1, words[0], "")


def _read_lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="latin-1").splitlines()
    except OSError as error:
        raise unreadable_file(file, error) from error


FORMAT = TimesFormat(
    ("dmdx",),
    "| `dmdx` | results of DMDX (.azk or text), and with `--texts` the item "
    "file of each list, as Witzel et al. (2012) used them for the G-maze, the L-maze and "
    "self-paced reading |",
    read_dmdx,
)
