"""Materials in a file or in a folder of files, for repeated iteration."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.formats.format import format_of, formats
from experiment.materials.formats.raw import SUFFIXES
from experiment.materials.formats.read import read_materials
from experiment.materials.read import read_items
from experiment.records import Item
from experiment.tables.schemas import ITEMS

# In a folder, a .txt file is more likely a note than a table.
_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".tab", ".parquet")
_STUDY_FILE = "study.toml"
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True, slots=True)
class OpenedMaterials:
    """Materials that can be iterated repeatedly.

    Attributes:
        items: Returns a new iterator over the items.
        notes: What was decided, derived or left out, as sentences.
        rendering: The rendering for models with their own tokeniser, if the format specifies one.
    """

    items: Callable[[], Iterator[Item]]
    notes: tuple[str, ...]
    rendering: str = ""


def is_materials(file_name: str) -> bool:
    """Return whether a path names a file of items or a folder of such files."""
    path = Path(file_name)
    if path.is_dir():
        return not (path / _STUDY_FILE).is_file() and bool(materials_files(path))
    format_suffixes = [suffix for format_ in formats() for suffix in format_.suffixes]
    return path.suffix.lower() in (*SUFFIXES, *format_suffixes, ".parquet")


def materials_files(path: Path) -> list[Path]:
    """Return the files of items in a folder, by name; for a file, the file itself.

    If a folder contains tasks, only these are returned, because they name their data files.
    """
    if not path.is_dir():
        return [path]
    inside = sorted(file for file in path.iterdir() if file.is_file() and file.name[0] not in "._")
    published = {file: format_of(file) for file in inside}
    tasks = [file for file, format_ in published.items() if format_ and format_.names_its_data]
    return tasks or [
        file for file, format_ in published.items() if format_ or file.suffix.lower() in _SUFFIXES
    ]


def open_materials(path: Path) -> OpenedMaterials:
    """Open a file or folder of items in any format, without loading large tables.

    The two sentences of a pair may be identical: a model's tie is counted as such. A row may be a
    single sentence, to be rated.

    Raises:
        MaterialsError: A file cannot be read, or two items of a folder have one id.
    """
    files = [_open_file(file) for file in materials_files(path)]
    if len(files) == 1:
        return files[0]
    items = tuple(chain.from_iterable(file.items() for file in files))
    _refuse_repeated(items, path)
    notes = tuple(dict.fromkeys(chain.from_iterable(file.notes for file in files)))
    renderings = {file.rendering for file in files}
    return OpenedMaterials(items.__iter__, notes, renderings.pop() if len(renderings) == 1 else "")


def _open_file(path: Path) -> OpenedMaterials:
    if _is_items_table(path):
        return OpenedMaterials(partial(read_items, path), ())
    materials = read_materials(path, identical=True, alone=True, as_written=True)
    return OpenedMaterials(materials.items.__iter__, materials.notes, materials.rendering)


def _is_items_table(path: Path) -> bool:
    if path.suffix == ".parquet":
        return not path.is_file() or _has_own_columns(path)
    if path.suffix not in _DELIMITERS or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.readline().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    columns = {name.strip('"') for name in head.strip().split(_DELIMITERS[path.suffix])}
    return set(ITEMS.column_names) <= columns


def _has_own_columns(path: Path) -> bool:
    # pyarrow takes long to load.
    from experiment.tables.parquet import column_names

    try:
        return set(ITEMS.column_names) <= set(column_names(path))
    except ValueError:
        # The reader of the file reports what is wrong with it.
        return True


def _refuse_repeated(items: Iterable[Item], path: Path) -> None:
    seen_ids = set[str]()
    for item in items:
        if item.item_id in seen_ids:
            raise MaterialsError(
                f'two files have an item "{item.item_id}"',
                where=str(path),
                expected="a different id or construction in each file",
            )
        seen_ids.add(item.item_id)
