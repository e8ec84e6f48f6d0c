"""The identity of a set of materials: one hash that changes when any item does."""

import hashlib
from collections.abc import Iterable

from experiment.records import Item
from experiment.tables.schemas import ITEMS


def materials_hash(items: Iterable[Item]) -> str:
    """Return the SHA-256 (hex) of the items in their order.

    Each item counts as its columns in the items table's order, joined by U+001F, and a newline;
    the study's own columns stand behind them as ``name=value``.
    """
    digest = hashlib.sha256()
    for item in items:
        own = (f"{name}={value}" for name, value in item.extra)
        row = "\x1f".join((*(str(getattr(item, name)) for name in ITEMS.column_names), *own))
        digest.update(f"{row}\n".encode())
    return digest.hexdigest()
