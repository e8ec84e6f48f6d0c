"""Sentences with marked regions, either by bars or by a column for each region."""

import re
from collections.abc import Sequence
from dataclasses import replace

from experiment.materials.formats.columns import NAMES, key_of
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.raw import RawRow, RawTable
from experiment.records import SPACELESS, Variant

BAR = "|"
_REGION_HEADER = re.compile(r"region_?([0-9]+)")
_SENTENCES = {name for ours in ("good", "sentence") for name in NAMES[ours]}


def join_regions(parts: Sequence[str]) -> str:
    """Return regions as a sentence, with spaces between them if their script uses spaces."""
    text = ""
    for part in parts:
        spaceless = text and SPACELESS.match(text[-1]) and SPACELESS.match(part[:1])
        text += part if not text or spaceless or not part else f" {part}"
    return text


def join_region_columns(table: RawTable) -> RawTable:
    """Return a table whose region columns (region_1, region_2, ...) are joined to one sentence.

    Any other table is returned unchanged.
    """
    numbered = {
        int(match.group(1)): name
        for name in table.columns
        if (match := _REGION_HEADER.fullmatch(key_of(name)))
    }
    if len(numbered) < 2 or any(key_of(name) in _SENTENCES for name in table.columns):
        return table
    ordered = [numbered[number] for number in sorted(numbered)]
    other_columns = [name for name in table.columns if name not in ordered]
    rows = tuple(
        RawRow(
            row.place,
            {
                "sentence": f" {BAR} ".join(filter(None, (row.values[name] for name in ordered))),
                **{name: row.values[name] for name in other_columns},
            },
        )
        for row in table.rows
    )
    note = f"The sentence is made of the {len(ordered)} columns of regions."
    return RawTable(table.path, ("sentence", *other_columns), rows, (*table.notes, note))


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
