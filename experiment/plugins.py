"""Registries of plug-ins, identified by name, and the discovery of modules in a package."""

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from typing import TypeVar, cast

from experiment.errors import PluginError, UnknownNameError, suggest

# If this environment variable is "refuse", as in processes that handle uploaded files, no
# ``"module:attribute"`` is imported.
OWN_CODE_VARIABLE = "OWN_CODE_IN_STUDIES"


def installed_entry_points(group: str) -> EntryPoints:
    """Return the entry points of a group from the installed packages.

    The packages' files are read once, and again after a package was added or removed.
    """
    return _read_entry_points(tuple((path, _modification_time(path)) for path in sys.path)).get(
        group, EntryPoints()
    )


@lru_cache(maxsize=1)
def _read_entry_points(_places: tuple[tuple[str, int | None], ...]) -> dict[str, EntryPoints]:
    # Python 3.11 uses a different class for the same object.
    offered = cast(EntryPoints, entry_points())
    return {group: offered.select(group=group) for group in offered.groups}


def _modification_time(path: str) -> int | None:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return None


class Registry:
    """Names mapped to ``"module:attribute"``, loaded on demand.

    A name is built in, or provided by an installed package through an entry point of the group, or
    is itself a ``"module:attribute"``. A package cannot override a built-in name. A built-in name
    whose module was left out of this installation is unknown.

    Args:
        kind: The kind of object, in the singular, for messages.
        entries: The built-in names.
        group: The group of entry points for packages' objects; empty for none.
        requires: The attributes that an object of a package or a study must have.
        called: Whether such an object must be callable.
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
        """Yield the built-in names, then those that installed packages provide."""
        yield from self._entries
        offered = dict.fromkeys(entry.name for entry in self._installed())
        yield from (name for name in offered if name not in self._entries)

    @property
    def built_in(self) -> tuple[str, ...]:
        """The built-in names."""
        return tuple(self._entries)

    def load(self, name: str, *, own_code: bool = True) -> object:
        """Return the object of a name.

        Args:
            name: The name.
            own_code: Whether ``"module:attribute"`` may import code that is not installed as a
                plug-in; False for names from users who must not run code here.

        Raises:
            UnknownNameError: The name is neither built in nor provided by an installed package.
            PluginError: The object cannot be imported, is of the wrong kind, is provided by two
                packages, or is the study's own code, which is not allowed here.
        """
        if name in self._entries:
            module, _, attribute = self._entries[name].partition(":")
            return getattr(importlib.import_module(module), attribute)
        if ":" in name:
            if not own_code or os.environ.get(OWN_CODE_VARIABLE) == "refuse":
                raise self._make_own_code_error(name)
            return self._import(self._own(name))
        offers = [entry for entry in self._installed() if entry.name == name]
        if not offers:
            raise unknown_name(self.kind, name, list(self))
        if len({entry.value for entry in offers}) > 1:
            raise self._offered_twice(name, offers)
        return self._import(offers[0])

    def _installed(self) -> Iterable[EntryPoint]:
        return installed_entry_points(self.group) if self.group else ()

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
            # A plug-in's module may raise any exception while it is imported.
            raise PluginError(
                f'the {self.kind} "{plugin.name}" cannot be imported '
                f"({type(error).__name__}: {error})",
                where=_describe_origin(plugin),
                expected="module:NAME, with the module on Python's path (PYTHONPATH)",
            ) from error
        missing_names = [name for name in self._requires if not hasattr(loaded, name)]
        if missing_names or (self._called and not callable(loaded)):
            raise PluginError(
                f'"{plugin.name}" cannot be used as {self.kind}: it '
                + (f"lacks {', '.join(missing_names)}" if missing_names else "cannot be called"),
                where=_describe_origin(plugin),
                remedy="docs/plugins.md says what each kind of plug-in has",
            )
        return loaded

    def _make_own_code_error(self, name: str) -> PluginError:
        return PluginError(
            f'the {self.kind} "{name}" would import code that is not installed as a plug-in',
            expected=f"one of: {', '.join(sorted(self))}",
            remedy="Ask whoever runs this installation to install it as a package",
        )

    def _offered_twice(self, name: str, offers: Iterable[EntryPoint]) -> PluginError:
        packages = sorted({_describe_origin(entry) for entry in offers})
        return PluginError(
            f'the {self.kind} "{name}" is offered more than once: {", ".join(packages)}',
            expected="one package for each name",
            remedy="Uninstall the others, or name the one that you want as module:NAME",
        )


def is_here(target: str) -> bool:
    """Return whether a built-in ``"module:attribute"`` is part of this installation."""
    module = Path(__file__).parents[1].joinpath(*target.partition(":")[0].split("."))
    return module.with_suffix(".py").is_file() or module.is_dir()


def _describe_origin(plugin: EntryPoint) -> str:
    return f"{plugin.dist.name} ({plugin.value})" if plugin.dist else ""


def unknown_name(kind: str, name: str, known_names: Iterable[str]) -> UnknownNameError:
    """Return the error for an unknown name, with the closest known name."""
    names = list(known_names)
    return UnknownNameError(
        f'there is no {kind} "{name}"',
        expected=f"one of: {', '.join(sorted(names))}" if names else "",
        remedy=suggest(name, names),
    )


Offered = TypeVar("Offered")


def offered_in(folder: str, attribute: str, kind: type[Offered]) -> tuple[Offered, ...]:
    """Return the objects that a package's modules offer, in order of module names.

    Args:
        folder: The dotted name of the package.
        attribute: The name of a module's attribute with one object, or a tuple of objects.
        kind: The type of the objects; modules without the attribute are ignored.
    """
    offers: list[Offered] = []
    for name in _list_modules(folder):
        offer = getattr(importlib.import_module(name), attribute, ())
        several = offer if isinstance(offer, tuple) else (offer,)
        offers += [plugin for plugin in several if isinstance(plugin, kind)]
    return tuple(offers)


@cache
def _list_modules(folder: str) -> tuple[str, ...]:
    package = importlib.import_module(folder)
    names = (module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(f"{folder}.{name}" for name in sorted(names))
