"""The most used settings of a study as a form; the text of study.toml stays the only source.

A form changes single values in the text, so that comments and everything else stay as they are.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from experiment.errors import ParallaxError, StudyError
from experiment.money import DEFAULT_CURRENCY, in_words, minor_units
from experiment.studies.study import STUDY_FILE
from experiment.untrusted import read_toml
from webapp.researcher.toml_edits import set_value

Value = str | int | float
_LONGEST_LINE = 500
# Control characters, separators of lines and paragraphs, halves of characters.
_LINE_BREAKS = ("Cc", "Zl", "Zp", "Cs")
_MOST_PLACES = 100_000
# The table of pay, which studies have whose participants a platform pays.
_PAY_TABLE = "recruitment"


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
    if len(typed) > _LONGEST_LINE or any(
        unicodedata.category(character) in _LINE_BREAKS for character in typed
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


_ONE_LINE = f"one line of at most {_LONGEST_LINE} characters"
SETTING_FIELDS = (
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
    study.setdefault(_PAY_TABLE, {})
    return {
        setting.name: str(study[setting.table].get(setting.key, ""))
        for setting in SETTING_FIELDS
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
    """Return the text of study.toml with the entered values; unchanged values keep their notation.

    Args:
        text: The text of study.toml.
        typed: The typed texts, by the name of the field.

    Raises:
        StudyError: A value is not valid, or the text cannot be changed by a form.
    """
    present = read_settings(text) or {}
    of_pay = [
        known_setting
        for known_setting in SETTING_FIELDS
        if known_setting.table == _PAY_TABLE and known_setting.name in typed
    ]
    left_empty = [
        known_setting for known_setting in of_pay if not typed[known_setting.name].strip()
    ]
    if 0 < len(left_empty) < len(of_pay):
        raise StudyError(
            f'"{left_empty[0].label}" is empty, but other fields about pay are not',
            where=f"{STUDY_FILE}, {_PAY_TABLE}",
            expected="all of them, or none for a study that pays nobody",
            remedy="The text is as it was",
        )
    for setting in SETTING_FIELDS:
        if setting.name not in present or setting.name not in typed:
            continue
        value = typed[setting.name].strip()
        if value == present[setting.name].strip():
            continue
        try:
            text = set_value(text, setting.table, setting.key, setting.read(value))
        except ValueError as error:
            raise StudyError(
                f'"{value[:_LONGEST_LINE]}" cannot be the value of "{setting.label}"',
                where=f"{STUDY_FILE}, {setting.table}, {setting.key}",
                expected=setting.expected,
                remedy="The text is as it was",
            ) from error
    return text
