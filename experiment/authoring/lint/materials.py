"""The input and the output of lints."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from experiment.records import Item

# Sentence-final punctuation in the scripts of the ten message catalogues, and a few more.
END_MARKS = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
_QUOTES = "\"\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019\u201a\u2039\u203a'"


@dataclass(frozen=True, slots=True)
class Fault:
    """An oddity of some items.

    Attributes:
        name: The lint that found the fault.
        items: The items, of which the message shows the first; empty if the fault concerns all.
        problem: The description of the fault.
        remedy: The suggested correction.
        fatal: Whether the fault prevents a launch.
    """

    name: str
    items: tuple[Item, ...]
    problem: str
    remedy: str
    fatal: bool = False


@dataclass(slots=True)
class Materials:
    """A study's items, as lints read them.

    Attributes:
        items: The items.
        language: The study's language (BCP 47).
        against: The versions other than good; empty for each item's own alternative.
        items_by_list: The items of each list, if the lists could be built.
        design_columns: The items' columns that the design reads.
    """

    items: Sequence[Item]
    language: str
    against: tuple[str, ...] = ()
    items_by_list: Sequence[Sequence[Item]] = ()
    design_columns: frozenset[str] = frozenset()
    _versions: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the texts of an item's versions, the good one first."""
        if item.item_id not in self._versions:
            others = map(item.version, self.against) if self.against else (item.alternative,)
            texts = (item.good, *others)
            self._versions[item.item_id] = tuple(text for text in texts if text)
        return self._versions[item.item_id]

    @property
    def paired(self) -> list[Item]:
        """The items that have another version besides the good one."""
        return [item for item in self.items if len(self.versions(item)) > 1]

    def groups(self, by: Callable[[Item], object]) -> Mapping[object, list[Item]]:
        """Return the items with several versions, grouped by a key."""
        by_key: dict[object, list[Item]] = {}
        for item in self.paired:
            by_key.setdefault(by(item), []).append(item)
        return by_key


Lint = Callable[[Materials], Iterator[Fault]]


def is_whole(item: Item) -> bool:
    """Return whether an item's texts are whole sentences rather than continuations of a context."""
    return not item.context


def words(text: str) -> list[str]:
    """Return the words of a text, case-folded and without surrounding punctuation."""
    parts = (part.strip(f"{END_MARKS}{_QUOTES},;:()[]") for part in text.casefold().split())
    return [part for part in parts if part]


def normalise(text: str) -> str:
    """Return a text without invisible differences, such as composed letters or kinds of spaces."""
    composed = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2018", "'")
    shown = (c for c in composed if unicodedata.category(c) != "Cf")
    return " ".join("".join(shown).split())


def letters(text: str) -> str:
    """Return a text's letters, marks and digits, case-folded, with single spaces."""
    cleaned = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in normalise(text))
    return " ".join(cleaned.casefold().split())


def end_mark(text: str) -> str:
    """Return a text's final punctuation mark, inside or outside quotation marks; empty if none."""
    end = text.rstrip(f"{_QUOTES})] ")[-1:]
    return end if end and end in END_MARKS else ""
