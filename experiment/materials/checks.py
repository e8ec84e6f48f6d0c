"""Checks of any set of items, whatever their source."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from experiment.records import Item
from experiment.tables.schemas import ITEMS

_COLUMNS = attrgetter(*ITEMS.column_names)


class Result(StrEnum):
    """The outcome of a check."""

    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        check: The property that was checked.
        result: Whether the property holds; a warning needs a person's judgment.
        found: The figures, with the first item that fails.
    """

    check: str
    result: Result
    found: str


def check_items(items: Iterable[Item], *, alone: bool = False) -> list[Finding]:
    """Return one finding per check, in one pass over the items.

    Args:
        items: The items; iterated once.
        alone: Whether an item may have only a good version, as for ratings.
    """
    checks = (
        _ItemCount(),
        _EachItem("item ids are unique", _RepeatedIds()),
        _EachItem("the versions of an item differ", _find_item_fault if alone else _version_fault),
        _ConditionBalance(),
        _EachItem("no stray white space", _white_space_fault),
        _ScriptCheck(),
    )
    for item in items:
        for check in checks:
            check.see(item)
    return [check.finding() for check in checks]


@dataclass(slots=True)
class _ItemCount:
    """Checks that there is at least one item."""

    number: int = 0

    def see(self, _item: Item) -> None:
        self.number += 1

    def finding(self) -> Finding:
        result = Result.PASSED if self.number else Result.FAILED
        return Finding("there are items", result, f"{self.number:,}")


@dataclass(slots=True)
class _EachItem:
    """A check that each item passes or fails independently."""

    check: str
    fault: Callable[[Item], str]
    number: int = 0
    first: str = ""

    def see(self, item: Item) -> None:
        if fault := self.fault(item):
            self.number += 1
            self.first = self.first or f"{item.item_id}: {fault}"

    def finding(self) -> Finding:
        if not self.number:
            return Finding(self.check, Result.PASSED, "in all items")
        return Finding(self.check, Result.FAILED, f"not in {self.number:,}; first {self.first}")


class _RepeatedIds:
    """Reports an item whose id occurred before."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, item: Item) -> str:
        repeated = item.item_id in self._seen
        self._seen.add(item.item_id)
        return "the id occurs twice" if repeated else ""


def _version_fault(item: Item) -> str:
    if not item.good or not item.alternative:
        return f"good or {item.contrast} is empty"
    if item.good in (item.bad, item.distractor):
        return f'two versions are "{item.good}"'
    return ""


def _find_item_fault(item: Item) -> str:
    return _version_fault(item) if item.alternative or not item.good else ""


def _white_space_fault(item: Item) -> str:
    joined_texts = "\0".join(map(str, ("", *_COLUMNS(item), "")))
    if (
        joined_texts == " ".join(joined_texts.split())
        and "\0 " not in joined_texts
        and " \0" not in joined_texts
    ):
        # A fast path: most items have no such fault in any column, and there may be a hundred
        # thousand.
        return ""
    for name in ITEMS.column_names:
        text = str(getattr(item, name))
        if text != " ".join(text.split()):
            return f"{name} is {text!r}"
    return ""


@dataclass(slots=True)
class _ConditionBalance:
    """Checks that each template has equally many items in all conditions."""

    numbers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def see(self, item: Item) -> None:
        self.numbers[item.template][item.condition] += 1

    def finding(self) -> Finding:
        check = "conditions are balanced"
        for template, counts in self.numbers.items():
            if len(set(counts.values())) > 1:
                figures = ", ".join(f"{condition}: {n:,}" for condition, n in counts.items())
                return Finding(check, Result.FAILED, f"not in {template} ({figures})")
        conditions = sum(map(len, self.numbers.values()))
        return Finding(check, Result.PASSED, f"{len(self.numbers)} templates, {conditions} cells")


@dataclass(slots=True)
class _ScriptCheck:
    """Checks that sentences contain only letters of one script, apostrophes, hyphens and spaces.

    Letters are those that Unicode defines, so that every language's letters count; a second script
    is usually a look-alike letter, such as a Cyrillic "a" in English.
    """

    first_in: dict[str, str] = field(default_factory=dict)

    def see(self, item: Item) -> None:
        characters = {*item.context, *item.good, *item.bad, *item.distractor}
        for character in characters.difference(self.first_in):
            self.first_in[character] = item.item_id

    def finding(self) -> Finding:
        check = "only letters of one script, apostrophes and hyphens"
        scripts: dict[str, str] = {}
        rare_characters: list[str] = []
        for character in self.first_in:
            category = unicodedata.category(character)[0]
            if category == "L":
                scripts.setdefault(unicodedata.name(character, "unnamed").split()[0], character)
            elif category != "M" and character not in "'\u2019- ":
                rare_characters.append(character)
        if rare_characters:
            characters = ", ".join(
                f"{c!r} (first in {self.first_in[c]})" for c in sorted(rare_characters)
            )
            return Finding(check, Result.WARNING, f"also {characters}")
        if len(scripts) > 1:
            characters = ", ".join(f"{s} ({c!r} in {self.first_in[c]})" for s, c in scripts.items())
            return Finding(check, Result.WARNING, f"several scripts: {characters}")
        return Finding(check, Result.PASSED, f"{len(self.first_in)} different characters")
