"""Recognition of a table's columns by the header names in common use."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from experiment.errors import MaterialsError, suggest
from experiment.materials.formats.raw import RawTable
from experiment.materials.formats.words import NAMES, key_of
from experiment.records import Kind

# In a table with a column of sentences, these columns hold answers to a question about each.
_ANSWER_COLUMNS = {"correct", "wrong", "incorrect", "expected", "unexpected", "foil"}

KIND_WORDS = {
    "": Kind.TARGET,
    **dict.fromkeys(("target", "targets", "experimental", "critical", "test", "exp", "item"),
                    Kind.TARGET),
    **dict.fromkeys(("filler", "fillers", "fill", "distractor", "control", "controls"),
                    Kind.FILLER),
    **dict.fromkeys(("catch", "attention", "attention check", "attention_check", "check",
                     "attention-check"),
                    Kind.CATCH),
}  # fmt: skip
# Rows of these kinds are not items: they are shown before the session, and their answers are not
# stored.
PRACTICE_WORDS = {"practice", "training", "warmup", "warm-up", "warm_up", "example", "exercise"}

# Words that say what a row is for in any column; "control" and "test" may also be conditions.
_CERTAIN_WORDS = {"filler", "fillers", "fill", "catch", "attention check", "attention_check",
               "attention-check", "practice", "warmup", "warm-up", "warm_up"}  # fmt: skip
_WORDS_WITHIN = {"filler", "fillers", "practice"}
# Words that name conditions more often than kinds: alone they make no column of kinds.
_AMBIGUOUS_WORDS = {"control", "controls", "test", "item", "check", "distractor", "critical"}

# The columns of the items table that each name fills; all other names fill their own column.
_ITEM_COLUMNS = {"item": ("frame",), "sentence": ("good", "bad"), "version": ("good", "bad")}
_LEAST_SIMILARITY = 0.75

# A column's header in a researcher's table, or the several headers that make up the column.
Header = str | Sequence[str]


def _drop_sentence(key: str) -> str:
    return "_".join(part for part in key.split("_") if part not in ("sentence", "text"))


def find_columns(table: RawTable, named_headers: Mapping[str, str]) -> dict[str, str]:
    """Return the table's header for each Parallax column that the table has.

    Args:
        table: The table.
        named_headers: Headers that the researcher gave for Parallax columns; these take precedence.

    Raises:
        MaterialsError: A given header is not in the table, or maps to no column that Parallax
            knows.
    """
    headers: dict[str, str] = {}
    for column, header in named_headers.items():
        if column not in NAMES:
            raise _make_unknown_column_error(
                f'Parallax has no column "{column}"', column, NAMES, table
            )
        if header not in table.columns:
            raise _make_unknown_column_error(
                f'the table has no header "{header}"', header, table.columns, table
            )
        headers[column] = header
    by_key = {key_of(name): name for name in reversed(table.columns)}
    for column in NAMES:
        _find_column(column, by_key, headers)
    if not {"good", "bad"} & headers.keys():
        # Without the word sentence, as in sentence_grammatical, both headers must be known.
        bare = {_drop_sentence(key): header for key, header in by_key.items()}
        pair = dict(headers)
        for column in ("good", "bad"):
            _find_column(column, bare, pair)
        headers = pair if {"good", "bad"} <= pair.keys() else headers
    if "sentence" in headers:
        for column in {"good", "bad"} - named_headers.keys():
            if key_of(headers.get(column, "")) in _ANSWER_COLUMNS:
                del headers[column]
    if "bad" not in headers and "sentence" in headers and "good" not in named_headers:
        # A column "grammatical" without its counterpart marks a sentence as good or bad.
        headers.pop("good", None)
        _find_column("version", by_key, headers)
    if {"item", "item_id"} & named_headers.keys() == set():
        _settle_ids(table, headers)
    context = "" if "context" in named_headers else headers.get("context", "")
    if context and all(row.values[context].isdecimal() for row in table.rows):
        # Numbers of contexts, or a factor of 0 and 1, are no texts to be shown.
        del headers["context"]
    if "kind" in headers and "kind" not in named_headers and unknown_kinds(table, headers["kind"]):
        _refuse_misspelt(table, headers["kind"])
        # A column of that name with other contents is one of the researcher's own.
        del headers["kind"]
    if "kind" not in headers and (column := _column_of_kinds(table, headers, named_headers)):
        # No column has two roles.
        headers = {our_column: header for our_column, header in headers.items() if header != column}
        headers["kind"] = column
    return headers


def _settle_ids(table: RawTable, headers: dict[str, str]) -> None:
    """Exchange the columns of ids and items where ids repeat and items do not."""
    if "item_id" not in headers:
        return
    repeats = {
        role: len({row.values[headers[role]] for row in table.rows}) < len(table.rows)
        for role in ("item_id", "item")
        if role in headers
    }
    if repeats["item_id"] and not repeats.get("item", False) and "condition" in headers:
        ids, items = headers.pop("item_id"), headers.get("item")
        headers["item"] = ids
        headers |= {"item_id": items} if items else {}


def _column_of_kinds(
    table: RawTable, headers: Mapping[str, str], named_headers: Mapping[str, str]
) -> str:
    """Return the one column that holds kinds of items, whatever its name; empty if none does."""
    roles = {header: role for role, header in headers.items()}
    candidates = []
    for name in table.columns:
        words = {row.values[name].lower() for row in table.rows}
        if (
            roles.get(name, "version") in ("version", "construction")
            and name not in named_headers.values()
            and words <= KIND_WORDS.keys() | PRACTICE_WORDS
            and words & _CERTAIN_WORDS
            and len(words) > 1
        ):
            candidates.append(name)
    return candidates[0] if len(candidates) == 1 else ""


def kinds_from_conditions(
    table: RawTable, headers: dict[str, str], lists: str
) -> tuple[RawTable, dict[str, str], list[str]]:
    """Return a table whose conditions that name a kind (filler, practice) are kinds instead.

    Args:
        table: The table.
        headers: The table's header for each Parallax column.
        lists: The column of lists, empty if there is none. Where its lists have different numbers
            of fillers, fillers stay a condition: every list has as many items of each kind.

    Returns:
        The table, the headers, and a note on what was read so.
    """
    columns, kinds = _kinds_among_levels(table, headers)
    if not columns:
        return table, headers, []
    named = quote_header(columns)
    if lists:
        lists_of_row = [
            {part.strip() for part in re.split("[;,]", row.values[lists])} - {""}
            for row in table.rows
        ]
        all_lists = set[str]().union(*lists_of_row)
        # A row without a list is in all lists.
        numbers = Counter(
            (list_name, kind)
            for row_lists, kind in zip(lists_of_row, kinds, strict=True)
            for list_name in row_lists or all_lists
        )
        if any(
            len({numbers[list_name, kind] for list_name in all_lists}) > 1
            for kind in set(kinds) - {""}
        ):
            note = f"The column {named} is read as conditions alone: its lists differ in fillers."
            return table, headers, [note]
    header = next(name for name in ("kind", "kind of item", "_kind") if name not in table.columns)
    rows = tuple(
        replace(row, values={**row.values, header: kind} | _without_kind(row.values, columns, kind))
        for row, kind in zip(table.rows, kinds, strict=True)
    )
    counts = ", ".join(f'{kinds.count(kind)} "{kind}"' for kind in dict.fromkeys(kinds) if kind)
    note = f"The column {named} states the kind of some rows: {counts}."
    kinds_table = replace(table, columns=(*table.columns, header), rows=rows)
    return kinds_table, {**headers, "kind": header}, [note]


def _kinds_among_levels(table: RawTable, headers: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the columns whose levels name the kind of some rows, and each row's kind.

    They are the column of conditions, or else the researcher's own columns, if all of those that
    hold such a word have it in the same rows.
    """
    condition = headers.get("condition", "")
    own = [name for name in table.columns if name not in headers.values()]
    found: dict[str, list[str]] = {}
    for name in [] if "kind" in headers else [condition] if condition else own:
        words = [row.values[name].lower() for row in table.rows]
        kinds = [
            word if word in _CERTAIN_WORDS else _kind_within(word) if condition else ""
            for word in words
        ]
        if any(kinds) and not all(kinds):
            found[name] = kinds
    if len({*map(tuple, found.values())}) != 1:
        return [], []
    return [*found], next(iter(found.values()))


def _without_kind(values: Mapping[str, str], columns: Sequence[str], kind: str) -> dict[str, str]:
    """Return a row's cells of columns, empty where they name its kind."""
    return {name: "" if kind and kind == values[name].lower() else values[name] for name in columns}


def _kind_within(condition: str) -> str:
    """Return the kind that begins or ends a condition's name, as in filler_coherent."""
    parts = re.split(r"[_.\s-]+", condition)
    return next((part for part in (parts[0], parts[-1]) if part in _WORDS_WITHIN), "")


def headers_read(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the Parallax columns that have a different header in a table, with that header.

    A table with both sentences of a pair in one row does not distinguish versions: a column that
    might do so remains one of the researcher's own. Otherwise the version column is always
    included.
    """
    unread = ("sentence", "version") if {"good", "bad"} <= headers.keys() else ()
    return {
        column: header
        for column, header in headers.items()
        if column not in unread and (column != header or column == "version")
    }


def column_headers(headers: Mapping[str, Header]) -> dict[str, str]:
    """Return what a codebook adds about columns of the items table: their original headers.

    Args:
        headers: A study's ``materials.headers``.
    """
    labels: dict[str, str] = {}
    for role, header in headers.items():
        columns = _ITEM_COLUMNS.get(role, (role,))
        if role == "sentence" and "version" not in headers:
            # Without a version column, each sentence is an item alone, and bad is empty.
            columns = ("good",)
        for column in columns:
            labels[column] = (
                f"{labels.get(column, '')}; in the researcher's table: {quote_header(header)}"
            )
    return labels


def quote_header(header: Header) -> str:
    """Return one header, or several that make up one column, in quotation marks."""
    names = [header] if isinstance(header, str) else header
    return " and ".join(f'"{name}"' for name in names)


def misspelt_kinds(values: Iterable[str]) -> dict[str, str]:
    """Return the invalid words in a column that was meant for kinds of items.

    Args:
        values: The column's values.

    Returns:
        For each invalid word the most similar kind, or an empty text; empty if all words are kinds,
        and if none is a kind and not all are similar to one. A word that ends in a number
        ("Filler12") is an item's name, and similar to no kind.
    """
    known_kinds = [word for word in (*KIND_WORDS, *PRACTICE_WORDS) if word]
    written_kinds = dict.fromkeys(value.lower() for value in values if value)
    near = {
        word: next(iter(get_close_matches(word, known_kinds, n=1, cutoff=_LEAST_SIMILARITY)), "")
        for word in written_kinds
        if word not in known_kinds
    }
    numbered = any(word[-1].isdigit() for word in near)
    slips = bool(near) and all(near.values()) and not numbered
    is_sure = any(word in known_kinds and word not in _AMBIGUOUS_WORDS for word in written_kinds)
    return near if is_sure or slips else {}


def _refuse_misspelt(table: RawTable, column: str) -> None:
    """Refuse a column of kinds with an invalid word, which would turn its fillers into targets."""
    misspelt = misspelt_kinds(row.values[column] for row in table.rows)
    for row in table.rows:
        word = row.values[column].lower()
        if word in misspelt:
            raise MaterialsError(
                f'"{row.values[column]}" in the column "{column}" is not a kind of item',
                where=row.place,
                expected="target, filler, catch or practice in every row of this column",
                remedy=(f'Did you mean "{misspelt[word]}"? ' if misspelt[word] else "")
                + "Rename the column if it does not state the kind",
            )


def unknown_kinds(table: RawTable, column: str) -> list[str]:
    """Return the words of a column that are not kinds of items, each once."""
    words = dict.fromkeys(row.values[column].lower() for row in table.rows)
    return [word for word in words if word not in KIND_WORDS and word not in PRACTICE_WORDS]


def _find_column(column: str, by_key: Mapping[str, str], headers: dict[str, str]) -> None:
    for name in NAMES[column]:
        if column not in headers and by_key.get(name, "") not in ("", *headers.values()):
            headers[column] = by_key[name]


def _make_unknown_column_error(
    problem: str, name: str, known_names: Iterable[str], table: RawTable
) -> MaterialsError:
    return MaterialsError(
        problem,
        where=str(table.path),
        expected=f"one of: {', '.join(known_names)}",
        remedy=suggest(name, known_names, cutoff=0.5),
    )
