"""Factors between participants: which lists are of which levels, and what refers to them."""

from collections import Counter
from collections.abc import Iterator, Mapping

from experiment.errors import DesignError
from experiment.plugins import unknown_name
from experiment.studies.design import Design, Source, holds
from experiment.tables.schemas import LISTS, PARTICIPANTS


def check_factors(design: Design) -> None:
    """Check everything that names a factor, a level, a list or a template of some lists.

    Raises:
        DesignError: A factor is named like a column of the exports, or has a level twice; a quota
            is of a list that does not exist; a list would have a template twice, or nothing.
        UnknownNameError: A factor or a level is named that the design does not have.
    """
    _check_levels(design)
    for where, when in _whens(design):
        _check_when(design, when, where)
    for number, quota in enumerate(design.quotas, start=1):
        if beyond := [list_ for list_ in quota.lists if list_ >= design.n_lists]:
            raise DesignError(
                f"quota {number} is for list {beyond[0]}, but there are {design.n_lists} lists",
                where="design.quotas",
                expected=f"lists 0 to {design.n_lists - 1}",
            )
    _check_blocks(design)
    for levels in design.combinations:
        _check_templates([source for source in design.sources if holds(source.when, levels)])


def _check_levels(design: Design) -> None:
    for factor, levels in design.factors.items():
        if factor in (*PARTICIPANTS.column_names, *LISTS.column_names):
            raise DesignError(
                f'a factor cannot be called "{factor}": exported tables have a column of that name',
                where="design.factors",
                expected="another name",
            )
        if len(set(levels)) < len(levels):
            raise DesignError(
                f'the factor "{factor}" lists a level twice: {", ".join(levels)}',
                where="design.factors",
                expected="each level once",
            )


def _whens(design: Design) -> Iterator[tuple[str, Mapping[str, str]]]:
    for key in ("squares", "shared", "given", "quotas"):
        for table in getattr(design, key):
            yield f"design.{key}", table.when


def _check_when(design: Design, when: Mapping[str, str], where: str) -> None:
    for factor, level in when.items():
        known, what, name = list(design.factors), "factor", factor
        if factor in design.factors:
            known, what, name = design.factors[factor], f'level of "{factor}"', level
        if name not in known:
            unknown = unknown_name(what, name, known)
            raise DesignError(
                unknown.problem, where=where, expected=unknown.expected, remedy=unknown.remedy
            )


def _check_blocks(design: Design) -> None:
    for name in design.order.first_blocks:
        if name not in design.block_names:
            unknown = unknown_name("block", name, filter(None, design.block_names))
            raise DesignError(
                unknown.problem,
                where="design.order.first_blocks",
                expected=unknown.expected,
                remedy=unknown.remedy,
            )


def _check_templates(sources: list[Source]) -> None:
    if not sources:
        raise DesignError(
            "some lists would be empty: no items are shown at their levels",
            where="design.squares",
            expected="items for each combination of the factors' levels",
        )
    uses = Counter(name for source in sources for name in source.templates)
    if twice := [name for name, n in uses.items() if n > 1]:
        raise DesignError(
            f"the template(s) {', '.join(twice)} would occur in a list more than once",
            where="design.squares",
            expected="each template once in squares, shared and given of the same lists",
        )
