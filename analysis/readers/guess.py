"""Guess a mapping from a table's columns and values, for the researcher to check."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from analysis.readers.guess_columns import (
    CHOSEN_WORDS,
    Choice,
    Identity,
    ItemOptions,
    find_item_by_number,
    find_item_column,
    find_side_columns,
    guess_identity,
    guess_side_choice,
    versions_by_row,
    versions_in_column,
)
from analysis.readers.guess_single import SingleAnswers, describe_missing, guess_single_answers
from analysis.readers.guess_wide import (
    find_item_named_columns,
    find_numbered_columns,
    map_item_named_columns,
    name_by_labels,
    stack_trials,
)
from analysis.readers.item_identity import identify_items
from analysis.readers.mapping import (
    ROLES,
    Rows,
    TableMap,
    columns_for_role,
    first_column_for_role,
    simplify_name,
)
from analysis.readers.participant_columns import (
    find_participant_column,
    find_possible_participants,
    find_session_column,
)
from analysis.readers.rating_scale import RATING
from analysis.readers.several_options import find_option_columns, find_place_column
from analysis.readers.single_answers import SAID_YES, VERSION
from analysis.readers.sources import Source, empty_missing_marks
from analysis.readers.texts import Options
from experiment.materials.formats.words import BAD_WORDS, GOOD_WORDS
from experiment.records import PAIR, Item

# Columns that distinguish rows of choices from other recorded rows.
_ROW_KIND_COLUMNS = (
    "PennElementType", "PennElementName", "Controller name", "trial_type", "phase", "Zone Type",
    "Response Type", "Screen Name", "Zone Name", "Object Name",
)  # fmt: skip
_NONPARTICIPANTS = {"participant._is_bot": "1", "AssignmentStatus": "Rejected"}
_SECONDS_BELOW = 60.0


@dataclass(frozen=True, slots=True)
class Guess:
    """A guessed mapping, and the missing parts.

    Attributes:
        mapping: The probable meaning of the columns.
        lacking: Required columns that were not found, in words; the table cannot be read without
            them.
        unnamed_participants: A column that looks like participants, if none surely names them.
    """

    mapping: TableMap
    lacking: tuple[str, ...]
    unnamed_participants: str = ""


def guess_mapping(source: Source, items: Sequence[Item]) -> Guess:
    """Guess the meaning of a table's columns.

    The item column contains item ids. The choice column contains the items' texts, versions, or
    sides (if another column has the expected side); otherwise, whether the choice was correct.

    Args:
        source: The table.
        items: The items; without them, only columns with common names are found.
    """
    options: ItemOptions = {item.item_id: Options(item) for item in items}
    table = empty_missing_marks(name_by_labels(source, items)).table
    by_item = find_item_named_columns(table, options)
    if by_item:
        return _map_participant(table, map_item_named_columns(table, by_item, options))
    patterns = find_numbered_columns(table, options)
    rows = stack_trials(table, patterns) if patterns else table
    item = find_item_column(rows, options)
    identity = Identity()
    if item is None and not patterns:
        if guessed := guess_identity(rows, items):
            identity, item = guessed, "item"
            rows = rows.assign(item=identify_items(rows, identity.texts, identity.by, items))
        else:
            item, options = find_item_by_number(rows, items, options)
    if item is None or identity.lacking:
        return Guess(TableMap(), (identity.lacking or "a column that holds the items' ids",))
    keep, choice = _guess_choice_rows(rows, item, options)
    shown: list[str] = []
    versions_by_column = _row_versions_by_column(rows, rows.columns.drop(item), item, options)
    option_columns = _find_option_columns(versions_by_column)
    if len(option_columns) > len(PAIR) and not patterns:
        shown = find_option_columns(rows, [name for name in rows if name in option_columns])
        keep, part = _keep_choices(rows, keep, choice, item, options)
        choice = _guess_place(part, shown, item, choice, options)
    if not patterns and not option_columns and not _is_of_two(rows, choice):
        # A column identified only by its texts is also the version shown.
        if answers := _guess_single_answers(rows, item, options):
            return _map_single_answers(table, answers, item, identity, rows)
        chosen = choice.columns.get("chosen")
        alone = not any(options[name].written[1] for name in {*rows[item]} & options.keys())
        if alone or (chosen and identity.texts == [chosen]):
            # No column has two roles, and where a sentence is shown alone there is no choice.
            return Guess(TableMap(), (describe_missing("answers", rows, chosen),))
    named = {} if identity.by or identity.texts else {"item": item}
    columns = {**named, **choice.columns, **_map_role(rows, "rt_ms")}
    mapping = TableMap(
        columns={role: patterns.get(header, header) for role, header in columns.items()},
        values=choice.values,
        item_by_texts=identity.texts,
        item_by=identity.by,
        options=shown,
        wide=bool(patterns),
        skip_blank=["item", *list(choice.columns)[:1]],
        rt_unit=_guess_time_unit(rows, columns.get("rt_ms", "")),
        keep_trials=keep,
        drop_trials={} if patterns else _drop_unanswered(rows, choice),
        drop=_drop_nonparticipants(table),
    )
    return _map_participant(table, mapping, "" if patterns else item, rows)


def _guess_single_answers(
    rows: pd.DataFrame, item: str, options: ItemOptions
) -> SingleAnswers | None:
    return guess_single_answers(rows, item, options, first_column_for_role(rows, "participant"))


def _guess_place(
    rows: pd.DataFrame, shown: Sequence[str], item: str, choice: Choice, options: ItemOptions
) -> Choice:
    """Return the choice among the options shown in several columns, by its text or its place."""
    column = choice.columns.get("chosen", "")
    if column and column not in shown and len(versions_in_column(rows, column, item, options)) > 1:
        return Choice({"chosen": column}, choice.values)
    by_name = [*columns_for_role(rows, "chosen")]
    others = [str(name) for name in rows if name not in (*by_name, *shown, item)]
    by_name += [
        name for name in others if any(word in simplify_name(name) for word in CHOSEN_WORDS)
    ]
    candidates = dict.fromkeys([*by_name, *others])
    placed = find_place_column(rows, [n for n in candidates if n not in (*shown, item)], shown)
    if placed is None:
        return choice
    place_column, meanings = placed
    return Choice({"chosen": place_column}, {"chosen": meanings} if meanings else {})


def _keep_choices(
    rows: pd.DataFrame, keep: Rows, choice: Choice, item: str, options: ItemOptions
) -> tuple[Rows, pd.DataFrame]:
    """Return a rule, and the rows it keeps, if options were chosen in them; or none and all."""
    chosen = choice.columns.get("chosen", "")
    part = rows[(rows[list(keep)] == list(keep.values())).all(axis=1)] if keep else rows
    if chosen and len(versions_in_column(part, chosen, item, options)) > 1:
        return keep, part
    return {}, rows


def _is_of_two(rows: pd.DataFrame, choice: Choice) -> bool:
    """Return whether a choice is surely between two versions, not an answer to one of them."""
    column = choice.columns.get("chosen")
    if column is None or not choice.sure:
        return False
    values = set(rows[column].str.strip().str.lower()) - {""}
    if "good_side" in choice.columns and values <= GOOD_WORDS | BAD_WORDS:
        return False
    return any(word in simplify_name(column) for word in (*CHOSEN_WORDS, *ROLES["chosen"].names))


def _map_single_answers(
    table: pd.DataFrame,
    answers: SingleAnswers,
    item: str,
    identity: Identity,
    rows: pd.DataFrame,
) -> Guess:
    columns = {**answers.columns, **_map_role(rows, "rt_ms")}
    if not (identity.texts or identity.by):
        columns["item"] = item
    mapping = TableMap(
        columns=columns,
        values={role: dict(means) for role, means in answers.values.items()},
        item_by_texts=identity.texts,
        item_by=identity.by,
        skip_blank=[role for role in (RATING, SAID_YES) if role in columns],
        # A column of that name that holds no versions, such as a number, is the researcher's own.
        unrelated=[name for name in (VERSION,) if name in table and name not in columns],
        rt_unit=_guess_time_unit(rows, columns.get("rt_ms", "")),
        drop=_drop_nonparticipants(table),
    )
    guess = _map_participant(table, mapping, item, rows)
    return replace(guess, lacking=answers.lacking)


def _drop_unanswered(rows: pd.DataFrame, choice: Choice) -> dict[str, str | list[str]]:
    """Return the rule for unanswered trials, if the table marks them as wrong."""
    if "correct" not in choice.columns:
        return {}
    answered = rows[rows[choice.columns["correct"]] != ""]
    blank = {
        column: float((answered[column] == "").mean())
        for column in columns_for_role(rows, "chosen")
    }
    # If there are several such columns, each may belong to a different kind of trial.
    return {
        header: ""
        for header, blank_share in blank.items()
        if len(blank) == 1 and 0 < blank_share < 1 / 2
    }


def _drop_nonparticipants(table: pd.DataFrame) -> dict[str, str | list[str]]:
    """Return the rule for rows not made by participants, if a table has such rows."""
    return {
        column: value
        for column, value in _NONPARTICIPANTS.items()
        if column in table and (table[column] == value).any()
    }


def _map_participant(
    table: pd.DataFrame, mapping: TableMap, item: str = "", rows: pd.DataFrame | None = None
) -> Guess:
    columns = dict(mapping.columns)
    person = first_column_for_role(table, "participant")
    unnamed = None
    if person is None and mapping.wide:
        person = find_session_column(table)
    elif person is None and item and rows is not None:
        unused = rows.drop(columns=[item, *mapping.columns.values()], errors="ignore")
        presented_columns = [item, *filter(None, [columns.get("version")])]
        presented = rows[presented_columns]
        person = find_participant_column(unused, presented)
        unnamed = None if person else find_possible_participants(unused, presented)
    if person is not None:
        columns["participant"] = person
    skip = [*mapping.skip_blank]
    if person and (table[person] == "").any():
        skip.append("participant")
    renamed_columns = {
        role: header for role, header in columns.items() if role != header or mapping.wide
    }
    return Guess(
        mapping.model_copy(update={"columns": renamed_columns, "skip_blank": skip}),
        ()
        if {"chosen", "correct", RATING, SAID_YES} & set(columns)
        else (describe_missing("choice", table),),
        unnamed or "",
    )


def _map_role(table: pd.DataFrame, role: str) -> dict[str, str]:
    column = first_column_for_role(table, role)
    return {} if column is None else {role: column}


def _guess_choice_rows(
    rows: pd.DataFrame, item: str, options: ItemOptions
) -> tuple[dict[str, str | list[str]], Choice]:
    """Return the rule that selects the rows of choices, and the choice.

    Programs also record other events: starts of trials, screens, keys pressed to continue. A column
    that always holds the expected version may be the correct answer, in rows of any kind: it is
    used only as a last resort.
    """
    person = first_column_for_role(rows, "participant")
    parts: list[tuple[dict[str, str | list[str]], pd.DataFrame]] = [({}, rows)]
    kinds = [
        column
        for kind in _ROW_KIND_COLUMNS
        for column in map(str, rows)
        if simplify_name(column) == simplify_name(kind)
    ]
    for column in kinds:
        parts += [
            ({column: str(value)}, rows[rows[column] == value]) for value in rows[column].unique()
        ]
    candidates = []
    for keep, part in parts:
        judged_rows = part[part[item].isin(list(options))]
        choice = _guess_choice(judged_rows, item, options)
        if not choice.columns:
            continue
        answered_rows = judged_rows[judged_rows[next(iter(choice.columns.values()))] != ""]
        answered_once = person is None or not answered_rows[[person, item]].duplicated().any()
        candidates.append((answered_once, choice.sure, keep, choice))
        if answered_once and choice.sure:
            break
    best = max(candidates, key=lambda candidate: candidate[:2], default=None)
    return best[2:] if best else ({}, Choice({}, {}))


def _guess_choice(rows: pd.DataFrame, item: str, options: ItemOptions) -> Choice:
    """Return the columns that define the choice, preferring the most certain."""
    choice_columns = [
        candidate for candidate in columns_for_role(rows, "chosen") if candidate != item
    ]
    other_columns = [header for header in rows.columns if header not in (*choice_columns, item)]
    similar = [
        header
        for header in other_columns
        if any(word in simplify_name(header) for word in CHOSEN_WORDS)
    ]
    versions_by_column = {
        column: versions_in_column(rows, column, item, options)
        for column in [*choice_columns, *similar]
    }
    for column, versions in versions_by_column.items():
        if len(versions) > 1:
            return Choice({"chosen": column}, {})
    for column in (*choice_columns, *similar):
        if side_choice := guess_side_choice(
            rows,
            column,
            lambda candidate: versions_in_column(rows, candidate, item, options),
        ):
            return side_choice
    option_columns = _find_option_columns(
        _row_versions_by_column(rows, other_columns, item, options)
    )
    if option_columns and (sides := find_side_columns(rows, item, sorted(option_columns))):
        return sides
    for column in columns_for_role(rows, "correct"):
        return Choice({"correct": column}, {})
    if by_contents := _find_choice_column(
        rows, [header for header in other_columns if header not in similar], item, options
    ):
        return Choice({"chosen": by_contents}, {})
    if sides := find_side_columns(rows, item, ()):
        return sides
    candidate = next((column for column in choice_columns if versions_by_column[column]), None)
    return Choice({"chosen": candidate}, {}, sure=False) if candidate else Choice({}, {})


def _find_choice_column(
    rows: pd.DataFrame, columns: Sequence[str], item: str, options: ItemOptions
) -> str | None:
    """Return the one column that contains both versions over the rows, whatever its name.

    Two columns that always contain different versions are the two options shown.
    """
    row_versions = _row_versions_by_column(rows, columns, item, options)
    option_columns = _find_option_columns(row_versions)
    candidates = [
        header
        for header in row_versions
        if len(set(row_versions[header].dropna())) > 1 and header not in option_columns
    ]
    return candidates[0] if len(candidates) == 1 else None


def _row_versions_by_column(
    rows: pd.DataFrame, columns: Iterable[str], item: str, options: ItemOptions
) -> dict[str, "pd.Series[str]"]:
    return {column: versions_by_row(rows, column, item, options) for column in columns}


def _find_option_columns(row_versions: Mapping[str, "pd.Series[str]"]) -> set[str]:
    """Return the columns that together hold both versions in every row: nobody judged one alone."""
    columns_with_both = [
        column for column, versions in row_versions.items() if len(set(versions.dropna())) > 1
    ]
    return {
        column
        for column in columns_with_both
        for other_column in columns_with_both
        if column != other_column
        and not (row_versions[column] == row_versions[other_column]).any()
        and row_versions[column].notna().any()
    }


def _guess_time_unit(rows: pd.DataFrame, column: str) -> Literal["ms", "s"]:
    """Return "s" if reaction times are decimals below a minute, else "ms"."""
    if not column:
        return "ms"
    numbers = pd.to_numeric(rows[column], errors="coerce").dropna()
    return "s" if len(numbers) and float(numbers.median()) < _SECONDS_BELOW else "ms"
