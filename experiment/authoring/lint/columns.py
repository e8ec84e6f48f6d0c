"""Columns that say something else than was meant: kinds, lists, names of levels."""

import math
from collections import Counter
from collections.abc import Iterator

from experiment.authoring.derive import given_column
from experiment.authoring.lint.materials import Fault, Materials
from experiment.materials.formats.columns import NAMES, key_of, misspelt_kinds
from experiment.materials.formats.dealing import LIST_COLUMNS
from experiment.records import Item

# A name that so few items have, beside a like one, is a slip.
_RARE = 0.25
_FEWEST_LETTERS = 4
_FEWEST_LISTS = 2
# A column with more words than that is none of numbers.
_FEW_WORDS, _FEWEST_NUMBERS = 0.25, 8


def kinds(materials: Materials) -> Iterator[Fault]:
    """Yield a column of kinds that was not read as one because of a word that is none."""
    for column in dict.fromkeys(name for item in materials.items for name, _ in item.extra):
        if key_of(column.removeprefix("own_")) not in NAMES["kind"]:
            continue
        said = {item.item_id: dict(item.extra).get(column, "") for item in materials.items}
        meant = misspelt_kinds(said.values())
        if not meant:
            continue
        items = tuple(item for item in materials.items if said[item.item_id].lower() in meant)
        word = said[items[0].item_id]
        near = meant[word.lower()]
        header = column.removeprefix("own_")
        yield Fault(
            "a kind that is none",
            items,
            f'has "{word}" in the column "{header}", which is no kind; so the whole column was '
            "taken for one of your own, and all fillers and catch trials became targets",
            (f'Write "{near}"' if near else "Write target, filler or catch")
            + " and make the study again, or give a column that does not say the kind another name",
            fatal=True,
        )


def lists(materials: Materials) -> Iterator[Fault]:
    """Yield a column of lists that the design does not read, because of a fault in it."""
    read = materials.dealt_by
    column, notes = given_column(materials.items)
    if column or not notes or any(name in read for name in _list_columns(materials)):
        return
    # A column of that name with as many values as items is a running number.
    for note in notes:
        yield Fault(
            "lists that are not read",
            (),
            f"{note[:-1]}; Parallax dealt the items otherwise",
            "Correct the column and make the study again, or give it another name where it does "
            "not say who sees what",
        )


def _list_columns(materials: Materials) -> set[str]:
    return {
        name for item in materials.items for name, _ in item.extra if key_of(name) in LIST_COLUMNS
    }


def names(materials: Materials) -> Iterator[Fault]:
    """Yield a construction or condition that is another one's name with a slip."""
    yield from _alike(materials, "construction", Counter(i.construction for i in materials.items))
    of: dict[str, Counter[str]] = {}
    for item in materials.items:
        of.setdefault(item.construction, Counter())[item.condition] += 1
    for counted in of.values():
        yield from _alike(materials, "condition", counted)
    for column in dict.fromkeys(name for item in materials.items for name, _ in item.extra):
        counted = Counter(dict(item.extra).get(column, "") for item in materials.items)
        if 1 < len(counted) <= len(materials.items) / 4:
            yield from _alike(materials, column, counted)


def numbers(materials: Materials) -> Iterator[Fault]:
    """Yield what is no number in a column of one's own that has numbers nearly everywhere."""
    for column in dict.fromkeys(name for item in materials.items for name, _ in item.extra):
        said = {item.item_id: dict(item.extra).get(column, "") for item in materials.items}
        filled = [item for item in materials.items if said[item.item_id]]
        others = tuple(item for item in filled if not _is_number(said[item.item_id]))
        if not others or len(others) > _FEW_WORDS * len(filled) or len(filled) < _FEWEST_NUMBERS:
            continue
        yield Fault(
            "no number among numbers",
            others,
            f'has "{said[others[0].item_id]}" in the column "{column.removeprefix("own_")}", where '
            f"{len(filled) - len(others)} items have a number: the analysis reads the whole column "
            "as words",
            "Write a number with a point before its decimals, or leave the cell empty",
        )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _alike(materials: Materials, what: str, counted: Counter[str]) -> Iterator[Fault]:
    common = dict(counted.most_common())
    for name, number in common.items():
        for other, others in common.items():
            if number <= _RARE * others and name != other and _is_slip(name, other):
                items = tuple(item for item in materials.items if _value(item, what) == name)
                yield Fault(
                    "a name with a slip",
                    items,
                    f'has the {what} "{name}", as {number} item(s) have; {others} have "{other}"',
                    f'Write "{other}", where that was meant',
                )


def _value(item: Item, what: str) -> str:
    if what == "construction":
        return item.construction
    return item.condition if what == "condition" else dict(item.extra).get(what, "")


def _is_slip(name: str, other: str) -> bool:
    """Return whether two names differ in case and spaces, or in one letter."""
    if not name or not other:
        return False
    if key_of(name) == key_of(other) or key_of(name).strip("_.") == key_of(other).strip("_."):
        return True
    if min(len(name), len(other)) < _FEWEST_LETTERS or name.isdigit() or other.isdigit():
        return False
    return _one_apart(name.lower(), other.lower())


def _one_apart(one: str, other: str) -> bool:
    """Return whether one letter was left out, added, changed or exchanged with its neighbour."""
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        changed = short[at + 1 :] == long[at + 1 :]
        swapped = (
            short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
        )
        digits = (short[at : at + 1] + long[at : at + 1]).isdigit()
        return (changed or swapped) and not digits
    return short[at:] == long[at + 1 :] and not long[at].isdigit()
