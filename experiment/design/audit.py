"""Re-checking every promise of the design on built lists, from scratch."""

from collections.abc import Iterable, Sequence

from experiment.design.catalogue import read_catalogue
from experiment.design.lists import BuiltLists
from experiment.design.promises.composed import compose_all
from experiment.design.promises.frames import frame_promises
from experiment.design.promises.inspection import inspect
from experiment.design.promises.lists import list_promises, origin_promises
from experiment.design.promises.promise import Promise
from experiment.design.promises.sessions import session_promises
from experiment.errors import DesignError
from experiment.materials.read import load_items
from experiment.records import Item
from experiment.studies.study import Study


def audit(
    study: Study, built: BuiltLists, items: Iterable[Item] | None = None
) -> tuple[Promise, ...]:
    """Return every promise of the design and how the built lists keep it.

    Args:
        study: The study the lists were built for.
        built: The lists.
        items: The study's materials; made from its grammar when not given.

    Raises:
        DesignError: The materials cannot be sorted into frames and conditions.
        UnknownNameError: The design names a template that the materials lack.
    """
    catalogue = read_catalogue(load_items(study) if items is None else items)
    squares = inspect(study.design, catalogue, built)
    return (
        *origin_promises(study, catalogue, built),
        *list_promises(study, squares, built),
        *frame_promises(study.design, catalogue, squares, built),
        *session_promises(study, built, compose_all(study, built)),
    )


def refuse_broken(promises: Sequence[Promise]) -> None:
    """Raise a DesignError that lists the broken promises, if there are any."""
    broken = [promise for promise in promises if not promise.kept]
    if broken:
        breaches = "; ".join(
            f"{promise.promise} (expected {promise.expected}, found {promise.found})"
            for promise in broken
        )
        raise DesignError(
            f"the lists break {len(broken)} of {len(promises)} promises: {breaches}",
            remedy="Correct design in study.toml or the materials, and build the lists again",
        )
