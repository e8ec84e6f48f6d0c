"""The columns that a researcher's materials bring, under names that no column of ours has.

A table of items may have any header: ``rating``, ``position`` or ``participant`` as well. Within
the analysis each such column is called ``own_`` and its header, so that no frame has a name twice.
"""

from collections.abc import Iterator

import pandas as pd

from experiment.materials.read import item_from_row
from experiment.records import Item
from experiment.tables.schemas import ITEMS

PREFIX = "own_"


def in_namespace(items: pd.DataFrame) -> pd.DataFrame:
    """Return a table of items whose own columns are called ``own_`` and their header."""
    own = [str(name) for name in items if name not in ITEMS.column_names]
    return items.rename(columns={name: PREFIX + name for name in own})


def own_columns(items: pd.DataFrame) -> list[str]:
    """Return the own columns of items that ``in_namespace`` gave, as they are called there."""
    return [str(name) for name in items if name not in ITEMS.column_names]


def header(name: str) -> str:
    """Return what the researcher calls a column of the namespace."""
    return name.removeprefix(PREFIX)


def with_headers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame that has each own column by its header as well, unless it has another so."""
    own = [str(name) for name in frame if str(name).startswith(PREFIX)]
    free = {header(name): frame[name] for name in own if header(name) not in frame}
    return pd.concat([frame, pd.DataFrame(free, index=frame.index)], axis=1)


def items_of(items: pd.DataFrame) -> Iterator[Item]:
    """Yield the rows of a table that ``in_namespace`` gave as items, their headers as they were.

    Raises:
        ValueError: A value is no text, or no kind or version of an item.
    """
    own = own_columns(items)
    names = [*ITEMS.column_names, *map(header, own)]
    rows = items[[*ITEMS.column_names, *own]].itertuples(index=False, name=None)
    return (item_from_row(dict(zip(names, row, strict=True))) for row in rows)
