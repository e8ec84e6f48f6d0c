"""The identity of a set of materials: one hash that changes when any item does."""

import hashlib
from collections.abc import Iterable

from experiment.materials.read import item_row
from experiment.records import Item


def materials_hash(items: Iterable[Item]) -> str:
    """Return the SHA-256 (hex) of the items in their order.

    Each item counts as its columns in the items table's order, joined by U+001F, and a newline.
    """
    digest = hashlib.sha256()
    for item in items:
        row = "\x1f".join(map(str, item_row(item).values()))
        digest.update(f"{row}\n".encode())
    return digest.hexdigest()
