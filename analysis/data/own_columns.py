"""Own columns of a researcher's materials, renamed to avoid conflicts with built-in columns.

A table of items may have any header, even ``rating``, ``position`` or ``participant``. The analysis
names each own column ``own_`` plus its header, so that column names stay unique.
"""

from collections.abc import Iterator

import pandas as pd

from experiment.materials.item_rows import item_from_row
from experiment.records import Item
from experiment.tables.schemas import ITEMS

PREFIX = "own_"


def prefix_own_columns(items: pd.DataFrame) -> pd.DataFrame:
    """Return a table of items with each own column renamed to ``own_`` plus its header."""
    own_names = [str(name) for name in items if name not in ITEMS.column_names]
    return items.rename(columns={name: PREFIX + name for name in own_names})


def list_own_columns(items: pd.DataFrame) -> list[str]:
    """Return the prefixed names of the own columns of items from ``prefix_own_columns``."""
    return [str(name) for name in items if name not in ITEMS.column_names]


def header(name: str) -> str:
    """Return the researcher's header for a prefixed own column."""
    return name.removeprefix(PREFIX)


def add_original_headers(frame: pd.DataFrame) -> pd.DataFrame:
    """Add copies of own columns under their headers, unless the header is already a column."""
    own_names = [str(name) for name in frame if str(name).startswith(PREFIX)]
    copies = {header(name): frame[name] for name in own_names if header(name) not in frame}
    return pd.concat([frame, pd.DataFrame(copies, index=frame.index)], axis=1)


def make_items(items: pd.DataFrame) -> Iterator[Item]:
    """Yield the rows of a table from ``prefix_own_columns`` as items with the original headers.

    Raises:
        ValueError: A value is not text, or not a valid kind or version of an item.
    """
    own_names = list_own_columns(items)
    names = [*ITEMS.column_names, *map(header, own_names)]
    rows = items[[*ITEMS.column_names, *own_names]].itertuples(index=False, name=None)
    return (item_from_row(dict(zip(names, row, strict=True))) for row in rows)
