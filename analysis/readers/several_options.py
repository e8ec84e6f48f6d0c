"""Choices among three or more options, read from other sources' files.

A choice is the name or text of an option, ``none`` in some wording, or the place at which an
option stood; a place needs the columns with the options shown, which a mapping names ``options``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun
from analysis.data.n_alternatives import NONE
from analysis.errors import AnalysisError
from analysis.readers.long_form import ROW_COLUMN
from analysis.readers.mapping import TableMap, simplify_name
from analysis.readers.texts import Options, comparable_text
from experiment.materials.formats.options import find_further_options
from experiment.records import SIDES, Item, Side, Variant
from experiment.studies.study import Trials

OPTIONS = "options"
_NONE_WORDS = frozenset(
    {"none", "none of these", "none of them", "none of the above", "none of the options", "neither",
     "no option", "no answer fits", "other"}
)  # fmt: skip
# Columns with such names say which option was right.
_EXPECTED = re.compile("correct|expected|target|solution|right|good", re.IGNORECASE)
_FEWEST, _LETTERS = 3, "abcdefghi"
_NUMBER = re.compile(r"(?:option|choice|button|key|answer|response)?[ _.]?([1-9]|[a-i])[).:]?")


def offered_options(item: Item) -> tuple[str, ...]:
    """Return the names of all versions of an item, the good one first."""
    return tuple(item.versions(find_further_options(dict(item.extra))))


def is_none(text: str) -> bool:
    """Return whether an answer says that none of the options was chosen."""
    return comparable_text(text) in _NONE_WORDS


def are_options_offered(
    rows: pd.DataFrame, items: Sequence[Item], mapping: TableMap, known: Mapping[str, Options]
) -> bool:
    """Return whether judgments are choices among three or more options.

    They are if the mapping names their columns, if our own table names the options of each
    judgment, if the items have own columns of further options, or if somebody chose a version that
    is neither the good one nor the one compared with it.

    Args:
        rows: The judgments in the long form.
        items: The items.
        mapping: The meaning of the source's columns.
        known: The items' texts, by id.
    """
    if "chosen" not in rows or not any(len(offered_options(item)) >= _FEWEST for item in items):
        return False
    if mapping.options or OPTIONS in rows:
        return True
    items_by_id = {item.item_id: item for item in items}
    judged_items = [items_by_id[name] for name in rows["item"].unique() if name in items_by_id]
    if any(find_further_options(dict(item.extra)) and len(offered_options(item)) > _FEWEST
           for item in judged_items):  # fmt: skip
        return True
    for item_id, text in rows[["item", "chosen"]].drop_duplicates().itertuples(index=False):
        item = items_by_id.get(item_id)
        names = offered_options(item) if item else ()
        version = text if text in names else known[item_id].version(text) if item else None
        if item and version not in {None, Variant.GOOD.value, item.contrast.value}:
            return True
    return False


def add_choices(
    run: ExportedRun,
    rows: pd.DataFrame,
    table: pd.DataFrame,
    items: Sequence[Item],
    mapping: TableMap,
    path: Path,
) -> ExportedRun:
    """Return a run whose answers are choices among several options.

    Args:
        run: The same judgments as a run of choices between two; its choices are ignored.
        rows: The judgments in the long form, in the same order as in the run.
        table: The source's table.
        items: The items.
        mapping: The meaning of the table's columns.
        path: The file of the judgments.

    Raises:
        AnalysisError: A choice is none of the options of its item.
    """
    of_item = {item.item_id: item for item in items}
    texts = {name: Options(item) for name, item in of_item.items()}
    shown = _find_shown_texts(rows, table, mapping)
    cells = pd.DataFrame({"item": rows["item"], "chosen": rows["chosen"], "shown": shown})
    resolved = {
        (item, chosen, options): _resolve_choice(of_item[item], texts[item], chosen, options, path)
        for item, chosen, options in cells.drop_duplicates().itertuples(index=False)
    }
    choices = [resolved[cell] for cell in cells.itertuples(index=False, name=None)]
    version = np.array([chosen for chosen, _ in choices], object)
    # Whoever chose none of the options chose what stood after them.
    chosen_side = [
        SIDES[min(len(order), len(SIDES) - 1) if chosen == NONE else order.index(chosen)].value
        for chosen, order in choices
    ]
    good_side = [SIDES[order.index(Variant.GOOD.value)].value for _, order in choices]
    against = dict.fromkeys(
        name for item in items for name in offered_options(item) if name != Variant.GOOD
    )
    trials = Trials(parameters={"against": [*against]})
    return replace(
        run,
        study=run.study.model_copy(update={"response": "option_list", "trial": trials}),
        trials=run.trials.assign(
            good_side=good_side, options=[" ".join(order) for _, order in choices]
        ),
        responses=run.responses.assign(
            chosen_side=chosen_side, chose_good=version == Variant.GOOD.value, version=version
        ),
    )


def _find_shown_texts(
    rows: pd.DataFrame, table: pd.DataFrame, mapping: TableMap
) -> list[tuple[str, ...]]:
    """Return the options on the screen for each judgment, in their order; empty if unknown."""
    if OPTIONS in rows:
        return [tuple(names.split()) for names in rows[OPTIONS]]
    columns = [name for name in mapping.options if name in table]
    if not columns:
        return [tuple(mapping.options)] * len(rows)
    texts = table[columns].to_numpy()[rows[ROW_COLUMN].to_numpy()]
    return [tuple(text for text in row if text) for row in texts]


def _resolve_choice(
    item: Item, texts: Options, chosen: str, shown: Sequence[str], path: Path
) -> tuple[str, tuple[str, ...]]:
    """Return the version chosen, or ``none``, and the versions on the screen in their order."""
    names = offered_options(item)
    order = tuple(_find_version(text, names, texts, item, path) for text in shown) or names
    version = chosen if chosen in names else texts.version(chosen)
    if version is None and is_none(chosen):
        version = NONE
    place = None if version or not shown else find_place(chosen, len(order))
    version = version if place is None else order[place]
    if version is None or version not in (*order, NONE) or Variant.GOOD.value not in order:
        raise AnalysisError(
            f'"{chosen[:60]}" is not one of the options of the item {item.item_id}',
            where=f'{path}, the column "chosen"',
            expected="the text of one of them, or its name: "
            + ", ".join(f'{name} "{item.version(name)}"' for name in names),
            remedy="Where the choices are places or letters, name the columns with the options in "
            'their order in the mapping, options = ["HEADER", "HEADER", "HEADER"]; or translate '
            "the values below [values.chosen]",
        )
    return version, order


def _find_version(text: str, names: Sequence[str], texts: Options, item: Item, path: Path) -> str:
    version = text if text in names else texts.version(text)
    if version is None:
        raise AnalysisError(
            f'"{text[:60]}" was on the screen, but is not a version of the item {item.item_id}',
            where=str(path),
            expected=" or ".join(f'"{item.version(name)}"' for name in names),
            remedy="Check the columns that the mapping names in options, or the items",
        )
    return version


def find_place(text: str, n_options: int) -> int | None:
    """Return the place that a number, a letter or a word for a side names, from 0."""
    lower = comparable_text(text).strip("()[]")
    if lower in set(SIDES):
        place = SIDES.index(Side(lower))
    elif match := _NUMBER.fullmatch(lower):
        mark = match[1]
        place = int(mark) - 1 if mark.isdecimal() else _LETTERS.index(mark)
    else:
        return None
    return place if place < n_options else None


def find_option_columns(rows: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return those of the columns with options' texts that never hold the same text in a row.

    A column with the chosen text equals one of the others in each row, and is left out.

    Args:
        rows: The rows of judgments.
        columns: The columns with texts of the items.
    """
    shown = [*columns]
    while True:
        conflicts = {
            name: sum(
                bool(((rows[name] == rows[other]) & (rows[name] != "")).any())
                for other in shown
                if other != name
            )
            for name in shown
        }
        if not any(conflicts.values()):
            return shown
        # Of equally conflicting columns the last one is the choice: answers follow what was shown.
        worst = max(reversed(shown), key=lambda name: conflicts[name])
        shown.remove(worst)


def find_place_column(
    rows: pd.DataFrame, columns: Sequence[str], option_columns: Sequence[str]
) -> tuple[str, dict[str, str]] | None:
    """Return the column that says at which place the chosen option stood, and its values' meaning.

    Of several columns of places, the choice is the one that does not follow from what was shown.

    Args:
        rows: The rows of judgments.
        columns: The columns that may hold the choice, the most likely first.
        option_columns: The columns with the options' texts, in their order.
    """
    display = rows[[*option_columns]].agg("\n".join, axis=1)
    by_header = {simplify_name(name): n for n, name in enumerate(option_columns)}
    of_display: tuple[str, dict[str, str]] | None = None
    for column in columns:
        filled = rows[column] != ""
        values = [str(value) for value in rows[column][filled].unique()]
        answers = [value for value in values if not is_none(value)]
        from_0 = "0" in answers
        meanings = {}
        for value in answers:
            text = str(int(value) + 1) if from_0 and value.isdecimal() else value
            place = by_header.get(simplify_name(value), find_place(text, len(option_columns)))
            if place is not None:
                meanings[value] = SIDES[place].value
        if len(answers) < _FEWEST - 1 or len(meanings) < len(answers):
            continue
        same = all(_is_plain_place(value, meanings[value]) for value in answers)
        none_values = {value: NONE for value in values if is_none(value)}
        choice = column, {} if same else meanings | none_values
        by_display = rows[column][filled].groupby(display[filled])
        if (by_display.nunique() > 1).any() or not (by_display.size() > 1).any():
            return choice
        if not _EXPECTED.search(column):
            of_display = of_display or choice
    return of_display


def _is_plain_place(value: str, side: str) -> bool:
    place = find_place(value, len(SIDES))
    return place is not None and SIDES[place].value == side
