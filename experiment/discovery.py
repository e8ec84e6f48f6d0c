"""Modules of a folder that offer something under one name, found without a list of them."""

import importlib
import pkgutil
from functools import cache
from typing import TypeVar

Offered = TypeVar("Offered")


def offered_in(folder: str, attribute: str, kind: type[Offered]) -> tuple[Offered, ...]:
    """Return what the modules of a package offer, in the order of the modules' names.

    Args:
        folder: The package, with dots.
        attribute: The name under which a module offers one thing, or a tuple of several.
        kind: What the things are; a module that offers nothing of the name is passed over.
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
