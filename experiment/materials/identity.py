"""The identity of a set of materials: one hash that changes when any item does."""

import hashlib
from collections.abc import Iterable
from operator import attrgetter

from experiment.records import Item
from experiment.tables.schemas import ITEMS


def materials_hash(items: Iterable[Item]) -> str:
    """Return the SHA-256 (hex) of the items in their order.

    Each item counts as its columns in the items table's order, joined by U+001F, and a newline;
    the study's own columns stand behind them as ``name=value``.
    """
    digest, columns = hashlib.sha256(), attrgetter(*ITEMS.column_names)
    for item in items:
        row = "\x1f".join(map(str, columns(item)))
        own = "".join(f"\x1f{name}={value}" for name, value in item.extra)
        digest.update(f"{row}{own}\n".encode())
    return digest.hexdigest()
