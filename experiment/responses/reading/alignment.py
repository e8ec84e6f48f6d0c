"""The critical region of a sentence, and whether the regions of two conditions correspond."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Protocol

from experiment.errors import StudyError
from experiment.records import Item, Variant
from experiment.responses.reading.division import Step, flaw

# The headers by which a new study finds the critical region in a table.
CRITICAL_NAMES = ("critical", "critical_word", "critical_region")
_NUMBER = re.compile(r"([0-9]+)(\.0+)?")
_MARKS = re.compile(r"^\W+|\W+$")
_CRITICAL_REMEDY = (
    "Give each item's critical word or region, as a number or as its text, in a column called "
    '"critical"; or name another column in [trial.parameters]: critical = "HEADER"'
)


@dataclass(frozen=True, slots=True)
class Regions:
    """The regions of one version of an item.

    Attributes:
        texts: The regions' texts, without marks around them, in lower case.
        critical: The places of the first and the last critical region; None if none is named.
    """

    texts: tuple[str, ...]
    critical: tuple[int, int] | None

    def relative(self, region: int) -> int | None:
        """Return a region's place relative to the critical one, from its number from 1."""
        if self.critical is None:
            return None
        first, last = self.critical
        index = region - 1
        return index - first if index < first else max(index - last, 0)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an item, with its regions."""

    item: Item
    version: str
    regions: Regions

    @property
    def cell(self) -> str:
        """The condition, and the version if it is not the good one."""
        version_note = "" if self.version == Variant.GOOD else f", {self.version}"
        return f"{self.item.condition}{version_note}"


class HasRegions(Protocol):
    """A type of response that divides the versions of items into regions."""

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the versions that may be shown."""

    def regions(self, item: Item, version: str) -> Regions:
        """Return the regions of a version."""


def regions_of(
    item: Item, version: str, steps: Sequence[Step], column: str, n_context: int
) -> Regions:
    """Return the regions of a version, and which of them is critical.

    Args:
        item: The item.
        version: The version.
        steps: The version's steps.
        column: The column that names the critical region; empty if none does.
        n_context: How many of the regions belong to the context.

    Raises:
        StudyError: The column names no region, or several.
    """
    words: dict[int, list[str]] = {}
    for step in steps:
        words.setdefault(step.region, []).extend(step.text.split())
    texts = tuple(" ".join(filter(None, map(normalise_word, parts))) for parts in words.values())
    columns = dict(item.extra)
    value = columns.get(column, "") if column else ""
    if column and version != Variant.GOOD:
        value = columns.get(f"{version}_{column}", "") or value
    value = " ".join(value.split())
    if not value:
        return Regions(texts, None)
    sentence_words = list(words.values())[n_context:]
    if number := _NUMBER.fullmatch(value):
        index = int(number[1]) - 1
        if not 0 <= index < len(sentence_words):
            raise _make_no_region_error(
                item, column, f"region {value}, and the sentence has {len(sentence_words)}"
            )
        return Regions(texts, (n_context + index, n_context + index))
    first, last = _find_words(item, column, value, sentence_words)
    return Regions(texts, (n_context + first, n_context + last))


def _find_words(
    item: Item, column: str, text: str, regions: Sequence[list[str]]
) -> tuple[int, int]:
    """Return the places of the first and last region in which a text occurs, exactly once."""
    words = [
        (normalise_word(word), index)
        for index, parts in enumerate(regions)
        for word in parts
        if normalise_word(word)
    ]
    wanted_words = [normalise_word(word) for word in text.split() if normalise_word(word)]
    n = len(wanted_words)
    matches = [
        (words[at][1], words[at + n - 1][1])
        for at in range(len(words) - n + 1)
        if n and [word for word, _ in words[at : at + n]] == wanted_words
    ]
    if len(matches) != 1:
        times = f"{len(matches)} times" if matches else "not"
        sentence = " ".join(word for parts in regions for word in parts)
        raise _make_no_region_error(item, column, f'"{text}", which occurs {times} in "{sentence}"')
    return matches[0]


def _make_no_region_error(item: Item, column: str, problem: str) -> StudyError:
    return flaw(
        item,
        f'the column "{column}" names the critical region {problem}',
        "the number of a word or region of the sentence, from 1 and without the context, or a "
        "text that occurs in it once",
    )


def normalise_word(word: str) -> str:
    """Return a word in lower case, without the marks around it."""
    return _MARKS.sub("", word).casefold()


def find_misaligned(
    response: HasRegions, items: Sequence[Item], column: str
) -> Iterator[tuple[Item, StudyError]]:
    """Yield, for each construction whose conditions do not align, the first item and the fault.

    Regions correspond if every pair of conditions of a frame has as many, with no better match of
    the words at other places; or if a column names the critical ones, and the words from there on
    have no better match at other places.

    Args:
        response: The type of response.
        items: The items that are read with it.
        column: The column that names the critical region; empty if none does.
    """
    constructions: dict[str, list[Version]] = {}
    for item in items:
        for version in response.versions(item):
            read = Version(item, version, response.regions(item, version))
            constructions.setdefault(item.construction, []).append(read)
    for name, versions in constructions.items():
        critical = [read for read in versions if read.regions.critical]
        without = [read for read in versions if not read.regions.critical]
        if critical and without:
            item = without[0].item
            yield (
                item,
                flaw(
                    item,
                    f'the column "{column}" is empty, but other items of the construction "{name}" '
                    "name a critical region in it",
                    "a critical region in all items of a construction, or in none",
                ),
            )
        elif fault := _find_fault(name, versions):
            yield fault


def _find_fault(construction: str, versions: Sequence[Version]) -> tuple[Item, StudyError] | None:
    frames: dict[tuple[str, str], list[Version]] = {}
    for read in versions:
        key = (read.item.template, read.item.frame or read.item.item_id)
        frames.setdefault(key, []).append(read)
    faults = [
        (first, second, problem)
        for reads in frames.values()
        for first, second in combinations(reads, 2)
        if first.cell != second.cell
        and (problem := _find_difference(first.regions, second.regions))
    ]
    is_crossed = any(len({read.cell for read in reads}) > 1 for reads in frames.values())
    if not is_crossed:
        # No frame is read in two conditions: only the numbers of regions can be compared.
        faults = [
            (versions[0], read, "number")
            for read in versions
            if read.cell != versions[0].cell
            and not read.regions.critical
            and len(read.regions.texts) != len(versions[0].regions.texts)
        ]
    if not faults:
        return None
    first, second, problem = faults[0]
    n_frames = len({(read.item.template, read.item.frame) for _, read, _ in faults})
    count_note = f" (and {n_frames - 1} more items)" if n_frames > 1 else ""
    frame_note = "" if not is_crossed else " of the same frame"
    if problem == "number":
        detail = (
            f"its {second.version} version has {len(second.regions.texts)} regions, and the "
            f'item "{first.item.item_id}"{frame_note} has {len(first.regions.texts)}'
        )
    else:
        detail = (
            f'"{_list_words(second)}" against "{_list_words(first)}" of "{first.item.item_id}" has '
            "the same words at other places"
        )
    critical = second.regions.critical is not None
    return second.item, flaw(
        second.item,
        f'the conditions "{first.cell}" and "{second.cell}" of the construction "{construction}" '
        f"do not align: {detail}{count_note}",
        "regions that correspond in all conditions of a frame, because they are compared "
        "region by region",
        "Correct the critical region of one of them" if critical else _CRITICAL_REMEDY,
    )


def _list_words(read: Version) -> str:
    if read.regions.critical is None:
        return " ".join(read.regions.texts)
    return " ".join(read.regions.texts[read.regions.critical[0] :])


def _find_difference(first: Regions, second: Regions) -> str:
    """Return ``number`` or ``texts`` if the regions do not correspond; empty if they do."""
    if first.critical and second.critical:
        return "" if _critical_regions_correspond(first, second) else "texts"
    if len(first.texts) != len(second.texts):
        return "number"
    return "" if _places_correspond(first.texts, second.texts) else "texts"


def _critical_regions_correspond(first: Regions, second: Regions) -> bool:
    """Return whether both sentences go on alike from their critical regions, and nowhere better."""
    assert first.critical and second.critical
    (begin, last), (other_begin, other_last) = first.critical, second.critical
    text = first.texts[begin : last + 1]
    is_unique = not any(
        first.texts.count(word) > 1 or second.texts.count(word) > 1 for word in text
    )
    if text == second.texts[other_begin : other_last + 1] and is_unique:
        return True
    n = min(len(first.texts) - last, len(second.texts) - other_last)
    span = max(len(first.texts), len(second.texts))
    best = max(
        max(
            _count_same_words(first.texts[last:], second.texts, other_last + shift),
            _count_same_words(second.texts[other_last:], first.texts, last + shift),
        )
        for shift in range(-span, span + 1)
        if shift
    )
    return best <= _count_same_words(first.texts[last:], second.texts, other_last) or 2 * best <= n


def _count_same_words(words: Sequence[str], other_words: Sequence[str], begin: int) -> int:
    """Return how many words are the same in another sentence, from one of its places on."""
    return sum(
        0 <= begin + step < len(other_words) and word == other_words[begin + step]
        for step, word in enumerate(words)
    )


def _places_correspond(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether no stretch of words is shifted in the second sentence.

    The same words in another order are a manipulation and not a shift, if they make at most half
    of the sentence, and the words around them have the same positions.
    """
    pairs = list(zip(first, second, strict=True))
    for is_same, group in groupby(pairs, key=lambda pair: pair[0] == pair[1]):
        places_a, places_b = zip(*group, strict=True)
        if is_same or not _longest_common(places_a, places_b):
            continue
        if sorted(places_a) != sorted(places_b) or 2 * len(places_a) > len(first):
            return False
    return True


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for a in first:
        diagonal = 0
        for index, b in enumerate(second, start=1):
            diagonal, row[index] = (
                row[index],
                diagonal + 1 if a == b else max(row[index], row[index - 1]),
            )
    return row[-1]


def proposed_alignment(items: Sequence[Item]) -> dict[str, object]:
    """Return the parameters that a new study takes from the columns of its items."""
    parameters: dict[str, object] = {}
    names = [name for name, _ in items[0].extra if name.lower() in CRITICAL_NAMES]
    if names:
        parameters["critical"] = names[0]
    if any(item.context for item in items):
        parameters["context"] = "whole"
    return parameters
