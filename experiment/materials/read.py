"""Items from a study's grammar or from a table, and items as rows of a table."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.generate import generate
from experiment.materials.grammar import load_grammar
from experiment.plugins import unknown_name
from experiment.records import Item, Kind, Variant
from experiment.schemas import ITEMS
from experiment.studies.study import Study
from experiment.tables import read_table

_TEXTS = ITEMS.column_names


def load_items(study: Study) -> Iterator[Item]:
    """Return the study's items, generated or read as they are consumed.

    Raises:
        MaterialsError: The materials are unsound or have a construction that study.toml lacks.
        TableError: The file of items is missing or lacks a column.
    """
    if study.materials.items:
        return _listed_items(study)
    grammar = load_grammar(study.grammar_path)
    for template in grammar.templates:
        _check_construction(
            study, template.construction, f'template "{template.name}"', template.where
        )
    return generate(grammar)


def _listed_items(study: Study) -> Iterator[Item]:
    for item in read_items(study.materials_path):
        place = f'item "{item.item_id}"'
        _check_construction(study, item.construction, place, str(study.materials_path))
        yield item


def _check_construction(study: Study, name: str, place: str, where: str) -> None:
    known = [construction.name for construction in study.constructions]
    if name not in known:
        unknown = unknown_name("construction", name, known)
        raise MaterialsError(
            f"{place}: {unknown.problem} in study.toml",
            where=where,
            expected=unknown.expected,
            remedy=unknown.remedy,
        )


def read_items(path: Path) -> Iterator[Item]:
    """Yield the items of a table (.tsv, .csv or .parquet).

    Raises:
        TableError: The file is missing or lacks a column.
        MaterialsError: A row holds a value that no item can have.
    """
    for number, row in enumerate(read_table(ITEMS, path), start=1):
        try:
            yield item_from_row(row)
        except ValueError as error:
            raise MaterialsError(
                f"the row cannot be read as an item ({error})",
                where=f"{path}, row {number}",
                expected=f"text in each of the columns {', '.join(ITEMS.column_names)}",
            ) from error


def item_from_row(row: Mapping[str, object]) -> Item:
    """Return the item that a row of the items table holds.

    Raises:
        ValueError: A value is no text, or no kind or version of an item.
    """
    texts: dict[str, str] = {}
    for name in _TEXTS:
        value = row[name]
        if not isinstance(value, str):
            raise ValueError(f"{name} is {value!r}")
        texts[name] = value
    kind, contrast = Kind(texts.pop("kind")), Variant(texts.pop("contrast"))
    return Item(kind=kind, contrast=contrast, **texts)


def item_row(item: Item) -> dict[str, object]:
    """Return the item as a row of the items table."""
    return {name: getattr(item, name) for name in ITEMS.column_names}
