"""All lints of materials, and the conversion of their faults to errors and notes with locations."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from experiment.authoring.examined import Examined
from experiment.authoring.lint import cells, cues, pairing
from experiment.authoring.lint.materials import Fault, Lint, Materials
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.records import Item, ListEntry


def lint_typography(materials: Materials) -> Iterator[Fault]:
    """Report items with different quotation marks or apostrophes than the others."""
    for kind, straight, curly in (("quotation marks", '"', "\u201c\u201d\u201e"),
                                  ("apostrophes", "'", "\u2018\u2019")):  # fmt: skip
        with_straight, with_curly = (
            [item for item in materials.items if any(mark in item.good for mark in marks)]
            for marks in (straight, curly)
        )
        if not with_straight or not with_curly:
            continue
        rarer = min(with_straight, with_curly, key=len)
        n_rest = len(with_straight) + len(with_curly) - len(rarer)
        yield Fault(
            "typed otherwise",
            tuple(rarer),
            f"has {'curly' if rarer is with_curly else 'straight'} {kind}, where {n_rest} item(s) "
            f"have {'straight' if rarer is with_curly else 'curly'} ones",
            "Type all in the same way: a difference between conditions becomes a part of what "
            "is compared, and models read different tokens",
        )


LINTS: tuple[Lint, ...] = (
    cells.lint_kinds,
    cells.lint_lists,
    cells.lint_names,
    cells.lint_numbers,
    cells.lint_cells,
    cells.lint_markup,
    cells.lint_leftovers,
    cells.lint_scripts,
    pairing.lint_same_versions,
    pairing.lint_duplicates,
    pairing.lint_contradictions,
    pairing.lint_exchanged_versions,
    cues.lint_full_stops,
    cues.lint_capitals,
    cues.lint_labels,
    cues.lint_punctuation,
    lint_typography,
    cues.lint_lengths,
    cues.lint_word_order,
)
_SHOWN = 5


def lint(examined: Examined) -> Iterator[ParallaxError]:
    """Run all lints on a study's items.

    Of the items that a grammar generates, only those in lists are read, because nobody wrote each
    item individually.
    """
    study = examined.study
    items_of_lists = [[entry.item for entry in entries] for entries in _list_items(examined)]
    items: Sequence[Item] = examined.items
    if not study.materials.items:
        items = list(
            {item.item_id: item for list_items in items_of_lists for item in list_items}.values()
        )
    against = study.trial.parameters.get("against", ())
    materials = Materials(
        items,
        study.study.language,
        tuple(map(str, against)) if isinstance(against, list | tuple) else (),
        items_of_lists,
        frozenset(given.column for given in study.design.given),
    )
    places = ItemPlaces(study.materials_path)
    yield from report_faults(find_faults(materials), str(study.materials_path), places)


def find_faults(materials: Materials) -> Iterator[Fault]:
    """Yield the faults that all lints find."""
    for lint in LINTS:
        yield from lint(materials)


def report_faults(
    faults_found: Iterable[Fault], file: str, places: Mapping[str, str]
) -> Iterator[ParallaxError]:
    """Yield faults as errors and notes.

    Args:
        faults_found: The faults.
        file: The file of items, for items without a known line.
        places: Each item's location in its file.
    """
    for fault in faults_found:
        kind = StudyError if fault.fatal else StudyNote
        if not fault.items:
            yield kind(fault.problem, where=file, remedy=fault.remedy)
            continue
        first, *others = fault.items
        also = ""
        if others:
            ends = ", ".join(_get_line(item, places) for item in others[:_SHOWN])
            remainder = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
            also = f" ({fault.name}; also {ends}{remainder})"
        yield kind(
            f'the item "{first.item_id}" {fault.problem}{also}',
            where=places.get(first.item_id, file),
            remedy=fault.remedy,
        )


def _get_line(item: Item, places: Mapping[str, str]) -> str:
    return places[item.item_id].rpartition(", ")[2] if item.item_id in places else item.item_id


def _list_items(examined: Examined) -> Sequence[Sequence[ListEntry]]:
    return examined.built.lists if examined.built else ()


class ItemPlaces(dict[str, str]):
    """The location (file and line) of each item of a text table; read on first use."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path: Path | None = path if path.suffix in (".tsv", ".csv") else None

    def get(self, key: str, default: str = "") -> str:  # type: ignore[override]
        """Return an item's location, or the default."""
        self._read()
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self._read()
        return super().__contains__(key)

    def _read(self) -> None:
        path, self._path = self._path, None
        if path is None or not path.is_file():
            return
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            for row in reader:
                self[row.get("item_id") or ""] = f"{path}, line {reader.line_num}"
