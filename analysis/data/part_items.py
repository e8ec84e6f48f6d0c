"""The items of several parts of a study, of which one id may name several."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from analysis.data.part_codes import Part

_MARK = "@"
OF_TRIALS = ("trials", "responses", "readings")


def apart(parts: Sequence[Part]) -> tuple[pd.DataFrame, list[Part]]:
    """Return the items of all parts, and the parts with what items were renamed to."""
    items, renamed = together([part.run.items for part in parts])
    found = []
    for part, names in zip(parts, renamed, strict=True):
        tables = {
            table: frame.assign(item_id=frame["item_id"].astype(str).replace(names))
            for table in OF_TRIALS
            if (frame := getattr(part.run, table)) is not None and "item_id" in frame
        }
        found.append(replace(part, run=replace(part.run, **tables)))
    return items, found


def together(tables: Sequence[pd.DataFrame]) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Return the items of all parts, and what each part's items were renamed to.

    Items of the same id with other words or another condition are told apart by an ``@`` and the
    place of the first part that has them among the parts, from 1; so are their frames.

    Args:
        tables: Each part's items, in the order of their sessions.
    """
    taken = {str(name) for items in tables for name in items["item_id"]}
    used: set[str] = set()
    rows: list[dict[str, str]] = []
    ids: dict[tuple[tuple[str, str], ...], str] = {}
    renamed = []
    for place, items in enumerate(tables, start=1):
        names = {}
        for row in items.astype(str).to_dict("records"):
            own = {str(key): str(value) for key, value in row.items()}
            name, content = own["item_id"], tuple(sorted(own.items()))
            if content not in ids:
                ids[content] = _marked(name, place, taken) if name in used else name
                used.add(ids[content])
                if ids[content] != name:
                    frame = f"{own['frame']}{_MARK}{place}" if own["frame"] else ""
                    own |= {"item_id": ids[content], "frame": frame}
                rows.append(own)
            if ids[content] != name:
                names[name] = ids[content]
        renamed.append(names)
    return pd.DataFrame(rows).fillna(""), renamed


def _marked(name: str, place: int, taken: set[str]) -> str:
    """Return another id for an item of a part, which no item of any part has; it is then taken."""
    marked = f"{name}{_MARK}{place}"
    while marked in taken:
        marked += _MARK
    taken.add(marked)
    return marked
