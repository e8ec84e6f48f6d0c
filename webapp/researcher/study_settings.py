"""The most used settings of a study as a form; the text of study.toml stays the only source.

A form changes single values in the text, so that comments and everything else stay as they are.
"""

import copy
import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from experiment.errors import ParallaxError, StudyError
from experiment.money import DEFAULT_CURRENCY, in_words, minor_units
from experiment.studies.study import STUDY_FILE
from experiment.untrusted import read_toml

Value = str | int | float
_LONGEST, _LONGEST_LINE = 500, 1_000
# Control characters, separators of lines and paragraphs, halves of characters.
_NO_LINE = ("Cc", "Zl", "Zp", "Cs")
_MOST_PLACES = 100_000
# The table of pay, which studies have whose participants a platform pays.
_PAY = "recruitment"


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of the form for a study's settings.

    Attributes:
        table: The table of study.toml.
        key: The key in it.
        label: The label of the field.
        read: Returns the value of a typed text; raises ValueError.
        expected: What can be typed, in words.
    """

    table: str
    key: str
    label: str
    read: Callable[[str], Value]
    expected: str

    @property
    def name(self) -> str:
        """The name of the form's field."""
        return f"{self.table}.{self.key}"


def _read_line(typed: str) -> str:
    if len(typed) > _LONGEST or any(
        unicodedata.category(character) in _NO_LINE for character in typed
    ):
        raise ValueError(typed)
    return typed


def _read_places(typed: str) -> int:
    if not (typed.isascii() and typed.isdigit() and len(typed) <= len(str(_MOST_PLACES))):
        raise ValueError(typed)
    if not 1 <= int(typed) <= _MOST_PLACES:
        raise ValueError(typed)
    return int(typed)


def _read_minutes(typed: str) -> int | float:
    if not re.fullmatch(r"\d{1,5}(\.\d{1,2})?", typed, re.ASCII) or float(typed) == 0:
        raise ValueError(typed)
    return float(typed) if "." in typed else int(typed)


def _read_amount(typed: str) -> str:
    if not re.fullmatch(r"\d{1,9}(\.\d{1,3})?", typed, re.ASCII):
        raise ValueError(typed)
    return typed


_ONE_LINE = f"one line of at most {_LONGEST} characters"
SETTINGS = (
    Setting("study", "title", "Title that participants see", _read_line, _ONE_LINE),
    Setting("study", "contact", "Whom participants can write to: name and address", _read_line,
            _ONE_LINE),
    Setting("study", "institution", "Institution responsible for the study", _read_line,
            _ONE_LINE),
    Setting("study", "ethics", "Reference of the ethics committee, or why there is none",
            _read_line, _ONE_LINE),
    Setting("design", "participants_per_list", "Places in each list", _read_places,
            f"from 1 to {_MOST_PLACES:,} places"),
    Setting("recruitment", "description", "What there is to do, as the platform's list says it",
            _read_line, _ONE_LINE),
    Setting("recruitment", "reward", "Pay of everybody who finishes", _read_amount,
            "an amount such as 1.50"),
    Setting("recruitment", "median_minutes", "Minutes that it takes at the median", _read_minutes,
            "a number above 0, such as 12.5"),
)  # fmt: skip


def read_settings(text: str) -> dict[str, str] | None:
    """Return the values of the form's fields by name; None for a text that cannot be read.

    Settings whose table is missing are left out, except those of pay, whose table a form adds.
    """
    try:
        study = read_toml(text)
    except (ValueError, RecursionError):
        return None
    study.setdefault(_PAY, {})
    return {
        setting.name: str(study[setting.table].get(setting.key, ""))
        for setting in SETTINGS
        if isinstance(study.get(setting.table), dict)
    }


def describe_hourly_pay(text: str) -> str:
    """Return the hourly pay at the median time in words; empty if the study sets none."""
    try:
        study = read_toml(text)
        terms = study["recruitment"]
        currency = study.get("payment", {}).get("currency", DEFAULT_CURRENCY)
        reward_minor = minor_units(str(terms["reward"]), currency)
        hourly_minor = round(reward_minor * 60 / float(terms["median_minutes"]))
        return in_words(hourly_minor, currency)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return ""
    except ParallaxError:
        return ""


def change_settings(text: str, typed: Mapping[str, str]) -> str:
    """Return the text of study.toml with the typed values; unchanged values stay untouched.

    Args:
        text: The text of study.toml.
        typed: The typed texts, by the name of the field.

    Raises:
        StudyError: A value is not valid, or the text cannot be changed by a form.
    """
    present = read_settings(text) or {}
    of_pay = [
        known_setting
        for known_setting in SETTINGS
        if known_setting.table == _PAY and known_setting.name in typed
    ]
    left_empty = [
        known_setting for known_setting in of_pay if not typed[known_setting.name].strip()
    ]
    if 0 < len(left_empty) < len(of_pay):
        raise StudyError(
            f'"{left_empty[0].label}" is empty, but other fields about pay are not',
            where=f"{STUDY_FILE}, {_PAY}",
            expected="all of them, or none for a study that pays nobody",
            remedy="The text is as it was",
        )
    for setting in SETTINGS:
        if setting.name not in present or setting.name not in typed:
            continue
        value = typed[setting.name].strip()
        if value == present[setting.name].strip():
            continue
        try:
            text = set_toml_value(text, setting.table, setting.key, setting.read(value))
        except ValueError as error:
            raise StudyError(
                f'"{value[:_LONGEST]}" cannot be the value of "{setting.label}"',
                where=f"{STUDY_FILE}, {setting.table}, {setting.key}",
                expected=setting.expected,
                remedy="The text is as it was",
            ) from error
    return text


def set_toml_value(text: str, table: str, key: str, value: Value) -> str:
    """Return a TOML text in which one value of a table is set, and nothing else is changed.

    Raises:
        StudyError: The value is written in a way that cannot be replaced, e.g. over several lines.
    """
    expected = copy.deepcopy(read_toml(text))
    expected.setdefault(table, {})[key] = value
    toml_value = json.dumps(value, ensure_ascii=False)
    lines = text.splitlines(keepends=True)
    for changed in _list_changed_texts(lines, table, key, toml_value):
        try:
            if tomllib.loads(changed) == expected:
                return changed
        except ValueError:
            continue
    raise StudyError(
        f'the form cannot change "{key}", because of how the text is written',
        where=f"{STUDY_FILE}, [{table}]",
        expected=f"[{table}] on a line of its own, and the value on the line of its key",
        remedy="Change it in the text",
    )


def _list_changed_texts(lines: list[str], table: str, key: str, toml_value: str) -> Iterator[str]:
    """Yield texts in which the key's value is replaced or the key is added, to be verified."""
    header = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\]\s*(#.*)?$")
    value = re.compile(rf"(\s*{re.escape(key)}\s*=\s*)(.*?)(\s*)$", re.DOTALL)
    headers = [number for number, line in enumerate(lines) if header.match(line.rstrip("\r\n"))]
    for begin in headers:
        for number in range(begin + 1, len(lines)):
            if lines[number].lstrip().startswith("["):
                break
            # Searching a line takes time that is quadratic in its length.
            match = value.match(lines[number]) if len(lines[number]) <= _LONGEST_LINE else None
            if match is None:
                continue
            indentation, old, end = match.groups()
            changed = f"{indentation}{toml_value}{old[find_value_end(old) :]}{end}"
            yield "".join((*lines[:number], changed, *lines[number + 1 :]))
        line_end = "\r\n" if lines[begin].endswith("\r\n") else "\n"
        head = lines[begin].rstrip("\r\n") + line_end
        added = f"{key} = {toml_value}{line_end}"
        yield "".join((*lines[:begin], head, added, *lines[begin + 1 :]))
    yield f"{''.join(lines).rstrip()}\n\n[{table}]\n{key} = {toml_value}\n"


def find_value_end(line: str) -> int:
    """Return where a value ends and the comment after it begins; a text may hold a ``#``, too."""
    for comment in re.finditer(r"\s*#", line):
        try:
            tomllib.loads(f"value = {line[: comment.start()]}")
        except ValueError:
            continue
        return comment.start()
    return len(line)
