"""One kind of registry for everything that plugs in by name."""

import difflib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from typing import cast

from experiment.errors import PluginError, UnknownNameError

# Set to "refuse" in the environment of a process that handles what somebody uploaded: then no
# ``"module:attribute"`` is imported, whoever asks.
OWN_CODE_VARIABLE = "OWN_CODE_IN_STUDIES"


def installed(group: str) -> EntryPoints:
    """Return what the installed packages offer in a group of entry points.

    The files of every package are read once, and again when a package came or went.
    """
    return _offered(tuple((path, _changed(path)) for path in sys.path)).get(group, EntryPoints())


@lru_cache(maxsize=1)
def _offered(_places: tuple[tuple[str, int | None], ...]) -> dict[str, EntryPoints]:
    # Python 3.11 calls the same thing by another class.
    offered = cast(EntryPoints, entry_points())
    return {group: offered.select(group=group) for group in offered.groups}


def _changed(path: str) -> int | None:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return None


class Registry:
    """Names mapped to ``"module:attribute"``, loaded on demand.

    A name is built in, or offered by an installed package through an entry point of the group,
    or is ``"module:attribute"`` itself. A package cannot take a built-in name away. A built-in name
    whose module was left out of this installation is unknown.

    Args:
        kind: What the names stand for, in the singular, as an error should say it.
        entries: The built-in names.
        group: The group of entry points through which packages offer more; none when empty.
        requires: The attributes that whatever a package or a study brings must have.
        called: Whether it must be callable.
    """

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, str],
        *,
        group: str = "",
        requires: Iterable[str] = (),
        called: bool = True,
    ) -> None:
        self.kind, self.group = kind, group
        self._all_entries, self._requires = dict(entries), tuple(requires)
        self._called = called

    @cached_property
    def _entries(self) -> dict[str, str]:
        return {name: target for name, target in self._all_entries.items() if is_here(target)}

    def __iter__(self) -> Iterator[str]:
        """Yield the built-in names, then those that installed packages offer."""
        yield from self._entries
        offered = dict.fromkeys(entry.name for entry in self._installed())
        yield from (name for name in offered if name not in self._entries)

    @property
    def built_in(self) -> tuple[str, ...]:
        """The names that need no further package."""
        return tuple(self._entries)

    def load(self, name: str, *, own_code: bool = True) -> object:
        """Return the object a name stands for.

        Args:
            name: The name.
            own_code: Whether ``"module:attribute"`` may import what nobody installed as a
                plug-in; False where the name comes from somebody who must not run code here.

        Raises:
            UnknownNameError: The name is neither built in nor offered by an installed package.
            PluginError: The name's object cannot be imported, is of another kind, is offered by two
                packages, or is the study's own code where that is not allowed.
        """
        if name in self._entries:
            module, _, attribute = self._entries[name].partition(":")
            return getattr(importlib.import_module(module), attribute)
        if ":" in name:
            if not own_code or os.environ.get(OWN_CODE_VARIABLE) == "refuse":
                raise self._own_code_refused(name)
            return self._import(self._own(name))
        offers = [entry for entry in self._installed() if entry.name == name]
        if not offers:
            raise unknown_name(self.kind, name, list(self))
        if len({entry.value for entry in offers}) > 1:
            raise self._offered_twice(name, offers)
        return self._import(offers[0])

    def _installed(self) -> Iterable[EntryPoint]:
        return installed(self.group) if self.group else ()

    def _own(self, name: str) -> EntryPoint:
        entry = EntryPoint(name, name, self.group)
        if not entry.pattern.match(name):
            raise PluginError(
                f'the {self.kind} "{name}" cannot be imported: it is not of the form module:NAME',
                expected="module:NAME, with the module on Python's path (PYTHONPATH)",
            )
        return entry

    def _import(self, plugin: EntryPoint) -> object:
        try:
            loaded: object = plugin.load()
        except Exception as error:
            # Somebody else's module may raise anything while it is imported.
            raise PluginError(
                f'the {self.kind} "{plugin.name}" cannot be imported '
                f"({type(error).__name__}: {error})",
                where=_origin(plugin),
                expected="module:NAME, with the module on Python's path (PYTHONPATH)",
            ) from error
        lacking = [name for name in self._requires if not hasattr(loaded, name)]
        if lacking or (self._called and not callable(loaded)):
            raise PluginError(
                f'"{plugin.name}" cannot be used as {self.kind}: it '
                + (f"lacks {', '.join(lacking)}" if lacking else "cannot be called"),
                where=_origin(plugin),
                remedy="docs/plugins.md says what each kind of plug-in has",
            )
        return loaded

    def _own_code_refused(self, name: str) -> PluginError:
        return PluginError(
            f'the {self.kind} "{name}" would import code that is not installed as a plug-in',
            expected=f"one of: {', '.join(sorted(self))}",
            remedy="Ask whoever runs this installation to install it as a package",
        )

    def _offered_twice(self, name: str, offers: Iterable[EntryPoint]) -> PluginError:
        packages = sorted({_origin(entry) for entry in offers})
        return PluginError(
            f'the {self.kind} "{name}" is offered more than once: {", ".join(packages)}',
            expected="one package for each name",
            remedy="Uninstall the others, or name the one that you want as module:NAME",
        )


def is_here(target: str) -> bool:
    """Return whether a built-in ``"module:attribute"`` is part of this installation."""
    module = Path(__file__).parents[1].joinpath(*target.partition(":")[0].split("."))
    return module.with_suffix(".py").is_file() or module.is_dir()


def _origin(plugin: EntryPoint) -> str:
    return f"{plugin.dist.name} ({plugin.value})" if plugin.dist else ""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Return the error for a name that is not among the known ones, with the nearest match."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return UnknownNameError(
        f'there is no {kind} "{name}"',
        expected=f"one of: {', '.join(sorted(names))}" if names else "",
        remedy=f'Did you mean "{near[0]}"?' if near else "",
    )
