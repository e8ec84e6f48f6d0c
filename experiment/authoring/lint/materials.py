"""What a lint reads, and what it reports."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from experiment.records import Item

# Ends of sentences in the scripts of the ten catalogues, and some more.
ENDS = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
_QUOTES = "\"\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019\u201a\u2039\u203a'"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is odd about some items.

    Attributes:
        name: The lint that found it.
        items: The items, the first of which the message shows; empty where it is about all.
        problem: What is odd.
        remedy: What to do.
        fatal: Whether no study can be launched with it.
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
        against: The versions that stand against good; empty for the one that each item names.
        listed: The items of each list, where lists could be built.
        dealt_by: The items' columns that the design reads.
    """

    items: Sequence[Item]
    language: str
    against: tuple[str, ...] = ()
    listed: Sequence[Sequence[Item]] = ()
    dealt_by: frozenset[str] = frozenset()
    _versions: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the texts of an item that stand against each other, the good one first."""
        if item.item_id not in self._versions:
            others = map(item.version, self.against) if self.against else (item.alternative,)
            texts = (item.good, *others)
            self._versions[item.item_id] = tuple(text for text in texts if text)
        return self._versions[item.item_id]

    @property
    def paired(self) -> list[Item]:
        """The items that have a version beside the good one."""
        return [item for item in self.items if len(self.versions(item)) > 1]

    def groups(self, by: Callable[[Item], object]) -> Mapping[object, list[Item]]:
        """Return the items that have two versions, in groups."""
        by_key: dict[object, list[Item]] = {}
        for item in self.paired:
            by_key.setdefault(by(item), []).append(item)
        return by_key


Lint = Callable[[Materials], Iterator[Fault]]


def is_whole(item: Item) -> bool:
    """Return whether an item's texts are whole sentences, not continuations of a context."""
    return not item.context


def words(text: str) -> list[str]:
    """Return the words of a text without case and without punctuation around them."""
    parts = (part.strip(f"{ENDS}{_QUOTES},;:()[]") for part in text.casefold().split())
    return [part for part in parts if part]


def plain(text: str) -> str:
    """Return a text without what nobody sees: the form of composed letters, kinds of spaces."""
    composed = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2018", "'")
    shown = (c for c in composed if unicodedata.category(c) != "Cf")
    return " ".join("".join(shown).split())


def letters(text: str) -> str:
    """Return a text's letters, marks and digits in one case, with single spaces."""
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in plain(text))
    return " ".join(kept.casefold().split())


def ending(text: str) -> str:
    """Return the sign that ends a text, inside or outside of quotation marks; empty for none."""
    end = text.rstrip(f"{_QUOTES})] ")[-1:]
    return end if end and end in ENDS else ""
