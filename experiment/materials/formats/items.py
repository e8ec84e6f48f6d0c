"""Conversion of drafts to items; missing values are derived, and notes report them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, count
from math import prod
from pathlib import Path

from experiment.errors import MaterialsError, suggest
from experiment.materials.formats.columns import KIND_WORDS
from experiment.materials.formats.crossing import is_list_header, names_lists
from experiment.materials.formats.pairs import Draft
from experiment.records import Item, Kind
from experiment.tables.schemas import ITEMS

ONE_CONDITION = "all"


def make_items(drafts: Sequence[Draft], path: Path) -> tuple[list[Item], list[str]]:
    """Return the drafts' items, in order, and a sentence for each value that was derived.

    Items of one construction and kind form one template if each of their item numbers occurs in the
    same conditions, so that a Latin square can cross them; conditions that share no item number
    have a template each.

    Raises:
        MaterialsError: An item occurs twice in a condition, lacks a condition that others have, or
            two pairs have one id.
    """
    kinds = [_get_kind(draft) for draft in drafts]
    constructions = [
        _name_construction(draft, kind, path) for draft, kind in zip(drafts, kinds, strict=True)
    ]
    frames = [draft.item or str(number) for number, draft in enumerate(drafts, start=1)]
    templates = _name_templates(drafts, kinds, constructions, frames)
    items, drafts_by_id = [], dict[str, Draft]()
    for draft, kind, construction, frame, template in zip(
        drafts, kinds, constructions, frames, templates, strict=True
    ):
        condition = draft.condition or ONE_CONDITION
        crossed = (frame, condition) if draft.condition else (frame,)
        item_id = draft.item_id or "-".join((template, *map(_make_slug, crossed)))
        if earlier := drafts_by_id.get(item_id):
            raise MaterialsError(
                f'the id "{item_id}" occurs twice; first in {earlier.place}',
                where=draft.place,
                expected="a different id for each pair",
            )
        drafts_by_id[item_id] = draft
        items.append(
            Item(
                item_id=item_id,
                kind=kind,
                construction=construction,
                condition=condition,
                template=template,
                features=f"condition={_make_slug(condition)}",
                frame=f"item={_make_slug(frame)}",
                context=draft.context,
                good=draft.good,
                bad=draft.bad,
                distractor=draft.distractor,
                extra=_list_extra_columns(draft),
            )
        )
    return items, list(_collect_notes(drafts, items))


def _get_kind(draft: Draft) -> Kind:
    if draft.kind.lower() not in KIND_WORDS:
        raise MaterialsError(
            f'"{draft.kind}" is not a kind of item',
            where=draft.place,
            expected=f"one of: {', '.join(filter(None, KIND_WORDS))}",
        )
    return KIND_WORDS[draft.kind.lower()]


def _list_extra_columns(draft: Draft) -> tuple[tuple[str, str], ...]:
    extra_columns: dict[str, str] = {}
    for header, value in draft.extra.items():
        name = header
        while name in ITEMS.column_names or (name != header and name in draft.extra):
            name = f"own_{name}"
        extra_columns[name] = value
    return tuple(extra_columns.items())


def _name_construction(draft: Draft, kind: Kind, path: Path) -> str:
    if draft.construction:
        return draft.construction
    return path.stem if kind is Kind.TARGET else str(kind)


def _name_templates(
    drafts: Sequence[Draft],
    kinds: Sequence[Kind],
    constructions: Sequence[str],
    frames: Sequence[str],
) -> list[str]:
    cells: dict[tuple[str, Kind], dict[str, dict[str, Draft]]] = {}
    groups = list(zip(constructions, kinds, strict=True))
    for draft, group, frame in zip(drafts, groups, frames, strict=True):
        conditions = cells.setdefault(group, {}).setdefault(frame, {})
        if earlier_draft := conditions.get(draft.condition):
            rows = zip(drafts, groups, frames, strict=True)
            drafts_of_group = [
                (number, crossed_draft)
                for crossed_draft, location, number in rows
                if location == group
            ]
            raise broken_crossing(drafts_of_group) or _repeated_item_error(
                draft, group[0], frame, earlier_draft
            )
        conditions[draft.condition] = draft
    crossed = {
        # Lists that a table names need no crossing: the table assigns the items itself.
        group: names_lists(
            crossed_draft.extra for row in group_drafts.values() for crossed_draft in row.values()
        )
        or _is_crossed(group[0], group_drafts)
        for group, group_drafts in cells.items()
    }
    names: dict[tuple[str, ...], str] = {}
    for draft, group in zip(drafts, groups, strict=True):
        key = (*group, "" if crossed[group] else draft.condition)
        if key not in names:
            names[key] = _find_free_name(_name_template(*group, key[2]), set(names.values()))
    return [
        names[*group, "" if crossed[group] else draft.condition]
        for draft, group in zip(drafts, groups, strict=True)
    ]


def _name_template(construction: str, kind: Kind, condition: str) -> str:
    name = construction if kind is Kind.TARGET or construction == kind else f"{construction}_{kind}"
    return _make_slug(f"{name}_{condition}" if condition else name)


def _find_free_name(name: str, used: set[str]) -> str:
    numbered = (f"{name}_{number}" for number in count(2))
    return next(candidate for candidate in chain([name], numbered) if candidate not in used)


def _repeated_item_error(
    draft: Draft, construction: str, frame: str, earlier: Draft
) -> MaterialsError:
    cell = f"the condition {draft.condition}" if draft.condition else "the table"
    return MaterialsError(
        f'the item "{frame}" of {construction} occurs twice in {cell}; first in {earlier.place}',
        where=draft.place,
        expected="one row for each item and condition",
        remedy="Renumber the items, or name the column of conditions with --column "
        "condition=HEADER"
        + ("; write several gaps of one sentence into one row" if "___" in draft.good else ""),
    )


def _is_crossed(construction: str, cells: dict[str, dict[str, Draft]]) -> bool:
    """Return whether every item occurs in every condition; refuse items with only some of them."""
    conditions = dict.fromkeys(name for frame_levels in cells.values() for name in frame_levels)
    if all(len(frame_levels) == 1 for frame_levels in cells.values()):
        return len(conditions) == 1
    without = [
        (frame, frame_levels[""]) for frame, frame_levels in cells.items() if "" in frame_levels
    ]
    if without:
        frame, row = without[0]
        raise MaterialsError(
            f'the item "{frame}" of {construction} has no condition, although others have one',
            where=row.place,
            expected=f"one of: {', '.join(filter(None, conditions))}",
            remedy="Write the condition; remove the row if it holds totals; or write filler or "
            'catch in a column "kind"',
        )
    _refuse_misspelt(construction, conditions, cells)
    for frame, frame_levels in cells.items():
        if missing := [name for name in conditions if name not in frame_levels]:
            first = next(iter(frame_levels.values()))
            raise MaterialsError(
                f'the item "{frame}" of {construction} has no row in the condition '
                f"{', '.join(missing)}",
                where=first.place,
                expected=f"every item in each of: {', '.join(conditions)}",
                remedy=(
                    "Add the row, or remove the item; or, if the table holds several designs "
                    "with different conditions, name the column that tells them apart: --column "
                    "construction=HEADER"
                ),
            )
    return True


def _refuse_misspelt(
    construction: str, conditions: Iterable[str], cells: Mapping[str, Mapping[str, Draft]]
) -> None:
    """Refuse a rare condition whose items lack one of the other conditions: it is misspelt."""
    n_items = {name: sum(name in levels for levels in cells.values()) for name in conditions}
    usual = [name for name, n in n_items.items() if 2 * n > len(cells)]
    for name, n in n_items.items():
        if n > 1 and _RARE_PER * n > len(cells):
            # So many items are another design, not a slip.
            continue
        of_items = [levels for levels in cells.values() if name in levels]
        missing_columns = set(usual).difference(*of_items)
        if name in usual or not missing_columns:
            continue
        raise MaterialsError(
            f'the condition "{name}" occurs with {n} of the {len(cells)} items of {construction}, '
            f"and there instead of {' or '.join(sorted(missing_columns))}",
            where=of_items[0][name].place,
            expected=f"every item in each of: {', '.join(usual)}",
            remedy=suggest(name, sorted(missing_columns)) or "Correct the condition",
        )


def _make_slug(text: str) -> str:
    """Return a name without spaces and punctuation, keeping the letters of every script."""
    letters_and_digits = "".join(
        c if unicodedata.category(c)[0] in "LMN" or c in "_.-" else "_" for c in text.strip()
    )
    return re.sub(r"_+", "_", letters_and_digits).strip("_") or "_"


def _collect_notes(drafts: Sequence[Draft], items: Sequence[Item]) -> Iterator[str]:
    if not any(draft.construction for draft in drafts):
        yield f'No column names a construction: all targets are "{_find_first_target(items)}".'
    if not any(draft.item for draft in drafts):
        yield "No column numbers the items: each row is a separate item."
    if not any(draft.condition for draft in drafts):
        yield "No column names a condition: every participant can see every item."
    if extra := list(dict(items[0].extra)):
        yield f"Your own columns are kept with the items: {', '.join(extra)}."


def _find_first_target(items: Sequence[Item]) -> str:
    return next((i.construction for i in items if i.kind is Kind.TARGET), items[0].construction)


_MOST_COLUMNS, _MOST_FACTORS = 12, 3
# A condition that is in fewer than one of so many items may be misspelt.
_RARE_PER = 4
# Columns that cross in a smaller share of the items are not factors.
_ENOUGH_CROSSED = 0.5
_Levels = tuple[str, ...]


def broken_crossing(numbered: Sequence[tuple[str, Draft]]) -> MaterialsError | None:
    """Return the fault that prevents a table's factors from crossing; None if none nearly cross.

    Args:
        numbered: The rows of one construction and kind, each with its item's number.
    """
    if any(row.condition for _, row in numbered):
        return None
    items: dict[str, list[Draft]] = {}
    for number, row in numbered:
        items.setdefault(number, []).append(row)
    groups = {name: rows for name, rows in items.items() if len(rows) > 1}
    if len(groups) < len(items) / 2 or len(groups) < 2:
        return None
    own_columns = next(iter(groups.values()))[0].extra
    columns = [name for name in own_columns if not is_list_header(name)][:_MOST_COLUMNS]
    for size in range(1, _MOST_FACTORS + 1):
        for factors in combinations(columns, size):
            expected = _find_expected_levels(list(groups.values()), factors)
            if expected:
                return _find_fault(items, factors, expected)
    return None


def _find_expected_levels(
    groups: Sequence[Sequence[Draft]], factors: Sequence[str]
) -> set[_Levels]:
    """Return the levels that most items have exactly once; empty if they do not cross."""
    level_counts: Counter[tuple[_Levels, ...]] = Counter()
    for rows in groups:
        row_levels = [_read_levels(row, factors) for row in rows]
        if len(set(row_levels)) == len(row_levels) and all(map(all, row_levels)):
            level_counts[tuple(sorted(row_levels))] += 1
    if not level_counts:
        return set()
    [(levels, n)] = level_counts.most_common(1)
    levels_by_factor = [
        dict.fromkeys(combination[index] for combination in levels) for index in range(len(factors))
    ]
    crossed = len(levels) == prod(map(len, levels_by_factor)) and all(
        len(combination) > 1 for combination in levels_by_factor
    )
    return set(levels) if crossed and n >= _ENOUGH_CROSSED * len(groups) else set()


def _find_fault(
    items: Mapping[str, Sequence[Draft]], factors: Sequence[str], expected: set[_Levels]
) -> MaterialsError | None:
    known_levels = {name: dict.fromkeys(sorted({levels[index] for levels in expected}))
             for index, name in enumerate(factors)}  # fmt: skip
    words = " and ".join(f'"{name}"' for name in factors)
    words = f"the column{'s' * (len(factors) > 1)} {words}"
    expected_design = (
        f"each item once in each of: {_list_levels(sorted(expected))}, as most items are"
    )
    for name, rows in items.items():
        first: dict[_Levels, Draft] = {}
        for row in rows:
            for factor in factors:
                if (level := row.extra.get(factor, "")) not in known_levels[factor]:
                    return MaterialsError(
                        f'the item "{name}" has "{level}" in the column "{factor}", where most '
                        f"items have {', '.join(known_levels[factor])}; so the conditions are not "
                        f"made by {words}",
                        where=row.place,
                        expected=expected_design,
                        remedy=f'Correct "{factor}" here and in every other row with this value',
                    )
            levels = _read_levels(row, factors)
            if levels in first:
                return MaterialsError(
                    f'the item "{name}" occurs twice in {_list_levels([levels])} of {words}; '
                    f"first in {first[levels].place}",
                    where=row.place,
                    expected=expected_design,
                    remedy="Correct the levels or the item's number in one of the two rows",
                )
            first[levels] = row
        if missing := sorted(expected - set(first)):
            return MaterialsError(
                f'the item "{name}" has no row in {_list_levels(missing)} of {words}',
                where=rows[0].place,
                expected=expected_design,
                remedy="Add the row, or remove the item",
            )
    return None


def _read_levels(row: Draft, factors: Sequence[str]) -> _Levels:
    return tuple(row.extra.get(name, "") for name in factors)


def _list_levels(levels: Sequence[_Levels]) -> str:
    return ", ".join(" / ".join(names) for names in levels)
