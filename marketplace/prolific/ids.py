"""Identifiers as the platform makes them: 24 hexadecimal digits."""

import re
import secrets

ID = re.compile(r"[0-9a-f]{24}")


def new_id() -> str:
    """Return an identifier that nothing else has."""
    return secrets.token_hex(12)


def is_id(text: str) -> bool:
    """Return whether a text is an identifier."""
    return ID.fullmatch(text) is not None
