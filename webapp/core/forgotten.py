"""What replaces a platform's ids of a person who was forgotten.

It is a digest of both ids together, so the same work is known again when the platform tells of it,
and who reads the database learns neither.
"""

import hashlib

FORGOTTEN_PREFIX = "forgotten:"


def forgotten_id(assignment_id: str, worker_id: str) -> str:
    """Return what stands for the platform's ids of a piece of work and of who did it."""
    digest = hashlib.sha256("\x1f".join((assignment_id, worker_id)).encode("utf-8", "replace"))
    return f"{FORGOTTEN_PREFIX}{digest.hexdigest()}"


def is_forgotten(id_: str) -> bool:
    """Return whether this stands in the place of an id."""
    return id_.startswith(FORGOTTEN_PREFIX)
