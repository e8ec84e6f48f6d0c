"""Reading of items from a study's grammar or from a table, and the identity of materials."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path

from experiment.errors import MaterialsError, ParallaxError
from experiment.grammar.grammar import OnLeftOut, generate, load_grammar
from experiment.materials.item_rows import item_from_row
from experiment.plugins import unknown_name
from experiment.records import Item
from experiment.studies.study import Study
from experiment.tables.files import read_table
from experiment.tables.schemas import ITEMS

# Three times those of the largest built-in study; each takes about a kilobyte of memory.
_MOST_ITEMS = 500_000
OnRefused = Callable[[ParallaxError], object]


def load_items(
    study: Study, refused: OnRefused | None = None, left_out: OnLeftOut | None = None
) -> Iterator[Item]:
    """Return the study's items lazily, generated or read on iteration.

    Args:
        study: The study.
        refused: Called for each invalid row of a text table, instead of raising an exception.
        left_out: Called for each template that leaves out frames.

    Raises:
        MaterialsError: The materials are invalid or have a construction that study.toml lacks.
        TableError: The file of items is missing or lacks a column.
    """
    if study.materials.items:
        return _listed_items(study, refused)
    grammar = load_grammar(study.grammar_path)
    for template in grammar.templates:
        _check_construction(
            study, template.construction, f'template "{template.name}"', template.place.where
        )
    return generate(grammar, left_out)


def collect_items(
    study: Study, refused: OnRefused | None = None, left_out: OnLeftOut | None = None
) -> list[Item]:
    """Return all items of a study; see ``load_items``.

    Raises:
        MaterialsError: There are too many, or as ``load_items``.
        TableError: As ``load_items``.
    """
    items = list(islice(load_items(study, refused, left_out), _MOST_ITEMS + 1))
    if len(items) > _MOST_ITEMS:
        raise MaterialsError(
            f"the study has more than {_MOST_ITEMS:,} items",
            where=str(study.materials_path),
            expected=f"at most {_MOST_ITEMS:,}",
            remedy="Use fewer words in the slots of a grammar, or a table with some of the items",
        )
    return items


def _listed_items(study: Study, refused: OnRefused | None) -> Iterator[Item]:
    reported_items = set[str]()
    for item in read_items(study.materials_path, refused):
        location = f'item "{item.item_id}"'
        try:
            _check_construction(study, item.construction, location, str(study.materials_path))
        except MaterialsError as error:
            if refused is None:
                raise
            # Each unknown construction is reported only once.
            if item.construction not in reported_items:
                refused(error)
            reported_items.add(item.construction)
        yield item


def _check_construction(study: Study, name: str, item_name: str, location: str) -> None:
    constructions = [construction.name for construction in study.constructions]
    if name not in constructions:
        unknown = unknown_name("construction", name, constructions)
        raise MaterialsError(
            f"{item_name}: {unknown.problem} among the constructions of study.toml",
            where=location,
            expected=unknown.expected,
            remedy=unknown.remedy,
        )


def read_items(path: Path, refused: OnRefused | None = None) -> Iterator[Item]:
    """Yield the items of a table (.tsv, .csv or .parquet).

    Args:
        path: The table.
        refused: Called for each invalid row of a text table, instead of raising an exception.

    Raises:
        TableError: The file is missing or lacks a column.
        MaterialsError: A row has an invalid value.
    """
    for number, row in enumerate(read_table(ITEMS, path, extended=True, refused=refused), start=1):
        try:
            yield item_from_row(row)
        except ValueError as error:
            raise MaterialsError(
                f"the row cannot be read as an item ({error})",
                where=f"{path}, row {number}",
                expected=f"text in each of the columns {', '.join(ITEMS.column_names)}",
            ) from error


def find_items(path: Path) -> Path:
    """Return the table of items in a folder of lists or of an export; a file is itself.

    Raises:
        MaterialsError: The folder has none.
    """
    if not path.is_dir():
        return path
    tables = [path / f"items{suffix}" for suffix in (".csv", ".tsv", ".parquet")]
    existing = [table for table in tables if table.is_file()]
    if not existing:
        raise MaterialsError(
            "the folder holds no table of items",
            where=str(path),
            expected="a folder that `parallax lists build` or `parallax export` wrote",
        )
    return existing[0]


class MaterialsHash:
    """The SHA-256 of items, which are added one after another.

    Each item contributes its columns in the items table's order, joined by U+001F, and a newline;
    the study's own columns follow as ``name=value``.
    """

    def __init__(self) -> None:
        self._digest, self._columns = hashlib.sha256(), attrgetter(*ITEMS.column_names)

    def add(self, item: Item) -> None:
        """Add the next item."""
        row = "\x1f".join(map(str, self._columns(item)))
        further = "".join(f"\x1f{name}={value}" for name, value in item.extra)
        self._digest.update(f"{row}{further}\n".encode())

    @property
    def hex(self) -> str:
        """The hash of the items that were added."""
        return self._digest.hexdigest()


def materials_hash(items: Iterable[Item]) -> str:
    """Return the SHA-256 (hex) of the items in order."""
    digest = MaterialsHash()
    for item in items:
        digest.add(item)
    return digest.hex
