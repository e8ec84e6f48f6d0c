"""Sentences with marked regions, either by bars or by a column for each region."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from experiment.materials.formats.options import is_option_header
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import RawRow, RawTable
from experiment.materials.formats.words import BAR, NAMES, key_of
from experiment.records import SPACELESS, Variant

_NUMBERED_HEADER = re.compile(r"(.*?)_?([0-9]+)")
_REGION = "region"
_FEWEST_PARTS = 3
# Marks of a model's text, such as <eos>, are no words.
_MARKER = re.compile(r"</?\w+>")
_WORD_HEADERS = ("word", "token")
# A SyntaxGym suite as a table has a region in each row, and some regions are empty.
_SUITE_HEADERS = ("content", "region_number")
_SENTENCES = {name for ours in ("good", "sentence") for name in NAMES[ours]}
# Symbols that fill a row's last columns, such as "####".
_PADDING = re.compile(r"[^\w\s.?!\u2026]{2,}")
_FILE = re.compile(r".*\.[A-Za-z][A-Za-z0-9]{1,3}")
_SLASHES = re.compile(r"\s*/+\s*")
_FEWEST_SLASHES = 2
_STARRED = re.compile(r"([^*]*)\*([^*]+)\*([^*]*)")
_STARRED_COLUMN = "marked"


def join_regions(parts: Sequence[str]) -> str:
    """Return regions as a sentence, with spaces between them if their script uses spaces."""
    text = ""
    for part in parts:
        spaceless = text and SPACELESS.match(text[-1]) and SPACELESS.match(part[:1])
        text += part if not text or spaceless or not part else f" {part}"
    return text


def join_region_columns(table: RawTable) -> RawTable:
    """Return a table whose region columns (region_1, region_2, ...) are joined to one sentence.

    In a table without sentences, other numbered columns of words, such as w1, w2, ..., are regions
    too. Any other table is returned unchanged.
    """
    ordered = _region_columns(table)
    if len(ordered) < 2 or any(key_of(name) in _SENTENCES for name in table.columns):
        return table
    other_columns = [name for name in table.columns if name not in ordered]
    rows = tuple(
        RawRow(
            row.place,
            {
                "sentence": f" {BAR} ".join(
                    text
                    for name in ordered
                    if (text := row.values[name]) and not _PADDING.fullmatch(text)
                ),
                **{name: row.values[name] for name in other_columns},
            },
        )
        for row in table.rows
    )
    first, last = ordered[0], ordered[-1]
    note = f"The sentence is made of {len(ordered)} columns of regions, {first} to {last}."
    return RawTable(table.path, ("sentence", *other_columns), rows, (*table.notes, note))


def _region_columns(table: RawTable) -> list[str]:
    """Return the columns that each hold a region, in order; none if there are none."""
    stems: dict[str, dict[int, str]] = {}
    for name in table.columns:
        if match := _NUMBERED_HEADER.fullmatch(key_of(name)):
            stems.setdefault(match[1], {})[int(match[2])] = name
    numbered = stems.get(_REGION) or next(
        (
            columns
            for stem, columns in stems.items()
            if len(columns) >= _FEWEST_PARTS
            and sorted(columns) == list(range(1, len(columns) + 1))
            and not any(is_option_header(name) for name in columns.values())
            and _hold_words(table, columns.values())
            and "good" not in map(key_of, table.columns)
        ),
        {},
    )
    return [numbered[number] for number in sorted(numbered)]


def _hold_words(table: RawTable, columns: Iterable[str]) -> bool:
    """Return whether columns hold words: neither numbers nor files, and no row's answer."""
    columns = [*columns]
    cells = [row.values[name] for row in table.rows for name in columns if row.values[name]]
    others = [name for name in table.columns if name not in columns]
    return all(any(map(str.isalpha, text)) or _PADDING.fullmatch(text) for text in cells) and not (
        all(map(_FILE.fullmatch, cells))
        or any(
            all(row.values[name] in {row.values[part] for part in columns} for row in table.rows)
            for name in others
        )
    )


def join_word_rows(table: RawTable) -> RawTable:
    """Return a table with a row for each sentence, if its rows are the words of sentences.

    Each sentence's words are numbered from the same number, in the order of the rows. Columns that
    differ between a sentence's words are left out. Any other table is returned unchanged.
    """
    keys = {key_of(name): name for name in reversed(table.columns)}
    is_suite = keys.keys() >= {*_SUITE_HEADERS}
    word = next(
        (keys[key] for key in (*_WORD_HEADERS, *_SUITE_HEADERS[:is_suite]) if key in keys), ""
    )
    if not word or keys.keys() & {*_SENTENCES, "bad"}:
        return table
    starts = next((found for n in table.columns if (found := _sentence_starts(table, n))), [])
    runs = [table.rows[a:b] for a, b in pairwise([*starts, len(table.rows)])]
    if len(runs) < 2 or not (is_suite or all(row.values[word] for row in table.rows)):
        return table
    shared = [
        name
        for name in table.columns
        if name != word and all(len({row.values[name] for row in run}) == 1 for run in runs)
    ]
    rows = tuple(
        RawRow(
            run[0].place,
            {
                "sentence": join_regions(
                    [t for row in run if (t := row.values[word]) and not _MARKER.fullmatch(t)]
                ),
                **{name: run[0].values[name] for name in shared},
            },
        )
        for run in runs
    )
    left_out = [name for name in table.columns if name not in (word, *shared)]
    note = (
        f'Each row is a {"region" if is_suite else "word"}: the column "{word}" makes {len(rows)} '
        "sentences. Columns that differ between the rows of a sentence are left out: "
        f"{', '.join(left_out)}."
    )
    return RawTable(table.path, ("sentence", *shared), rows, (*table.notes, note))


def _sentence_starts(table: RawTable, column: str) -> list[int]:
    """Return the rows at which a column begins to number words anew; none if it does not."""
    cells = [row.values[column] for row in table.rows]
    if not all(map(str.isdecimal, cells)):
        return []
    numbers = [int(cell) for cell in cells]
    starts = [row for row, number in enumerate(numbers) if number == numbers[0]]
    is_counted = all(b > a or b == numbers[0] for a, b in pairwise(numbers))
    return starts if is_counted and len(numbers) >= _FEWEST_PARTS * len(starts) else []


def read_slashes(drafts: Sequence[Draft]) -> tuple[list[Draft], list[str]]:
    """Return drafts with bars where every sentence has slashes, and without stars around a part.

    Two slashes or more in every sentence divide regions; stars around a part of every sentence
    mark it, and the column ``marked`` keeps the part.
    """
    notes = []
    texts = [text for draft in drafts for text in (draft.good, draft.bad) if text]
    if texts and all(BAR not in t and len(_SLASHES.findall(t)) >= _FEWEST_SLASHES for t in texts):
        drafts = [
            _with_texts(draft, lambda text: _SLASHES.sub(f" {BAR} ", text)) for draft in drafts
        ]
        notes.append("The slashes divide regions, and are not shown.")
    if texts and all(map(_STARRED.fullmatch, texts)):
        drafts = [
            replace(
                _with_texts(draft, lambda text: text.replace("*", "")),
                extra={**draft.extra, _STARRED_COLUMN: draft.good.split("*")[1]},
            )
            for draft in drafts
        ]
        notes.append(
            f"The stars mark a part of each sentence, and are not shown; the column "
            f'"{_STARRED_COLUMN}" keeps the part.'
        )
    return list(drafts), notes


def _with_texts(draft: Draft, change: Callable[[str], str]) -> Draft:
    return replace(
        draft,
        context=change(draft.context),
        good=change(draft.good),
        bad=change(draft.bad),
        distractor=change(draft.distractor),
    )


def split_barred_regions(
    drafts: Sequence[Draft], *, everywhere: bool = False
) -> tuple[list[Draft], list[str]]:
    """Return drafts with plain sentences, with regions in separate columns, and notes.

    Models score the plain sentence; ``good_regions`` and ``bad_regions`` keep the bars.

    Args:
        drafts: The drafts.
        everywhere: Whether bars mark regions only if every sentence has some, or, in a session with
            several tasks, every sentence of a task that has any.
    """
    barred_drafts = [
        version
        for version in (Variant.GOOD, Variant.BAD)
        if any(BAR in getattr(draft, version) or BAR in draft.context for draft in drafts)
    ]
    if not barred_drafts or (everywhere and _have_bars_partly(drafts)):
        return list(drafts), []
    divided_drafts = []
    for draft in drafts:
        regions = {f"{name}_regions": _write_regions(draft, name) for name in barred_drafts}
        texts = {name: _remove_bars(getattr(draft, name)) for name in ("context", "good", "bad")}
        divided_drafts.append(replace(draft, extra={**draft.extra, **regions}, **texts))
    columns = " and ".join(f"{name}_regions" for name in barred_drafts)
    return divided_drafts, [f"The bars divide regions; the column {columns} keeps them."]


def _have_bars_partly(drafts: Sequence[Draft]) -> bool:
    """Return whether some sentences of a task have bars and others do not."""
    of_task: dict[str, set[bool]] = {}
    for draft in drafts:
        of_task.setdefault(draft.extra.get("task", ""), set()).add(BAR in draft.good)
    return any(len(divisions) > 1 for divisions in of_task.values())


def _write_regions(draft: Draft, name: str) -> str:
    text = str(getattr(draft, name))
    if BAR not in draft.context + text:
        return ""
    return f"{draft.context} {BAR} {text}" if draft.context else text


def _remove_bars(text: str) -> str:
    return join_regions([part.strip() for part in text.split(BAR)]) if BAR in text else text
