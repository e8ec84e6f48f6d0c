"""Discovery of modules in a package that define a given attribute."""

import importlib
import pkgutil
from functools import cache
from typing import TypeVar

Offered = TypeVar("Offered")


def offered_in(folder: str, attribute: str, kind: type[Offered]) -> tuple[Offered, ...]:
    """Return the objects that a package's modules offer, in order of module names.

    Args:
        folder: The dotted name of the package.
        attribute: The name of a module's attribute with one object, or a tuple of objects.
        kind: The type of the objects; modules without the attribute are ignored.
    """
    offers: list[Offered] = []
    for name in _modules(folder):
        offer = getattr(importlib.import_module(name), attribute, ())
        several = offer if isinstance(offer, tuple) else (offer,)
        offers += [thing for thing in several if isinstance(thing, kind)]
    return tuple(offers)


@cache
def _modules(folder: str) -> tuple[str, ...]:
    package = importlib.import_module(folder)
    names = (module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(f"{folder}.{name}" for name in sorted(names))
