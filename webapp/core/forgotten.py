"""The text that replaces a platform's ids of a person who was forgotten.

It is a digest of both ids together. So the same assignment is recognised when the platform reports
it again, but the database reveals neither id.
"""

import hashlib

FORGOTTEN_PREFIX = "forgotten:"


def forgotten_id(assignment_id: str, worker_id: str) -> str:
    """Return the text that replaces a platform's ids of an assignment and of its worker."""
    digest = hashlib.sha256("\x1f".join((assignment_id, worker_id)).encode("utf-8", "replace"))
    return f"{FORGOTTEN_PREFIX}{digest.hexdigest()}"


def is_forgotten(id_: str) -> bool:
    """Return whether this text replaced an id that was forgotten."""
    return id_.startswith(FORGOTTEN_PREFIX)
