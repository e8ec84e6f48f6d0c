"""Guess a mapping from a table's columns and values, for the researcher to check."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from analysis.readers.guess_columns import (
    CHOSEN_WORDS,
    LIKELY,
    Choice,
    Known,
    SingleAnswers,
    item_column,
    share,
    side_of,
    sides_by_contents,
    single_answers,
    text_columns,
)
from analysis.readers.mapping import (
    ROLES,
    Meaning,
    columns_of,
    first_of,
    numbers_in,
    people_by_contents,
    sessions_by_contents,
    simple,
)
from analysis.readers.single_answers import RATING, SAID_YES
from analysis.readers.sources import Source, without_marks
from analysis.readers.texts import Options, items_by_texts
from experiment.materials.formats.pairs import BAD_WORDS, GOOD_WORDS
from experiment.records import Item, Variant

# Columns that distinguish rows of choices from other recorded rows.
_KINDS = (
    "PennElementType", "PennElementName", "Controller name", "trial_type", "phase", "Zone Type",
    "Response Type", "Screen Name", "Zone Name", "Object Name",
)  # fmt: skip
_NOBODY = {"participant._is_bot": "1", "AssignmentStatus": "Rejected"}
_VERSIONS = {version.value for version in Variant}
_SECONDS_BELOW = 60.0
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Guess:
    """A guessed mapping, and the missing parts.

    Attributes:
        mapping: The probable meaning of the columns.
        lacking: Required columns that were not found, in words; the table cannot be read without
            them.
    """

    mapping: Meaning
    lacking: tuple[str, ...]


def guess_mapping(source: Source, items: Sequence[Item]) -> Guess:
    """Guess the meaning of a table's columns.

    The item column contains item ids. The choice column contains the items' texts, versions, or
    sides (if another column has the expected side); otherwise, whether the choice was correct.

    Args:
        source: The table.
        items: The items; without them, only columns with common names are found.
    """
    known = {item.item_id: Options(item) for item in items}
    table = without_marks(source).table
    by_item = _columns_of_items(table, known)
    if by_item:
        return _with_participant(table, _named_after_items(table, by_item, known))
    patterns = _numbered_columns(table, known)
    rows = _stacked(table, patterns) if patterns else table
    item = item_column(rows, known)
    by_texts: list[str] = []
    if item is None and not patterns:
        by_texts = text_columns(rows, items)
        rows = rows.assign(item=items_by_texts(rows[by_texts], items)) if by_texts else rows
        item = "item" if by_texts else None
    if item is None:
        return Guess(Meaning(), ("a column that holds the items' ids",))
    keep, choice = _choice_among(rows, item, known)
    shows_both = bool(_options_shown(_told_by_row(rows, rows.columns.drop(item), item, known)))
    if not patterns and not shows_both and not _is_of_two(rows, choice):
        # A column identified only by its texts is also the version shown.
        person = first_of(rows, "participant")
        if answers := single_answers(rows, item, known, person):
            return _with_single(table, answers, item, by_texts, rows)
        if by_texts == [choice.columns.get("chosen")]:
            # No column has two roles: this one says which sentence was shown.
            lacking = f'a column that holds the answers ("{by_texts[0]}" holds what was shown)'
            return Guess(Meaning(), (lacking,))
    columns = {"item": item} | choice.columns | _named(rows, "rt_ms")
    if by_texts:
        del columns["item"]
    mapping = Meaning(
        columns={ours: patterns.get(theirs, theirs) for ours, theirs in columns.items()},
        values=choice.values,
        item_by_texts=by_texts,
        wide=bool(patterns),
        skip_blank=["item", *list(choice.columns)[:1]],
        rt_unit=_unit(rows, columns.get("rt_ms", "")),
        keep_trials=keep,
        drop_trials={} if patterns else _unanswered(rows, choice),
        drop=_left_out(table),
    )
    return _with_participant(table, mapping, "" if patterns else item, rows)


def _is_of_two(rows: pd.DataFrame, choice: Choice) -> bool:
    """Return whether a choice is surely between two versions, not an answer to one of them."""
    column = choice.columns.get("chosen")
    if column is None or not choice.sure:
        return False
    values = set(rows[column].str.strip().str.lower()) - {""}
    if "good_side" in choice.columns and values <= GOOD_WORDS | BAD_WORDS:
        return False
    return any(word in simple(column) for word in (*CHOSEN_WORDS, *ROLES["chosen"].names))


def _with_single(
    table: pd.DataFrame,
    answers: SingleAnswers,
    item: str,
    by_texts: list[str],
    rows: pd.DataFrame,
) -> Guess:
    columns = {**answers.columns, **_named(rows, "rt_ms")}
    if not by_texts:
        columns["item"] = item
    mapping = Meaning(
        columns=columns,
        values={ours: dict(means) for ours, means in answers.values.items()},
        item_by_texts=by_texts,
        skip_blank=[ours for ours in (RATING, SAID_YES) if ours in columns],
        rt_unit=_unit(rows, columns.get("rt_ms", "")),
        drop=_left_out(table),
    )
    guess = _with_participant(table, mapping, item, rows)
    return Guess(guess.mapping, answers.lacking)


def _unanswered(rows: pd.DataFrame, choice: Choice) -> dict[str, str | list[str]]:
    """Return the rule for unanswered trials, if the table marks them as wrong."""
    if "correct" not in choice.columns:
        return {}
    told = rows[rows[choice.columns["correct"]] != ""]
    blank = {column: float((told[column] == "").mean()) for column in columns_of(rows, "chosen")}
    # If there are several such columns, each may belong to a different kind of trial.
    return {one: "" for one, share in blank.items() if len(blank) == 1 and 0 < share < 1 / 2}


def _left_out(table: pd.DataFrame) -> dict[str, str | list[str]]:
    """Return the rule for rows not made by participants, if a table has such rows."""
    return {
        column: value
        for column, value in _NOBODY.items()
        if column in table and (table[column] == value).any()
    }


def _with_participant(
    table: pd.DataFrame, mapping: Meaning, item: str = "", rows: pd.DataFrame | None = None
) -> Guess:
    columns = dict(mapping.columns)
    lacking = () if {"chosen", "correct"} & set(columns) else ("a column that holds the choice",)
    person = first_of(table, "participant")
    if person is None and mapping.wide:
        person = sessions_by_contents(table)
    elif person is None and item and rows is not None:
        unused = rows.drop(columns=[item, *mapping.columns.values()], errors="ignore")
        shown = [item, *filter(None, [columns.get("version")])]
        person = people_by_contents(unused, rows[shown])
    if person is not None:
        columns["participant"] = person
    skip = [*mapping.skip_blank]
    if person and (table[person] == "").any():
        skip.append("participant")
    own = {ours: theirs for ours, theirs in columns.items() if ours != theirs or mapping.wide}
    return Guess(mapping.model_copy(update={"columns": own, "skip_blank": skip}), lacking)


def _named(table: pd.DataFrame, role: str) -> dict[str, str]:
    found = first_of(table, role)
    return {} if found is None else {role: found}


def _choice_among(
    rows: pd.DataFrame, item: str, known: Known
) -> tuple[dict[str, str | list[str]], Choice]:
    """Return the rule that selects the rows of choices, and the choice.

    Programs also record other events: starts of trials, screens, keys pressed to continue. A column
    that always holds the expected version may be the correct answer, in rows of any kind: it is
    used only as a last resort.
    """
    person = first_of(rows, "participant")
    parts: list[tuple[dict[str, str | list[str]], pd.DataFrame]] = [({}, rows)]
    for column in _KINDS:
        if column in rows:
            parts += [
                ({column: str(value)}, rows[rows[column] == value])
                for value in rows[column].unique()
            ]
    found = []
    for keep, part in parts:
        judged = part[part[item].isin(list(known))]
        choice = _choice(judged, item, known)
        if not choice.columns:
            continue
        answered = judged[judged[next(iter(choice.columns.values()))] != ""]
        once = person is None or not answered[[person, item]].duplicated().any()
        found.append((once, choice.sure, keep, choice))
        if once and choice.sure:
            break
    best = max(found, key=lambda one: one[:2], default=None)
    return best[2:] if best else ({}, Choice({}, {}))


def _choice(rows: pd.DataFrame, item: str, known: Known) -> Choice:
    """Return the columns that define the choice, preferring the most certain."""
    named = [one for one in columns_of(rows, "chosen") if one != item]
    others = [header for header in rows.columns if header not in (*named, item)]
    similar = [header for header in others if any(word in simple(header) for word in CHOSEN_WORDS)]
    told = {column: _versions(rows, column, item, known) for column in [*named, *similar]}
    for column, versions in told.items():
        if len(versions) > 1:
            return Choice({"chosen": column}, {})
    for column in (*named, *similar):
        if sided := side_of(rows, column, lambda one: _versions(rows, one, item, known)):
            return sided
    shown = _options_shown(_told_by_row(rows, others, item, known))
    if shown and (sides := sides_by_contents(rows, item, sorted(shown))):
        return sides
    for column in columns_of(rows, "correct"):
        return Choice({"correct": column}, {})
    if by_contents := _by_contents(
        rows, [header for header in others if header not in similar], item, known
    ):
        return Choice({"chosen": by_contents}, {})
    if sides := sides_by_contents(rows, item, ()):
        return sides
    one = next((column for column in named if told[column]), None)
    return Choice({"chosen": one}, {}, sure=False) if one else Choice({}, {})


def _by_contents(rows: pd.DataFrame, columns: Sequence[str], item: str, known: Known) -> str | None:
    """Return the one column that contains both versions over the rows, whatever its name.

    Two columns that always contain different versions are the two options shown.
    """
    told = _told_by_row(rows, columns, item, known)
    shown = _options_shown(told)
    left = [one for one in told if len(set(told[one].dropna())) > 1 and one not in shown]
    return left[0] if len(left) == 1 else None


def _told_by_row(
    rows: pd.DataFrame, columns: Iterable[str], item: str, known: Known
) -> dict[str, "pd.Series[str]"]:
    return {column: _versions_by_row(rows, column, item, known) for column in columns}


def _options_shown(told: Mapping[str, "pd.Series[str]"]) -> set[str]:
    """Return the columns that together hold both versions in every row: nobody judged one alone."""
    both = [one for one, found in told.items() if len(set(found.dropna())) > 1]
    return {
        one
        for one in both
        for other in both
        if one != other and not (told[one] == told[other]).any() and told[one].notna().any()
    }


def _versions_by_row(rows: pd.DataFrame, column: str, item: str, known: Known) -> "pd.Series[str]":
    if not _versions(rows, column, item, known):
        return pd.Series(None, rows.index, object)
    found = [
        text if text in _VERSIONS else known[one].version(text) if one in known else None
        for one, text in zip(rows[item], rows[column], strict=True)
    ]
    return pd.Series(found, rows.index, object)


def _versions(rows: pd.DataFrame, column: str, item: str, known: Known) -> set[str]:
    """Return the versions in a column, by name or by text; empty if it has other values."""
    # Skip items with identical versions; their judgments are refused by name later.
    told = [name for name, one in known.items() if not one.alike]
    filled = rows[(rows[column] != "") & rows[item].isin(told)]
    versions = [
        text if text in _VERSIONS else known[one].version(text)
        for one, text in zip(filled[item], filled[column], strict=True)
    ]
    recognised = [version for version in versions if version is not None]
    likely = bool(versions) and len(recognised) / len(versions) > LIKELY
    return set(recognised) if likely else set()


def _numbered_columns(table: pd.DataFrame, known: Known) -> dict[str, str]:
    """Return names and patterns of numbered columns that contain items, in a wide table.

    A name is the pattern without its number: ``Answer.choice`` for ``Answer.choice{n}``. Numbers
    may start anywhere and have gaps; patterns that lack one of the item column's numbers are not
    trials.
    """
    names = list(map(str, table.columns))
    patterns = {
        f"{before}{after}": f"{before}{{n}}{after}"
        for column in names
        for before, after in _around_numbers(column)
    }
    numbers = {name: numbers_in(names, pattern) for name, pattern in patterns.items()}
    several = {name for name, own in numbers.items() if len(own) > 1}
    items = [
        name
        for name in several
        if share(_cells(table, patterns[name], numbers[name]), known) > LIKELY
    ]
    if not items:
        return {}
    wanted = max((numbers[name] for name in items), key=len)
    return {name: patterns[name] for name in patterns if numbers[name] == wanted}


def _cells(table: pd.DataFrame, pattern: str, numbers: set[str]) -> "pd.Series[str]":
    found: pd.Series[str] = pd.concat([table[pattern.replace("{n}", n)] for n in numbers])
    return found


def _around_numbers(column: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after each number in a column's name."""
    for number in _NUMBER.finditer(column):
        yield column[: number.start()], column[number.end() :]


def _stacked(table: pd.DataFrame, patterns: Mapping[str, str]) -> pd.DataFrame:
    """Stack the trials of numbered columns, using the patterns' names as columns."""
    numbers = numbers_in(list(table.columns), next(iter(patterns.values())))
    blocks = [
        table[[pattern.replace("{n}", number) for pattern in patterns.values()]].set_axis(
            list(patterns), axis=1
        )
        for number in sorted(numbers, key=int)
    ]
    return pd.concat(blocks, ignore_index=True)


def _columns_of_items(table: pd.DataFrame, known: Mapping[str, object]) -> dict[str, list[str]]:
    """Return patterns such as ``Q_{item}``, each with the items that have a matching column."""
    found: dict[str, list[str]] = {}
    for column in table.columns:
        for item in known:
            if item in column:
                found.setdefault(column.replace(item, "{item}"), []).append(item)
    most = max(map(len, found.values()), default=0)
    return {pattern: of for pattern, of in found.items() if len(of) == most > 1}


def _named_after_items(
    table: pd.DataFrame, patterns: Mapping[str, list[str]], known: Known
) -> Meaning:
    columns: dict[str, str] = {}
    unit = "ms"
    for pattern, of in patterns.items():
        cells = [
            (item, text) for item in of for text in table[pattern.replace("{item}", item)] if text
        ]
        if not cells:
            continue
        texts = sum(
            known[item].version(text) is not None or text in _VERSIONS for item, text in cells
        )
        if texts / len(cells) > LIKELY:
            columns["chosen"] = pattern
        elif (
            "submit" in pattern.lower()
            or simple(pattern.replace("{item}", "")) in ROLES["rt_ms"].names
        ):
            # Qualtrics measures page times in seconds.
            columns["rt_ms"], unit = pattern, "s" if "submit" in pattern.lower() else "ms"
    return Meaning.model_validate({"columns": columns, "wide": True, "rt_unit": unit})


def _unit(rows: pd.DataFrame, column: str) -> Literal["ms", "s"]:
    """Return "s" if reaction times are decimals below a minute, else "ms"."""
    if not column:
        return "ms"
    numbers = pd.to_numeric(rows[column], errors="coerce").dropna()
    return "s" if len(numbers) and float(numbers.median()) < _SECONDS_BELOW else "ms"
