"""One kind of registry for everything that plugs in by name."""

import difflib
import importlib
from collections.abc import Iterator, Mapping

from experiment.errors import UnknownNameError


class Registry:
    """Names mapped to ``"module:attribute"``, loaded on demand.

    Args:
        kind: What the names stand for, in the singular, as an error should say it.
        entries: The registry's lines.
    """

    def __init__(self, kind: str, entries: Mapping[str, str]) -> None:
        self.kind = kind
        self._entries = dict(entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def load(self, name: str) -> object:
        """Return the object a name stands for.

        Raises:
            UnknownNameError: Nothing is registered under that name.
        """
        if name not in self._entries:
            raise unknown_name(self.kind, name, self._entries)
        module, _, attribute = self._entries[name].partition(":")
        return getattr(importlib.import_module(module), attribute)


def unknown_name(kind: str, name: str, known: Mapping[str, object] | list[str]) -> UnknownNameError:
    """Return the error for a name that is not among the known ones, with the nearest match."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return UnknownNameError(
        f'there is no {kind} "{name}"',
        expected=f"one of: {', '.join(sorted(known))}",
        remedy=f'Did you mean "{near[0]}"?' if near else "",
    )
