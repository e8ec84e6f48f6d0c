"""Check judgments before use: texts against item ids, and stated accuracies."""

import json
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from analysis.readers.accounting import Accounting
from analysis.readers.long_form import ROW_COLUMN
from analysis.readers.mapping import TRUE_WORDS, TRUTH_WORDS, TableMap, accuracy_columns
from analysis.readers.plausibility import count_below_chance
from analysis.readers.several_options import is_none
from analysis.readers.single_answers import ANSWERS, VERSION
from analysis.readers.texts import Options, comparable_text
from experiment.records import Item

# Columns with such names say which choices were wrong.
_ERROR_WORDS = re.compile("incorrect|wrong|error", re.IGNORECASE)
_MOSTLY, _SHOWN = 0.5, 3
# Chi-square with one degree of freedom, p < 0.01.
_LEAST_CHI_SQUARE = 6.63
_BINS = 10
# What a column of 0 and 1 may describe, and the largest number of values that are keys.
_DESCRIBED, _KEYS = ("item", "participant", "good_side", "option_first", VERSION), 2


def check_texts(
    rows: pd.DataFrame,
    table: pd.DataFrame,
    items: Sequence[Item],
    mapping: TableMap,
    account: Accounting,
) -> None:
    """Check the item ids against the texts in the same rows of the source.

    Raises:
        AnalysisError: A column with items' texts has a different item's text in some row.
    """
    if mapping.wide or mapping.item_by_texts:
        _note_unread_sentences(table, account)
        return
    options = {item.item_id: Options(item) for item in items}
    item_texts = {
        comparable_text(text)
        for item in items
        for part in options[item.item_id].texts
        for text in (part, item.after_context(part))
    }
    for column in table.columns.difference(mapping.unrelated, sort=False):
        texts, of_text = pd.factorize(table[column])
        normalised_texts = [comparable_text(str(text)) for text in of_text]
        if not item_texts.intersection(normalised_texts):
            continue
        pairs_in_rows = _count_item_text_pairs(rows, texts.astype(np.int32), of_text)
        number = int(pairs_in_rows["rows"].sum())
        is_item_text = (
            pairs_in_rows["text"]
            .map(dict(zip(of_text, normalised_texts, strict=True)))
            .isin(item_texts)
        )
        if pairs_in_rows["rows"][is_item_text].sum() <= _MOSTLY * number:
            continue
        if column == mapping.columns.get("chosen", "chosen"):
            pairs_in_rows = pairs_in_rows[~pairs_in_rows["text"].map(is_none)]
        # Items with two identical versions are reported by name when the choice is read.
        strange = pairs_in_rows[
            [
                not options[item].alike and options[item].version(text) is None
                for item, text in zip(pairs_in_rows["item"], pairs_in_rows["text"], strict=True)
            ]
        ]
        if len(strange):
            item, text = strange["item"].iloc[0], strange["text"].iloc[0]
            raise AnalysisError(
                f'in {int(strange["rows"].sum()):,} of {number:,} rows the column "{column}" '
                f"holds a text that does not belong to the row's item; the first: "
                f'"{text[:60]}", {item}',
                where=account.where,
                expected=" or ".join(f'"{text}"' for text in options[item].texts),
                remedy="Check whether ids and texts were shifted, or use the items that were "
                f'judged; if the column means something else, write unrelated = ["{column}"] in '
                "the mapping",
            )
        account.checks.append(
            f'Texts of "{column}" belong to the items of their rows: {number:,} of {number:,}'
        )


def _count_item_text_pairs(
    rows: pd.DataFrame, texts: NDArray[np.int32], of_text: "pd.Index[str]"
) -> pd.DataFrame:
    """Return each pair of item and text found in the same row, with its number of rows.

    Args:
        rows: The judgments.
        texts: The code of the text in each row of the source.
        of_text: The text of each code.
    """
    items, of_item = pd.factorize(rows["item"])
    cells, pairs = pd.factorize(items * len(of_text) + texts[rows[ROW_COLUMN].to_numpy()])
    item, text = np.divmod(pairs, max(1, len(of_text)))
    numbers = np.bincount(cells, minlength=len(pairs))
    pair_counts = pd.DataFrame({"item": of_item[item], "text": of_text[text], "rows": numbers})
    return pair_counts[pair_counts["text"] != ""]


def _note_unread_sentences(table: pd.DataFrame, account: Accounting) -> None:
    """Report unread columns that contain sentences: they may be trials of unknown items."""
    sentence_columns = []
    for column in account.unused:
        filled_cells = table[column][table[column] != ""]
        words = filled_cells.str.contains(r"\S\s+\S", regex=True)
        if len(filled_cells) and words.mean() > _MOSTLY and filled_cells.nunique() > 1:
            sentence_columns.append(column)
    if sentence_columns:
        account.attention.append(
            f"{len(sentence_columns)} column(s) hold sentences and were not read: "
            f"{', '.join(sentence_columns[:_SHOWN])}"
        )


def check_stated_accuracy(
    rows: pd.DataFrame,
    table: pd.DataFrame,
    chose_good: "pd.Series[bool]",
    mapping: TableMap,
    account: Accounting,
) -> None:
    """Check the judgments against the source's own column of correct answers.

    Raises:
        AnalysisError: A column of the source contradicts some judgment.
    """
    if mapping.wide or "correct" in mapping.columns:
        return
    named_columns = [*accuracy_columns(table)]
    read_columns = (*mapping.columns.values(), *mapping.unrelated)
    chosen = mapping.columns.get("chosen")
    row_numbers = rows[ROW_COLUMN].to_numpy()
    for column in table.columns:
        is_named = column in named_columns
        if column in read_columns or not (is_named or _is_truth_column(table[column])):
            continue
        stated_correct = table[column].str.lower().to_numpy()[row_numbers]
        is_stated = np.isin(stated_correct, list(TRUTH_WORDS))
        if not is_stated.any():
            continue
        says_right = np.isin(stated_correct, list(TRUE_WORDS))[is_stated]
        was_right = chose_good.to_numpy(dtype=bool)[is_stated]
        counts_errors = not is_named and bool(_ERROR_WORDS.search(column))
        differs = says_right != (was_right ^ counts_errors)
        if not differs.any():
            _refuse_unstated(column, stated_correct[~is_stated], is_stated, is_named, account.where)
            account.checks.append(
                f'Accuracy as the source states it ("{column}"): '
                f"{(says_right ^ counts_errors).mean():.1%}, the same judgments in all "
                f"{len(was_right):,} rows"
            )
            continue
        answers = table[chosen].to_numpy()[row_numbers] if chosen else None
        if not is_named and _describes_design(stated_correct, is_stated, rows, chose_good, answers):
            continue
        raise AnalysisError(
            f'the column "{column}" calls {says_right.mean():.1%} of the choices '
            f"right, and as they were read {was_right.mean():.1%} are; they differ in "
            f"{int(differs.sum()):,} of {len(was_right):,} rows: "
            f"{_count_agreement(says_right, was_right)}",
            where=account.where,
            expected="the same judgments to be right in both",
            remedy="Correct the mapping; if the column means something else, write "
            f'unrelated = ["{column}"] in it',
        )


def _refuse_unstated(
    column: str, unstated: Sequence[str], is_stated: NDArray[np.bool_], is_named: bool, where: str
) -> None:
    """Raise if a column that states which choices were right leaves some of them out.

    Raises:
        AnalysisError: It does, and says by its name or in most rows what it states.
    """
    if not len(unstated) or not (is_named or is_stated.mean() > _MOSTLY):
        return
    codes = sorted({*unstated} - {""})[:_SHOWN]
    rule = f'skip_blank = ["{column}"]'
    if codes:
        rule = f'"{column}" = {json.dumps(codes)} below [drop_trials]'
    raise AnalysisError(
        f'the column "{column}" does not say right or wrong in {len(unstated):,} of '
        f"{len(is_stated):,} rows with a choice, so these may be no answers",
        where=where,
        expected="right or wrong for each choice",
        remedy=f"Leave such trials out with {rule} in a mapping; or count them, with "
        f'unrelated = ["{column}"]',
    )


def _count_agreement(says_right: NDArray[np.bool_], was_right: NDArray[np.bool_]) -> str:
    """Return how often a column and the reading agree, as four counts in words."""
    return "; ".join(
        f"{int(((says_right == stated) & (was_right == read)).sum()):,} with {int(stated)} there "
        f"read as {'right' if read else 'wrong'}"
        for stated in (True, False)
        for read in (True, False)
    )


def _is_truth_column(cells: "pd.Series[str]") -> bool:
    """Return whether a column holds 0 and 1, or other words for wrong and right, and no others."""
    values = {value.lower() for value in cells.unique()} - {""}
    return bool(values & TRUE_WORDS) and bool(values - TRUE_WORDS) and values <= TRUTH_WORDS


def _describes_design(
    stated: NDArray[np.object_],
    is_stated: NDArray[np.bool_],
    rows: pd.DataFrame,
    chose_good: "pd.Series[bool]",
    answers: NDArray[np.object_] | None,
) -> bool:
    """Return whether a column of 0 and 1 is about something other than right choices.

    It does if it has one value for each item, participant, side of the expected version, or each
    of two keys. Where nothing occurs twice, so that one value for each says nothing, it does unless
    the column and the reading go together more often than by chance.
    """
    values = pd.Series(stated[is_stated])
    columns = [name for name in _DESCRIBED if name in rows]
    groups = [rows[name].to_numpy()[is_stated] for name in columns]
    if answers is not None and len(set(answers[is_stated])) <= _KEYS and "good_side" in rows:
        groups.append(answers[is_stated])
    for group in groups:
        by_group = values.groupby(group)
        if (by_group.nunique() <= 1).all():
            if (by_group.size() > 1).any():
                return True
            right = chose_good.to_numpy(dtype=float)[is_stated]
            says_right = values.isin(TRUE_WORDS).to_numpy(dtype=float)
            if min(right.std(), says_right.std()) == 0:
                return False
            association = np.corrcoef(says_right, right)[0, 1]
            return bool(len(right) * association**2 <= _LEAST_CHI_SQUARE)
    return False


def describe_import(run: ExportedRun, items: Sequence[Item], account: Accounting) -> None:
    """Add an import's numbers, accuracy and warnings to its summary."""
    rows = run.responses
    judged_items = set(rows["item_id"].unique())
    equal_items = [
        item.item_id for item in items if item.item_id in judged_items and Options(item).alike
    ]
    if equal_items:
        account.attention.append(
            f"{len(equal_items)} judged item(s) have the same text in both versions; the first: "
            f"{equal_items[0]}"
        )
    n_left = len(run.items) - len(judged_items)
    account.checks.append(
        f"Items: {len(judged_items):,} of {len(run.items):,} were judged, {n_left:,} were not"
    )
    of_people = rows.dropna(subset="participant").groupby("participant", observed=True)
    if not of_people.ngroups:
        account.attention.append(
            "no column says who judged, so intervals will rest on the items alone; if one does, "
            'write participant = "HEADER" below [columns] in a mapping'
        )
        return
    sizes = of_people.size()
    account.checks.append(
        f"Participants: {len(sizes):,}, of {sizes.min():,} to {sizes.max():,} judgments each "
        f"(median {sizes.median():g})"
    )
    keys = [name for name in ("participant", "item_id", VERSION) if name in rows]
    if repeated := int(rows.duplicated(keys).sum()):
        account.attention.append(
            f"{repeated:,} judgments are of an item that the same participant had judged before"
        )
    if len(sizes) > 1 and sizes.median() == 1 and len(judged_items) > 1:
        account.attention.append(
            f"most of the {len(sizes):,} participants judged once: is each row a person?"
        )
    if rows["chose_good"].isna().all():
        return
    accuracy = of_people["chose_good"].mean().astype(float)
    account.checks.append(
        f"Accuracy of participants: {accuracy.min():.0%} to {accuracy.max():.0%}, median "
        f"{accuracy.median():.0%}; {_describe_accuracy_bins(accuracy)}"
    )
    if low := count_below_chance(run):
        account.attention.append(
            f"{low} of {len(sizes)} participants chose the expected version less often than by "
            "chance: were their keys assigned the other way round?"
        )


def _describe_accuracy_bins(accuracy: "pd.Series[float]") -> str:
    """Return the number of participants in each tenth of accuracy, in words."""
    counts, _ = np.histogram(accuracy, bins=_BINS, range=(0, 1))
    parts = [f"{n} in {k * 10}-{k * 10 + 10}%" for k, n in enumerate(counts) if n]
    return ", ".join(parts)


# Times in milliseconds are equal by chance in few judgments of one item by one participant.
_BY_CHANCE = 0.01
_ANSWER_COLUMNS = ("chosen", "correct", VERSION, *ANSWERS)


def remove_copies(
    rows: pd.DataFrame, table: pd.DataFrame, mapping: TableMap, account: Accounting
) -> pd.DataFrame:
    """Remove copied judgments if the mapping says so; otherwise refuse copies.

    A copy repeats a whole row of the source, or the same participant, item, choice and time.
    Without known participants, equal rows count as judgments of different participants.

    Raises:
        AnalysisError: There are copies, and the mapping does not set ``duplicates``.
    """
    if "participant" not in rows:
        return rows
    copies = find_copies(rows, table)
    if not copies.any() or (copies.mean() < _BY_CHANCE and _number_trials(rows, table)):
        return rows
    if not mapping.duplicates:
        raise AnalysisError(
            f"{int(copies.sum()):,} of {len(rows):,} judgments are copies of others: the same "
            "participant, item, choice and time, or a whole row again",
            where=account.where,
            expected="each judgment once",
            remedy='Write duplicates = "drop" in the mapping, or duplicates = "keep" if they are '
            "different judgments",
        )
    if mapping.duplicates == "keep":
        account.attention.append(f"{int(copies.sum()):,} judgments are copies of others, and kept")
        return rows
    account.trials_dropped["copy of another judgment"] = int(copies.sum())
    account.cells_used = int(account.cells_used * (1 - copies.mean()))
    account.used -= int(copies.sum())
    return rows[~copies].reset_index(drop=True)


def find_copies(rows: pd.DataFrame, table: pd.DataFrame) -> "pd.Series[bool]":
    """Return which judgments are copies of earlier ones."""
    answer_columns = [name for name in _ANSWER_COLUMNS if name in rows]
    is_copy = pd.Series(False, rows.index)
    if "participant" not in rows:
        return is_copy
    key = ["participant", "item", *answer_columns]
    if "rt_ms" in rows:
        is_copy |= rows.duplicated([*key, "rt_ms"]) & (rows["rt_ms"] != "")
    is_repeated_row = table.duplicated().to_numpy()
    if is_repeated_row.any():
        is_copy |= pd.Series(is_repeated_row[rows[ROW_COLUMN].to_numpy()], rows.index)
    sizes = rows.groupby(["participant", "item"])["item"].transform("size")
    if len(rows) > 1 and sizes.min() > 1 and sizes.min() == sizes.max():
        # Every participant judged every item equally often: a duplicated file, or the design.
        doubled = rows.duplicated(key)
        if doubled.sum() * int(sizes.min()) == len(rows) * (int(sizes.min()) - 1):
            is_copy |= doubled
    return is_copy


def _number_trials(rows: pd.DataFrame, table: pd.DataFrame) -> bool:
    """Return whether a column numbers each participant's trials anew, so that none is a copy."""
    source = table.iloc[rows[ROW_COLUMN].to_numpy()].reset_index(drop=True)
    participants = rows["participant"].reset_index(drop=True)
    return any(
        source[column].duplicated().any()
        and source[column].str.fullmatch(r"\d+").all()
        and not pd.DataFrame({"who": participants, "trial": source[column]}).duplicated().any()
        for column in source
    )


def refuse_doubled_judgments(rows: pd.DataFrame, table: pd.DataFrame, where: str) -> None:
    """Raise if every judgment occurs more than once in the file.

    Raises:
        AnalysisError: Every judgment is repeated.
    """
    copies = find_copies(rows, table)
    if len(rows) > 1 and copies.sum() >= len(rows) / 2:
        raise AnalysisError(
            f"{int(copies.sum()):,} of {len(rows):,} judgments are copies of others",
            where=where,
            expected="each judgment once",
            remedy="Import the file first with `parallax import judgments`, whose mapping says "
            "what to do with copies",
        )
