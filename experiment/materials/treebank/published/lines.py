"""Lines of a published file, with a clear word where one cannot be read."""

from collections.abc import Iterable
from pathlib import Path

from experiment.errors import MaterialsError, why_unread
from experiment.tables.atomic_write import atomic_write

END = "<eos>"


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file without their ends.

    Raises:
        MaterialsError: The file is missing or no UTF-8 text.
    """
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            return [line.rstrip("\n") for line in file]
    except (OSError, UnicodeDecodeError) as error:
        raise MaterialsError(
            f"the set's file cannot be read ({why_unread(error)})",
            where=str(path),
            expected="a UTF-8 text",
        ) from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, whole or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def read_sentences(
    stem: Path, columns: int, target: int
) -> list[tuple[list[str], tuple[str, ...]]]:
    """Return the columns of ``stem.gold`` next to the words of ``stem.text``, line by line.

    Args:
        stem: The path without its ending.
        columns: How many columns ``.gold`` has.
        target: Which of them (from 0) holds the target's index, which ``.eval`` repeats.

    Raises:
        MaterialsError: The files differ in length, a line has another number of columns, or
            the target is no word of its sentence.
    """
    gold, text, targets = (
        read_lines(Path(f"{stem}.{ending}")) for ending in ("gold", "text", "eval")
    )
    if not len(gold) == len(text) == len(targets):
        raise MaterialsError(
            f"{len(gold)} lines in .gold, {len(text)} in .text, {len(targets)} in .eval",
            where=str(stem),
            expected="one line for each sentence in each of the three",
        )
    rows = []
    for number, (line, sentence, index) in enumerate(zip(gold, text, targets, strict=True), 1):
        values, words = line.split("\t"), tuple(sentence.split(" "))
        where = f"{stem}.gold:{number}"
        if len(values) != columns:
            raise MaterialsError(
                f"the line has {len(values)} columns",
                where=where,
                expected=f"{columns} between tabs",
            )
        if values[target] != index or not index.isdecimal() or int(index) >= len(words):
            raise MaterialsError(
                f'the target is "{values[target]}", and "{index}" in .eval, of {len(words)} words',
                where=where,
                expected="the same index of a word, from 0, in both",
            )
        rows.append((values, words))
    return rows
