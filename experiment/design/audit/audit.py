"""The audit: all checks of a design, computed from scratch on the built lists."""

from collections.abc import Iterable, Sequence

from experiment.design.audit.list_checks import (
    frame_checks,
    list_checks,
    origin_checks,
    wording_checks,
)
from experiment.design.audit.order_checks import SEEDS, drawing_checks, kept_checks
from experiment.design.audit.session_checks import session_checks, shared_checks
from experiment.design.audit.sessions import Check, compose_all, square_contents
from experiment.design.frames import MaterialsIndex, index_materials
from experiment.design.lists import BuiltLists
from experiment.errors import DesignError
from experiment.materials.read import load_items
from experiment.records import Item
from experiment.studies.study import Study


def audit(
    study: Study,
    built: BuiltLists,
    items: Iterable[Item] | MaterialsIndex | None = None,
    *,
    order_seeds: int = SEEDS,
) -> tuple[Check, ...]:
    """Return the results of all checks of the design on the built lists.

    Args:
        study: The study the lists were built for.
        built: The lists.
        items: The study's materials, or their index; by default, the study's own.
        order_seeds: The number of seeds for the checks of trial positions; 0 skips them.

    Raises:
        DesignError: The materials cannot be sorted into frames and conditions.
        UnknownNameError: The design names a template that the materials lack.
    """
    index = index_materials(load_items(study) if items is None else items)
    squares = square_contents(study.design, index, built)
    composition = compose_all(study, built)
    return (
        *origin_checks(study, composition.response, index, built),
        *list_checks(study, squares, built),
        *frame_checks(study.design, index, squares, built),
        *shared_checks(study.design, index, built, composition.sessions),
        *session_checks(study, built, composition),
        *wording_checks(study),
        *kept_checks(study, composition.sessions),
        *drawing_checks(study, built, order_seeds),
    )


def require_passed(checks: Sequence[Check]) -> None:
    """Raise a DesignError that names the failed checks, if there are any."""
    failed = [check for check in checks if not check.passed]
    if failed:
        breaches = "; ".join(
            f"{check.name} (expected {check.expected}, found {check.found})" for check in failed
        )
        raise DesignError(
            f"the lists fail {len(failed)} of {len(checks)} checks: {breaches}",
            remedy="Correct design in study.toml or the materials, and build the lists again",
        )
