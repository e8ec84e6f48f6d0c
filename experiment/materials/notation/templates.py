"""Templates: a construction's sentence with slots, in all its conditions."""

from collections.abc import Mapping
from dataclasses import dataclass

from experiment.materials.notation.cells import Cell, compile_cells
from experiment.materials.notation.lexicon import Lexicon
from experiment.materials.notation.source import Place
from experiment.materials.notation.tables import TemplateTable
from experiment.plugins import unknown_name
from experiment.records import Kind, Variant


@dataclass(frozen=True, slots=True)
class Template:
    """One template, ready to generate from.

    Attributes:
        name: Unique in the grammar.
        construction: The row of the results table its items count towards.
        kind: What its items are for.
        contrast: The version that stands against good.
        slots: Slot -> the lexicon that fills it; an entry for each slot makes a frame.
        distinct: Groups of slots (by index) that take different entries.
        cells: The conditions.
        where: ``file:line`` of the template.
    """

    name: str
    construction: str
    kind: Kind
    contrast: Variant
    slots: Mapping[str, Lexicon]
    distinct: tuple[tuple[int, ...], ...]
    cells: tuple[Cell, ...]
    where: str


def read_template(table: TemplateTable, lexicon: Mapping[str, Lexicon], place: Place) -> Template:
    """Return the template a table describes.

    Raises:
        MaterialsError: The table contradicts itself or the lexicon.
    """
    slots = {slot: _lexicon(slot, name, lexicon, place) for slot, name in table.slots.items()}
    distinct = tuple(_distinct(group, slots, place) for group in table.distinct)
    cells = compile_cells(table, slots, place)
    _check_versions(table, cells, place)
    return Template(
        name=table.name,
        construction=table.construction,
        kind=table.kind,
        contrast=Variant(table.contrast),
        slots=slots,
        distinct=distinct,
        cells=cells,
        where=place.source.where(place.table),
    )


def _lexicon(slot: str, name: str, lexicon: Mapping[str, Lexicon], place: Place) -> Lexicon:
    if name not in lexicon:
        unknown = unknown_name("lexicon", name, list(lexicon))
        raise place.error(
            f'slot "{slot}": {unknown.problem}',
            key="slots",
            text=name,
            expected=unknown.expected,
            remedy=unknown.remedy,
        )
    return lexicon[name]


def _distinct(group: list[str], slots: Mapping[str, Lexicon], place: Place) -> tuple[int, ...]:
    names = list(slots)
    if len(set(group)) < 2 or not set(group) <= set(names):
        raise place.error(
            f'"distinct" cannot tell {", ".join(group) or "nothing"} apart',
            key="distinct",
            expected=f"two or more of the slots {', '.join(names)}",
        )
    if len({slots[slot].name for slot in group}) > 1:
        raise place.error(
            f'"distinct" compares {", ".join(group)}, which draw on different lexicons',
            key="distinct",
            expected="slots that draw on the same lexicon",
        )
    return tuple(names.index(slot) for slot in group)


def _check_versions(table: TemplateTable, cells: tuple[Cell, ...], place: Place) -> None:
    if table.contrast == "distractor" and not table.distractor:
        raise place.error(
            'the contrast is "distractor", but the template has no distractor', key="contrast"
        )
    for version in ("bad", "distractor"):
        if any(getattr(cell, version) == cell.good for cell in cells):
            raise place.error(
                f'the patterns "good" and "{version}" make the same sentences',
                key=version,
                expected="a difference, such as {slot.feature} against {slot.!feature}",
            )
