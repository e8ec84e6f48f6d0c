"""Identifiers that look like the real service's: thirty letters and digits."""

import secrets
import string

_ALPHABET = string.ascii_uppercase + string.digits
_LENGTH = 30


def new_id() -> str:
    """Return a new identifier, from the system's source of randomness."""
    return "3" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH - 1))
