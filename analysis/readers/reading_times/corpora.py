"""Published corpora of self-paced reading: Natural Stories, and Frank et al. (2013)."""

import csv
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


def read_natural_stories(files: Sequence[Path], texts: Sequence[Path]) -> ImportedTimes:
    """Return the times of Natural Stories (Futrell et al., 2021).

    Args:
        files: ``processed_RTs.tsv``; a story is a text, and a zone is a position.
        texts: ``all_stories.tok``, the words; empty if the table of times has them.

    Raises:
        AnalysisError: A column is missing, or a word is not in the texts.
    """
    words = {
        (row["item"], row["zone"]): row["word"]
        for file in texts
        for _, row in _read_rows(file, "\t", ("word", "zone", "item"))
    }
    rows = list[dict[str, object]]()
    for file in files:
        columns = ("WorkerId", "item", "zone", "RT", *(() if words else ("word",)))
        for line, row in _read_rows(file, "\t", columns):
            position = row["item"], row["zone"]
            if words and position not in words:
                raise AnalysisError(
                    f"story {position[0]} has no word {position[1]}",
                    where=f"{file}, line {line}",
                    expected="the words of the same version of the corpus",
                )
            rows.append(
                {
                    "participant": row["WorkerId"],
                    "text_id": row["item"],
                    "position": int(parse_time(row["zone"], file, line)),
                    "text": words[position] if words else row["word"],
                    "rt_ms": parse_time(row["RT"], file, line),
                }
            )
    return check_times(rows, (), files[0])


def read_frank(files: Sequence[Path], texts: Sequence[Path]) -> ImportedTimes:
    """Return the times of Frank, Fernandez Monsalve, Thompson & Vigliocco (2013).

    Args:
        files: ``selfpacedreading.RT.txt``, tab-separated.
        texts: Unused: the table contains its words.

    Raises:
        AnalysisError: A column is missing, or a time is not a number.
    """
    rows = list[dict[str, object]]()
    for file in files:
        for line, row in _read_rows(file, "\t", ("subj_nr", "sent_nr", "word_pos", "word", "RT")):
            mark = row.get("correct", "").strip().lower()
            rows.append(
                {
                    "participant": row["subj_nr"],
                    "text_id": row["sent_nr"],
                    "position": int(parse_time(row["word_pos"], file, line)),
                    "text": row["word"],
                    "rt_ms": parse_time(row["RT"], file, line),
                    "question_correct": {"c": True, "1": True, "e": False, "0": False}.get(mark),
                }
            )
    return check_times(rows, (), files[0])


def _read_rows(
    file: Path, divider: str, columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, delimiter=divider, quoting=csv.QUOTE_NONE)
            missing_columns = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing_columns:
                raise AnalysisError(
                    f'there is no column "{missing_columns[0]}"',
                    where=f"{file}, line 1",
                    expected=f"the columns {', '.join(columns)}, divided by tabs",
                )
            for row in reader:
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable_file(file, error) from error


FORMAT = (
    TimesFormat(
        ("natural-stories",),
        "| `natural-stories` | `processed_RTs.tsv`, and with `--texts` the words "
        "in `all_stories.tok` |",
        read_natural_stories,
    ),
    TimesFormat(
        ("frank2013",),
        "| `frank2013` | `selfpacedreading.RT.txt` of Frank et al. (2013) |",
        read_frank,
    ),
)
