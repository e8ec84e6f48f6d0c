"""Match source texts and choices to items' texts, without ever merging two options."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from experiment.materials.formats.options import find_further_options
from experiment.records import Item, Variant

_MARKS = re.compile(r"[\s.!?\u3002\uff01\uff1f]+$")
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def comparable_text(text: str) -> str:
    """Return a text normalised for comparison: case, spaces and final punctuation are ignored."""
    return _MARKS.sub("", normalise_text(text).translate(_QUOTES).casefold())


def comparable_cells(cells: "pd.Series[str]") -> "pd.Series[str]":
    """Return cells normalised for comparison; a text that recurs is normalised once."""
    codes, texts = pd.factorize(cells)
    return pd.Series(texts.map(comparable_text).take(codes), cells.index)


def find_distinct_pairs(
    left: "pd.Series[str]", right: "pd.Series[str]"
) -> tuple[NDArray[np.intp], list[tuple[str, str]]]:
    """Return the index of each row's pair of cells, and the distinct pairs."""
    left_codes, left_texts = pd.factorize(left)
    right_codes, right_texts = pd.factorize(right)
    of_row, codes = pd.factorize(left_codes * len(right_texts) + right_codes)
    places = zip(*np.divmod(codes, max(1, len(right_texts))), strict=True)
    return of_row, [(str(left_texts[one]), str(right_texts[other])) for one, other in places]


def normalise_text(text: str) -> str:
    """Return a text with normalised white space and Unicode composition."""
    return " ".join(unicodedata.normalize("NFC", str(text)).split())


# From the loosest comparison to the strictest.
_COMPARISONS = (
    comparable_text,
    lambda text: _MARKS.sub("", normalise_text(text).translate(_QUOTES)),
    lambda text: normalise_text(text).translate(_QUOTES).casefold(),
    normalise_text,
)


class Options:
    """An item's options, matched by their texts or by whole sentences with context.

    Case, quotation marks and final punctuation matter only if two options differ in nothing else.

    Attributes:
        written: The texts of the good option and of the one compared with it.
        texts: The texts of all options.
        alike: Whether the two texts of ``written`` are identical.
    """

    def __init__(self, item: Item) -> None:
        self.written = (item.good, item.alternative)
        versions = item.versions(find_further_options(dict(item.extra)))
        self.texts, self._names = tuple(versions.values()), frozenset(versions)
        self.alike = normalise_text(item.good) == normalise_text(item.alternative)
        n_distinct = len(set(map(normalise_text, self.texts)))
        distinguishing = [way for way in _COMPARISONS if len({*map(way, self.texts)}) == n_distinct]
        self._way = distinguishing[0]
        self._found: dict[str, str] = {}
        if not self.alike:
            # Of two further options with one text, the first is meant; the two compared go first.
            first = {Variant.GOOD.value: item.good, item.contrast.value: item.alternative}
            for version, text in (first | versions).items():
                self._found.setdefault(self._way(text), version)
                self._found.setdefault(self._way(item.after_context(text)), version)

    def version(self, text: str) -> str | None:
        """Return the version with this text; None if neither matches."""
        return self._found.get(self._way(text))

    def named_version(self, text: str) -> str | None:
        """Return the version with this name or this text."""
        return text if text in _VERSIONS or text in self._names else self.version(text)


# What joins the ids of items that fit a row equally.
OR_SEPARATOR = " or "


def candidates_by_texts(columns: pd.DataFrame, items: Sequence[Item]) -> list[frozenset[str]]:
    """Return the ids of the items whose options are in the columns of each row.

    Args:
        columns: One column with a text of each item, two with both, or more with all options.
        items: The items.
    """
    ids_by_texts: defaultdict[frozenset[str], set[str]] = defaultdict(set)
    several = columns.shape[1] > _TWO
    for item in items:
        compared = Options(item).texts if several else (item.good, item.alternative)
        for texts in (compared, tuple(map(item.after_context, compared))):
            options = tuple(map(normalise_text, texts))
            for key in [options] if columns.shape[1] > 1 else [(text,) for text in options]:
                for cells in (frozenset(key), frozenset(map(comparable_text, key))):
                    if len(cells) == len(key):
                        ids_by_texts[cells].add(item.item_id)
    distinct = columns.drop_duplicates()
    ids = [_find_items(row, ids_by_texts) for row in distinct.itertuples(index=False, name=None)]
    # Groups have the numbers of their first rows.
    of_row = columns.groupby([*columns], sort=False, dropna=False).ngroup()
    return [ids[group] for group in of_row]


def as_ids(names: "pd.Series[str]", items: Sequence[Item]) -> "pd.Series[str]":
    """Return the items' ids for names that differ in white space alone, or else for numbers.

    Items of a table of one's own are known by their number there.
    """
    ids = {" ".join(item.item_id.split()): item.item_id for item in items}
    if not {" ".join(name.split()) for name in names.unique()} & ids.keys():
        ids = item_numbers(items)
        return names.map(lambda number: ids.get(number, number))
    return names.map(lambda name: ids.get(" ".join(name.split()), name))


def item_numbers(items: Sequence[Item]) -> dict[str, str]:
    """Return the id of each item whose number in its own table no other item has.

    Rows that were only counted are no numbers of items whose ids say others, or none.
    """
    numbers = [item.frame.removeprefix("item=") for item in items]
    counted = numbers == [str(row) for row in range(1, len(items) + 1)]
    if counted and not all(
        number in re.findall(r"\d+", item.item_id)
        for number, item in zip(numbers, items, strict=True)
    ):
        return {}
    occurrences = Counter(numbers)
    return {
        number: item.item_id
        for number, item in zip(numbers, items, strict=True)
        if item.frame.startswith("item=") and occurrences[number] == 1
    }


def _find_items(
    cells: tuple[str, ...], ids_by_texts: dict[frozenset[str], set[str]]
) -> frozenset[str]:
    # Of several options, some items have fewer than others.
    texts = [text for text in cells if text]
    exact, loose = (
        ids_by_texts.get(frozenset(map(way, texts)), set())
        for way in (normalise_text, comparable_text)
    )
    return frozenset(exact or loose) if texts else frozenset()


_VERSIONS = {variant.value for variant in Variant}
_TWO, _LISTED = 2, 5


def resolve_versions(long: pd.DataFrame, items: Sequence[Item], path: Path) -> pd.DataFrame:
    """Return judgments whose ``chosen`` and ``option_first`` are versions.

    A choice is a version's name, the text of one of the two options, or a side (or key, or number);
    the side is the good option's if it equals ``good_side``. If ``option_first`` is known, the
    sides ``first`` and ``second`` need no ``good_side``.

    Args:
        long: Judgments from ``analysis.readers.long_form.to_long``.
        items: The items.
        path: The file of the judgments.

    Raises:
        AnalysisError: A choice matches neither option of its item.
    """
    of_item = {item.item_id: item for item in items}
    texts = {name: Options(item) for name, item in of_item.items()}
    judgments = long
    if "option_first" in judgments:
        judgments = judgments.assign(
            option_first=_versions_in_column(judgments, "option_first", texts, path)
        )
    if "chosen" in judgments:
        judgments = judgments.assign(chosen=_chosen_versions(judgments, of_item, texts, path))
    return judgments.drop(columns="good_side", errors="ignore")


def _chosen_versions(
    rows: pd.DataFrame,
    items: Mapping[str, Item],
    texts: Mapping[str, Options],
    path: Path,
) -> "pd.Series[str]":
    if "good_side" in rows:
        sides = comparable_cells(rows["good_side"])
        chosen = comparable_cells(rows["chosen"])
        _refuse_strange_sides(chosen, sides, path)
        return _versions_from_good(rows["item"], chosen == sides, items)
    if set(rows["chosen"].unique()) <= {"first", "second"} and "option_first" in rows:
        good = (rows["option_first"] == Variant.GOOD) == (rows["chosen"] == "first")
        return _versions_from_good(rows["item"], good, items)
    return _versions_in_column(rows, "chosen", texts, path)


def _versions_from_good(
    item: "pd.Series[str]", good: "pd.Series[bool]", items: Mapping[str, Item]
) -> "pd.Series[str]":
    against = {
        name: items[name].contrast.value if name in items else Variant.GOOD.value
        for name in item.unique()
    }
    return item.map(against).where(~good, Variant.GOOD.value)


def _refuse_strange_sides(chosen: "pd.Series[str]", sides: "pd.Series[str]", path: Path) -> None:
    if len(set(chosen.unique()) | set(sides.unique())) > _TWO:
        raise AnalysisError(
            f"the sides chosen are {_quote_values(chosen)}, the good sides are "
            f"{_quote_values(sides)}",
            where=str(path),
            expected="the same two words in both columns",
            remedy="Translate them below [values.chosen] and [values.good_side] in the mapping",
        )


def _quote_values(values: "pd.Series[str]") -> str:
    distinct_values = sorted(values.unique())
    return ", ".join(f'"{value}"' for value in distinct_values[:_LISTED]) + (
        " and more" if distinct_values[_LISTED:] else ""
    )


def _versions_in_column(
    rows: pd.DataFrame, column: str, texts: Mapping[str, Options], path: Path
) -> "pd.Series[str]":
    """Return the versions that a column names, or whose texts it contains."""
    values = rows[column].fillna("").astype(str)
    if set(values.unique()) <= _VERSIONS | {""}:
        return values
    of_row, pairs = find_distinct_pairs(rows["item"], values)
    versions = []
    for name, text in pairs:
        version = text if text in _VERSIONS else _match_version(texts.get(name), text)
        if version is None:
            _refuse_unmatched_text(text, name, column, texts, path)
        versions.append(str(version))
    return pd.Series(np.array(versions, object)[of_row], rows.index, str)


def _match_version(options: Options | None, text: str) -> str | None:
    return options.version(text) if options else None


def _refuse_unmatched_text(
    value: str, item: str, column: str, texts: Mapping[str, Options], path: Path
) -> None:
    if item in texts and texts[item].alike:
        raise AnalysisError(
            f"both options of the item {item} are the same text, so nobody can tell which was "
            "chosen",
            where=f'{path}, the column "{column}"',
            expected="two options that differ",
            remedy=f'Correct the items, or leave the item out: [drop_trials] item = "{item}"',
        )
    options = " or ".join(f'"{text}"' for text in texts[item].written) if item in texts else ""
    raise AnalysisError(
        f'"{value[:60]}" is not one of the options of the item {item}',
        where=f'{path}, the column "{column}"',
        expected=f'"good" or the version against it, or one of the texts: {options or "unknown"}',
        remedy="Translate the values below [values.chosen] in a mapping file, or, where they are "
        "sides or keys, name the column good_side that says which was the expected one's",
    )
