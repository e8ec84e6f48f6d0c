"""Critical regions of tables of reading times, and whether conditions of an item correspond."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.errors import AnalysisError
from analysis.readers.reading_times.mapped.mapping import CRITICAL, TEXT_KEYS, TimesMapping
from experiment.responses.reading.alignment import normalise_word

# A sentence belongs to another item if it shares this much with that one's other sentences, and
# at most half as much with those of its own item.
_SHARED, _FEWEST_SHARED = 0.6, 4
# A few items are at most one in this many.
_FEW_ITEMS = 4


def find_relative_regions(
    rows: pd.DataFrame, meaning: TimesMapping, path: Path
) -> "pd.Series[int]":
    """Return each row's place relative to the critical region; missing where none is known."""
    critical = meaning.critical
    if isinstance(critical, dict):
        present = list(dict.fromkeys(rows["condition"]))
        if unnamed := [condition for condition in present if condition not in critical]:
            raise AnalysisError(
                f'[critical] names no region for the condition "{unnamed[0]}"',
                where=str(path),
                expected=f"a region for each of: {', '.join(present)}",
            )
        wanted = rows["condition"].map({key: str(value) for key, value in critical.items()})
    elif critical != "":
        wanted = pd.Series(str(critical), rows.index)
    elif CRITICAL in rows:
        wanted = rows[CRITICAL]
    else:
        return pd.Series(pd.NA, rows.index, "Int64")
    texts = rows.assign(wanted=wanted).drop_duplicates([*TEXT_KEYS, "position"])
    ends = pd.DataFrame(
        [
            dict(zip(TEXT_KEYS, key, strict=True)) | dict(zip(("first", "last"), ends, strict=True))
            for key, part in texts.sort_values("position").groupby(TEXT_KEYS, sort=False)
            if (ends := _find_critical(part, path))
        ]
    )
    ends = rows[TEXT_KEYS].merge(ends, "left", on=TEXT_KEYS, validate="m:1").set_index(rows.index)
    position = rows["position"]
    before = (position - ends["first"]).where(position < ends["first"])
    return before.fillna((position - ends["last"]).clip(lower=0)).astype("Int64")


def _find_critical(text: pd.DataFrame, path: Path) -> tuple[int, int]:
    """Return the first and last position of a text's critical region.

    It is named by its name in the column of regions, by its number, or by its words.
    """
    wanted, positions = str(text["wanted"].iloc[0]), text["position"].tolist()
    places: list[tuple[int, int]] = []
    if wanted and "region" in text and (named := (text["region"] == wanted)).any():
        inside = text["position"][named].tolist()
        places = _find_stretches(inside)
    elif re.fullmatch(r"\d+(\.0+)?", wanted):
        places = [(position, position) for position in positions if position == int(float(wanted))]
    elif wanted and "text" in text:
        words = [
            (word, position)
            for cell, position in zip(text["text"], positions, strict=True)
            for word in map(normalise_word, cell.split())
        ]
        wanted_words = [*map(normalise_word, wanted.split())]
        places = [
            (words[at][1], words[at + len(wanted_words) - 1][1])
            for at in range(len(words) - len(wanted_words) + 1)
            if [word for word, _ in words[at : at + len(wanted_words)]] == wanted_words
        ]
    if len(places) == 1:
        return places[0]
    first = text.iloc[0]
    problem = f"occurs {len(places)} times" if places else "is not there"
    raise AnalysisError(
        f'the item "{first["item"]}" in the condition "{first["condition"]}" needs the '
        f'critical region "{wanted}", which {problem}',
        where=str(path),
        expected="the region's number, its name in the column of regions, or its words, once in "
        "each sentence",
        remedy="Correct critical, or leave items without it out below [drop]",
    )


def refuse_uneven_ends(rows: pd.DataFrame, path: Path) -> None:
    """Refuse a few items that differ from the others in the number of regions at the end.

    Without texts, this alone shows that one condition has a word too many.
    """
    ends = rows.groupby(TEXT_KEYS[:-1])["relative"].max().dropna().astype(int).unstack("condition")
    for construction, lengths in ends.groupby(level="construction"):
        for condition in lengths.columns[1:]:
            differences = (lengths[condition] - lengths.iloc[:, 0]).dropna()
            usual = differences.mode()
            strange = differences[differences != usual.iloc[0]] if len(usual) else differences
            if 0 < len(strange) <= len(differences) / _FEW_ITEMS:
                item = strange.index[0][1]
                raise AnalysisError(
                    f'in the construction "{construction}" the item "{item}" has '
                    f"{int(lengths[condition][strange.index[0]])} regions after the critical one "
                    f'in the condition "{condition}" and '
                    f'{int(lengths.iloc[:, 0][strange.index[0]])} in "{lengths.columns[0]}"; in '
                    f"{len(differences) - len(strange)} of {len(differences)} items the two differ "
                    f"by {int(usual.iloc[0])}",
                    where=str(path),
                    expected="the same words after the critical region in all conditions",
                    remedy="One condition may have a word too many or too few: correct it, or "
                    "keep the rows of the compared regions alone, below [keep]",
                )


def _find_stretches(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last position of each stretch of neighbours."""
    stretches: list[tuple[int, int]] = []
    for position in sorted(positions):
        if stretches and position == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], position)
        else:
            stretches.append((position, position))
    return stretches


def _collect_words(rows: pd.DataFrame) -> dict[tuple[str, ...], set[str]]:
    """Return the words of each construction's items and conditions."""
    words = rows[rows["text"] != ""].drop_duplicates([*TEXT_KEYS, "position"])
    return {
        tuple(map(str, key)): {normalise_word(word) for text in texts for word in text.split()}
        - {""}
        for key, texts in words.groupby(TEXT_KEYS, sort=False)["text"]
    }


def refuse_foreign_sentences(rows: pd.DataFrame, path: Path) -> None:
    """Refuse a sentence that shares its words with another item and not with its own."""
    if "text" not in rows or (rows.groupby(TEXT_KEYS[:-1])["text_id"].nunique() > 1).any():
        return
    words = _collect_words(rows)
    of_item: dict[tuple[str, str], list[tuple[str, set[str]]]] = {}
    for (construction, item, condition, _), its_words in words.items():
        of_item.setdefault((construction, item), []).append((condition, its_words))
    for (construction, item, condition, _), its_words in words.items():
        mates = [mate for other, mate in of_item[construction, item] if other != condition]
        if not mates or not its_words:
            continue
        with_own = max(len(its_words & mate) for mate in mates) / len(its_words)
        if with_own > _SHARED / 2:
            continue
        for (where, other), sentences in of_item.items():
            if where != construction or other == item:
                continue
            with_other = max(
                (len(its_words & mate) for name, mate in sentences if name != condition),
                default=0,
            )
            shared = with_other / len(its_words)
            if with_other >= _FEWEST_SHARED and shared >= max(_SHARED, 2 * with_own):
                raise AnalysisError(
                    f'the sentence of the item "{item}" in the condition "{condition}" has the '
                    f'words of the item "{other}", and not those of its own item in other '
                    "conditions",
                    where=str(path),
                    expected="the same number for the conditions of one item",
                    remedy="Correct the item numbers of one condition",
                )
