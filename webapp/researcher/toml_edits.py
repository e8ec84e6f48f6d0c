"""Edit the text of study.toml: one value of a table, or one entry of an array of tables.

Only the lines concerned change; comments stay with the lines that they explain. Every edit is read
back: a text in which anything else has changed is refused, and left to the editor.
"""

import copy
import itertools
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiment.errors import StudyError
from experiment.studies.study import STUDY_FILE
from experiment.untrusted import read_toml

_HEADER_PATTERN = re.compile(r"\s*(\[\[?)\s*([^\[\]#]+?)\s*\]\]?\s*(#.*)?$")
_KEY_PATTERN = re.compile(r"\s*([\w-]+)\s*=\s*", re.ASCII)
# A value on one line, up to the comment after it; a text may hold a "#", too.
_VALUE_PATTERN = re.compile(r"""(?:"(?:[^"\\]|\\.)*+"|'[^']*+'|[^"'#])*+""")
# The longest value that is looked for over several lines.
_MOST_LINES, _LONGEST = 200, 20_000


@dataclass(frozen=True, slots=True)
class _LineRange:
    """Lines of the text: the header of a table, or a key with its value.

    Attributes:
        begin: The first line.
        end: The line after the last one.
        name: The name of the table or key.
        opens: ``[`` or ``[[`` for a header, otherwise empty.
    """

    begin: int
    end: int
    name: str
    opens: str = ""


def set_value(text: str, table: str, key: str, value: str | int | float) -> str:
    """Return the text in which one key of a table has this value; a missing table is added.

    Raises:
        StudyError: The text cannot be changed line by line.
    """

    def edit(lines: list[str]) -> list[str]:
        for begin, end in _find_blocks(lines, table, opens="["):
            header, *parts = _list_parts(lines, begin, end)
            for part in itertools.takewhile(lambda part: not part.opens, parts):
                if part.name == key:
                    old = "".join(lines[part.begin : part.end])
                    return [*lines[: part.begin], _replace_value(old, value), *lines[part.end :]]
            head = lines[header.begin].rstrip("\n") + "\n"
            return [*lines[: header.begin], head, _write_line(key, value), *lines[header.end :]]
        return [f"{''.join(lines).rstrip()}\n\n[{table}]\n", _write_line(key, value)]

    def change(study: dict[str, Any]) -> None:
        study.setdefault(table, {})[key] = value

    return _edit(text, f'"{key}" of [{table}]', edit, change)


def read_entries(text: str, table: str) -> list[dict[str, Any]]:
    """Return the entries of an array of tables; empty if the text lacks it or cannot be read."""
    try:
        entries = read_toml(text).get(table, [])
    except (ValueError, RecursionError):
        return []
    is_array = isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)
    return entries if is_array else []


def add_entry(text: str, table: str, values: Mapping[str, Any]) -> str:
    """Return the text with another entry after the last one.

    Raises:
        StudyError: The text cannot be changed line by line.
    """

    def edit(lines: list[str]) -> list[str]:
        written = [f"[[{table}]]\n", *(_write_line(key, value) for key, value in values.items())]
        blocks = _find_blocks(lines, table)
        end = blocks[-1][1] if blocks else len(lines)
        before = "".join(lines[:end]).rstrip()
        after = lines[end:]
        return [f"{before}\n\n" if before else "", *written, *(["\n"] if after else []), *after]

    return _edit_entries(text, table, edit, lambda entries: entries.append(dict(values)))


def change_entry(text: str, table: str, number: int, values: Mapping[str, Any]) -> str:
    """Return the text in which an entry has these values; unchanged values keep their notation.

    Raises:
        StudyError: The text cannot be changed line by line.
    """
    present = read_entries(text, table)[number]

    def edit(lines: list[str]) -> list[str]:
        begin, end = _find_blocks(lines, table)[number]
        header, *parts = _list_parts(lines, begin, end)
        inner = [part.begin for part in parts if part.opens]
        parts = [part for part in parts if not part.opens and part.begin < min(inner, default=end)]
        changed = dict[int, list[str]]()
        for part in parts:
            if part.name in present and present[part.name] == values.get(part.name):
                continue
            if part.name not in values:
                changed[part.begin] = []
            else:
                old = "".join(lines[part.begin : part.end])
                changed[part.begin] = [_replace_value(old, values[part.name])]
            changed |= {line: [] for line in range(part.begin + 1, part.end)}
        last = max(part.end for part in (header, *parts)) - 1
        new = [_write_line(key, values[key]) for key in values if key not in present]
        if not lines[last].endswith("\n"):
            lines[last] += "\n"
        changed[last] = changed.get(last, [lines[last]]) + new
        return [
            changed_line
            for line, old in enumerate(lines)
            for changed_line in changed.get(line, [old])
        ]

    def change(entries: list[Any]) -> None:
        entries[number] = dict(values)

    return _edit_entries(text, table, edit, change)


def remove_entry(text: str, table: str, number: int) -> str:
    """Return the text without an entry and the comment right above it.

    Raises:
        StudyError: The text cannot be changed line by line.
    """

    def edit(lines: list[str]) -> list[str]:
        begin, end = _find_blocks(lines, table)[number]
        return lines[:begin] + lines[end:]

    return _edit_entries(text, table, edit, lambda entries: entries.pop(number))


def replace_entries(
    text: str, table: str, numbers: Sequence[int], entries: Sequence[Mapping[str, Any]]
) -> str:
    """Return the text with new entries at the place of the first of the replaced ones.

    The comments right above the replaced entries are then above the new ones.

    Raises:
        StudyError: The text cannot be changed line by line.
    """
    numbers = sorted(set(numbers))

    def edit(lines: list[str]) -> list[str]:
        blocks = [_find_blocks(lines, table)[number] for number in numbers]
        comments = [
            line
            for begin, end in blocks
            for line in itertools.takewhile(lambda line: line.lstrip()[:1] == "#", lines[begin:end])
        ]
        written = [
            line
            for entry in entries
            for line in (
                f"[[{table}]]\n",
                *(_write_line(key, value) for key, value in entry.items()),
                "\n",
            )
        ]
        replaced = {line for begin, end in blocks for line in range(begin, end)}
        first = blocks[0][0]
        after = [line for at, line in enumerate(lines) if at > first and at not in replaced]
        return [*lines[:first], *comments, *written, *after]

    def change(present: list[Any]) -> None:
        present[numbers[0] : numbers[0] + 1] = map(dict, entries)
        shift = len(entries) - 1
        for number in reversed(numbers[1:]):
            del present[number + shift]

    return _edit_entries(text, table, edit, change)


def move_entry_up(text: str, table: str, number: int) -> str:
    """Return the text in which an entry and the one before it are exchanged.

    Raises:
        StudyError: The text cannot be changed line by line.
    """

    def edit(lines: list[str]) -> list[str]:
        (begin, end), (own_begin, own_end) = _find_blocks(lines, table)[number - 1 : number + 1]
        before, own = "".join(lines[begin:end]), "".join(lines[own_begin:own_end])
        gap = before[len(before.rstrip()) :] or "\n"
        tail = own[len(own.rstrip()) :] or "\n"
        swapped = [own.rstrip() + gap, *lines[end:own_begin], before.rstrip() + tail]
        return lines[:begin] + swapped + lines[own_end:]

    def swap(entries: list[Any]) -> None:
        entries.insert(number - 1, entries.pop(number))

    return _edit_entries(text, table, edit, swap)


def _edit_entries(
    text: str,
    table: str,
    edit: Callable[[list[str]], list[str]],
    change: Callable[[list[Any]], object],
) -> str:
    """Return the edited text, after checking that only its array of tables changed, as wanted."""

    def change_study(study: dict[str, Any]) -> None:
        entries = study.setdefault(table, [])
        change(entries)
        if not entries:
            del study[table]

    return _edit(text, f"[[{table}]]", edit, change_study)


def _edit(
    text: str,
    edited_part: str,
    edit: Callable[[list[str]], list[str]],
    change: Callable[[dict[str, Any]], object],
) -> str:
    """Return the edited text, after checking that only the wanted change was made."""
    newline = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    try:
        wanted = copy.deepcopy(read_toml(text))
        change(wanted)
        edited = "".join(edit(text.splitlines(keepends=True)))
        if tomllib.loads(edited) == wanted:
            return edited.replace("\n", newline)
    except (ValueError, IndexError, AttributeError, RecursionError):
        pass
    raise StudyError(
        f"the form cannot change {edited_part}, because of how the text is written",
        where=STUDY_FILE,
        expected="the name of each table on a line of its own, and its keys on the lines below",
        remedy="Change it in the text",
    )


def _find_blocks(lines: list[str], table: str, opens: str = "[[") -> list[tuple[int, int]]:
    """Return the first line of each such table, with the comment above it, and the line after."""
    headers = [part for part in _list_parts(lines, 0, len(lines)) if part.opens]
    begins = [_find_comment(lines, part.begin) for part in headers]
    blocks = []
    for number, part in enumerate(headers):
        if (part.opens, part.name) != (opens, table):
            continue
        following = (
            begin
            for header, begin in zip(headers[number + 1 :], begins[number + 1 :], strict=True)
            if not header.name.startswith(f"{table}.")
        )
        blocks.append((begins[number], next(following, len(lines))))
    return blocks


def _find_comment(lines: list[str], header: int) -> int:
    """Return the first line of the comment right above a header, or the header's."""
    while header and lines[header - 1].lstrip().startswith("#"):
        header -= 1
    return header


def _list_parts(lines: list[str], begin: int, end: int) -> Iterator[_LineRange]:
    """Yield the headers and keys between two lines.

    Raises:
        ValueError: A key's value cannot be followed.
    """
    line = begin
    while line < end:
        text = lines[line].strip()
        if not text or text.startswith("#"):
            line += 1
        elif header := _HEADER_PATTERN.match(lines[line].rstrip("\n")):
            yield _LineRange(line, line + 1, header[2], header[1])
            line += 1
        else:
            after = _find_end(lines, line, end)
            key = _KEY_PATTERN.match(lines[line])
            yield _LineRange(line, after, key[1] if key else "")
            line = after


def _find_end(lines: list[str], begin: int, end: int) -> int:
    """Return the line after a key's value."""
    written = ""
    for line in range(begin, min(end, begin + _MOST_LINES)):
        written += lines[line]
        if len(written) > _LONGEST:
            break
        try:
            tomllib.loads(written)
        except ValueError:
            continue
        return line + 1
    raise ValueError(lines[begin])


def _replace_value(old: str, value: object) -> str:
    """Return the lines of a key with another value; a comment after the value stays."""
    key = _KEY_PATTERN.match(old)
    if key is None or ("\n" in old.rstrip("\n") and "#" in old):
        raise ValueError(old)  # a comment between the lines of a value would be lost
    written, comment = old[key.end() :].rstrip("\n"), ""
    if "\n" not in written:
        value_text = _VALUE_PATTERN.match(written)
        comment = written[len(value_text[0].rstrip()) :] if value_text else ""
    return f"{key[0]}{write_value(value)}{comment}\n"


def _write_line(key: str, value: object) -> str:
    return f"{key} = {write_value(value)}\n"


def write_value(value: object) -> str:
    """Return a value as TOML, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        pairs = (
            f"{_write_key(key)} = {write_value(value_of_key)}"
            for key, value_of_key in value.items()
        )
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(write_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _write_key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else json.dumps(key, ensure_ascii=False)
