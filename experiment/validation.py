"""Wrong keys in words, for whatever pydantic checked."""

from pydantic import ValidationError


def wrong_keys(error: ValidationError) -> str:
    """Return every problem as one text, e.g. ``design.lists: Field required (seen: {})``."""
    return "; ".join(
        f"{'.'.join(map(str, e['loc']))}: {e['msg']} (seen: {e['input']!r})"
        for e in error.errors(include_url=False)
    )
