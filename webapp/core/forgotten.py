"""The text that replaces the platform ids of a person who was forgotten.

The text is a digest of both ids together. The same assignment is therefore recognised when the
platform reports it again, but the database reveals neither id.
"""

import hashlib

FORGOTTEN_PREFIX = "forgotten:"


def forgotten_id(assignment_id: str, worker_id: str) -> str:
    """Return the text that replaces the platform ids of an assignment and its worker."""
    digest = hashlib.sha256("\x1f".join((assignment_id, worker_id)).encode("utf-8", "replace"))
    return f"{FORGOTTEN_PREFIX}{digest.hexdigest()}"


def is_forgotten(id_: str) -> bool:
    """Return whether a text is a replacement for a forgotten id."""
    return id_.startswith(FORGOTTEN_PREFIX)
