"""The licences of other people's sentences, as items name them in one column."""

from collections.abc import Iterable

COLUMN = "licence"
UNKNOWN_LICENCE = "not stated"
_BETWEEN = "; "


def join_licences(names: Iterable[str]) -> str:
    """Return several licences as one text, each once."""
    return _BETWEEN.join(dict.fromkeys(names))


def split_licences(text: str) -> list[str]:
    """Return the licences that ``join_licences`` joined."""
    return list(filter(None, map(str.strip, text.split(_BETWEEN.strip()))))
