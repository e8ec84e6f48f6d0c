"""The constraints that a study declares, as labels of a list's trials."""

from collections.abc import Sequence

from experiment.design.lists import ListEntry
from experiment.design.materials_index import lemmas_of
from experiment.design.ordering.constraints import Beginning, Constraint, Distance, InARow, Spread
from experiment.errors import DesignError
from experiment.plugins import unknown_name
from experiment.records import Kind
from experiment.studies.design import Design

ITEM_COLUMNS = ("construction", "template", "condition", "frame", "kind")


def declared(entries: Sequence[ListEntry], design: Design) -> list[Constraint]:
    """Return what a study's design asks of the order of these entries, one block of a list.

    Args:
        entries: The entries in their built order.
        design: The study's design.

    Raises:
        DesignError: A column is named that the items do not have.
    """
    order = design.order
    found: list[Constraint] = [
        *(Distance(column, labels(entries, column)) for column in separate_columns(design)),
        *(Distance(col, labels(entries, col), least) for col, least in order.distance.items()),
        *(InARow(col, labels(entries, col), most) for col, most in order.in_a_row.items()),
    ]
    if design.order.targets_apart:
        targets = tuple("target" if e.kind is Kind.TARGET else None for e in entries)
        found.append(Distance("being fillers", targets))
    found.extend(_spread(entries, design))
    return found


def beginning(entries: Sequence[ListEntry], design: Design) -> list[Constraint]:
    """Return what is asked of the first trials of a session, for its first block."""
    n = design.order.first_fillers
    if not n:
        return []
    fillers = tuple(entry.kind is Kind.FILLER for entry in entries)
    if sum(fillers) < n:
        raise DesignError(
            f"the first {n} trials should be fillers, but the first block has only {sum(fillers)}",
            where="design.order.first_fillers",
            expected=f"at most {sum(fillers)}",
            remedy="Ask for fewer, or give items the kind filler",
        )
    return [Beginning("fillers", fillers, n)]


def separate_columns(design: Design) -> list[str]:
    """Return the columns that neighbours must not share."""
    columns = [design.separate] if isinstance(design.separate, str) else design.separate
    return [column for column in columns if column]


def labels(entries: Sequence[ListEntry], column: str) -> tuple[str | None, ...]:
    """Return what each entry has in a column.

    It is one of the item's, one of the researcher's own, a feature, or a slot of its frame. An
    item that lacks it, or where it is empty, shares it with nobody.

    Raises:
        DesignError: No item has the column.
    """
    found = tuple(_label(entry, column) for entry in entries)
    if entries and all(label is None for label in found):
        known = dict.fromkeys(
            [
                *ITEM_COLUMNS,
                *(name for e in entries for name, _ in e.item.extra),
                *(name for e in entries for name in lemmas_of(e.item.features)),
                *(name for e in entries for name in lemmas_of(e.item.frame)),
            ]
        )
        unknown = unknown_name("column", column, list(known))
        raise DesignError(
            unknown.problem,
            where="design.separate or design.order",
            expected=unknown.expected,
            remedy=unknown.remedy,
        )
    return found


def _label(entry: ListEntry, column: str) -> str | None:
    if column == "kind":
        return str(entry.kind)
    if column in ITEM_COLUMNS:
        return str(getattr(entry.item, column))
    item = entry.item
    for own in (dict(item.extra), lemmas_of(item.features), lemmas_of(item.frame)):
        if own.get(column):
            return own[column]
    return None


def _spread(entries: Sequence[ListEntry], design: Design) -> list[Spread]:
    column = spread_column(design)
    by_label = labels(entries, column)
    catching = catch_keys(entries, column)
    return [
        Spread(key, frozenset(i for i, label in enumerate(by_label) if label == key))
        for key in sorted(catching)
    ]


def spread_column(design: Design) -> str:
    """Return the column whose trials are spread together where one of them is a catch trial."""
    return "template" if design.separate == "template" else "construction"


def catch_keys(entries: Sequence[ListEntry], column: str) -> frozenset[str]:
    """Return the labels that catch trials carry: all trials with them are spread together."""
    by_label = zip(entries, labels(entries, column), strict=True)
    return frozenset(label for entry, label in by_label if entry.kind is Kind.CATCH and label)
