"""A second reading of a file of items: its texts as they are written, for the check of scores.

Nothing here uses the readers in ``experiment.materials.formats``, so a text that they change is
seen. A file is read as cells, whatever their columns mean; a task of lm-evaluation-harness as what
the harness gives a model: the prompt, the delimiter and the choice.
"""

import ast
import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import pyarrow as pa
import yaml
from jinja2 import TemplateError
from jinja2.sandbox import SandboxedEnvironment

from analysis.errors import AnalysisError
from experiment.records import Item

_TASK_SUFFIXES = (".yaml", ".yml")
_TABLE_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
_DELIMITERS = ",;\t|"
_ENCODINGS = ("utf-8-sig", "cp1252")
# What odd files raise: broken JSON, templates, literals, quotation marks, archives.
_UNREADABLE = (
    ValueError, LookupError, TypeError, AttributeError, SyntaxError, OSError, RecursionError,
    csv.Error, yaml.YAMLError, TemplateError, BadZipFile, pa.ArrowException,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RawTexts:
    """The texts of a file, with their white space.

    Attributes:
        path: The file or folder.
        cells: For each text without its white space, every way in which the file writes it.
        joined_texts: For tasks, the same for prompt, delimiter and choice together.
    """

    path: Path
    cells: Mapping[str, frozenset[str]]
    joined_texts: Mapping[str, frozenset[str]]

    def find_text(self, item: Item, option: str) -> str | None:
        """Return an option after its context, as written in the file; None if no cell contains it.

        A composed text, such as regions that are joined, is in no cell of the file.

        Raises:
            AnalysisError: The file has the text, but with other white space.
        """
        text = item.after_context(option)
        if written := self.joined_texts.get(_remove_spaces(text)):
            # The space before a choice without a prompt is the rendering's.
            return self._require_same_text(
                text, frozenset(written | {t.removeprefix(" ") for t in written})
            )
        parts = [part for part in (item.context, option) if part]
        found_cells = [self.cells.get(_remove_spaces(part)) for part in parts]
        if not all(found_cells):
            return None
        for part, ways in zip(parts, found_cells, strict=True):
            self._require_same_text(part, ways or frozenset())
        return text

    def _require_same_text(self, text: str, written: frozenset[str]) -> str:
        # Spaces at the ends of a cell are those of the table.
        if text in written or text in {way.strip(" ") for way in written}:
            return text
        raise AnalysisError(
            f"a model would read {text[:80]!r}, but the file says {min(written)[:80]!r}",
            where=str(self.path),
            expected="the white space of the file",
            remedy="This is a fault of Parallax: please report it with the two lines above",
        )


def read_raw_texts(path: Path, files: Iterable[Path]) -> RawTexts | None:
    """Return the texts of files of items; None if none of them can be read as cells.

    A file that only the readers under test can read is left out: its items are not compared.

    Args:
        path: What the files belong to, for messages.
        files: The files.
    """
    cells: dict[str, set[str]] = {}
    joined_texts: dict[str, set[str]] = {}
    for file in files:
        is_task = file.suffix.lower() in _TASK_SUFFIXES
        try:
            texts = set(_fill_task(file) if is_task else _read_cells(file))
        except _UNREADABLE:
            continue
        ways = joined_texts if is_task else cells
        for text in texts:
            ways.setdefault(_remove_spaces(text), set()).add(text)
    if not cells and not joined_texts:
        return None
    return RawTexts(
        path,
        {key: frozenset(ways) for key, ways in cells.items()},
        {key: frozenset(ways) for key, ways in joined_texts.items()},
    )


def _remove_spaces(text: str) -> str:
    return "".join(text.split())


def _read_cells(path: Path) -> Iterator[str]:
    """Yield every text of a file; nothing if it is not one of the kinds read here."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        for line in _decode(path).split("\n"):
            yield from _list_strings(json.loads(line) if line.strip() else "")
    elif suffix == ".json":
        yield from _list_strings(json.loads(_decode(path)))
    elif suffix == ".parquet":
        import pyarrow.parquet as pq

        for batch in pq.ParquetFile(path).iter_batches():
            yield from _list_strings(batch.to_pylist())
    elif suffix == ".xlsx":
        from openpyxl import load_workbook

        for worksheet in load_workbook(path, read_only=True, data_only=True):
            for row in worksheet.iter_rows(values_only=True):
                yield from (cell for cell in row if isinstance(cell, str))
    elif suffix in _TABLE_SUFFIXES:
        yield from _separated_cells(path)


def _separated_cells(path: Path) -> set[str]:
    """Return the cells of a text table, by the delimiter that its first line has most of."""
    text = _decode(path)
    head = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=head.count)
    if delimiter == "\t" and path.suffix.lower() != ".csv":
        # Quotation marks are part of the text there, unless they enclose a whole cell.
        cells = {cell for line in text.splitlines() for cell in line.split("\t")}
        return cells | {c.strip().strip('"').replace('""', '"') for c in cells if '"' in c}
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return {cell for row in rows for cell in row}


def _decode(path: Path) -> str:
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    for encoding in _ENCODINGS:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def _list_strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _list_strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _list_strings(part)


class _Loader(yaml.SafeLoader):
    """A YAML loader that drops what names code."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def _load_task(path: Path) -> dict[str, Any]:
    task = yaml.load(path.read_text("utf-8-sig"), _Loader)
    included = task.pop("include", [])
    merged: dict[str, Any] = {}
    for name in [included] if isinstance(included, str) else included:
        merged.update(_load_task(path.parent / name))
    merged.update(task)
    return merged


def _fill_task(path: Path) -> Iterator[str]:
    """Yield what the harness gives a model for each choice of each row of a task's data."""
    task = _load_task(path)
    environment = SandboxedEnvironment(keep_trailing_newline=True)

    def fill(key: str, row: Mapping[str, Any]) -> str:
        template = str(task.get(key) or "")
        return str(row[template]) if template in row else _render(environment, template, row)

    for row in _task_rows(task, path):
        prompt = _render(environment, str(task.get("description") or ""), {}) + fill(
            "doc_to_text", row
        )
        choice_field = task.get("doc_to_choice")
        choices: list[object] | dict[str, object] = choice_field or []
        if isinstance(choice_field, str):
            choices = (
                row[choice_field]
                if choice_field in row
                else ast.literal_eval(fill("doc_to_choice", row))
            )
        for choice in choices.values() if isinstance(choices, dict) else choices:
            text = _render(environment, str(choice), row)
            yield f"{prompt}{task.get('target_delimiter', ' ')}{text}"


def _render(environment: SandboxedEnvironment, template: str, row: Mapping[str, Any]) -> str:
    return environment.from_string(template).render(row) if "{" in template else template


def _task_rows(task: Mapping[str, Any], path: Path) -> Iterator[Mapping[str, Any]]:
    file_names = (task.get("dataset_kwargs") or {}).get("data_files")
    for name in _flatten_names(file_names):
        file = Path(name) if Path(name).is_file() else path.parent / name
        if file.suffix.lower() in (".json", ".jsonl"):
            for line in _decode(file).split("\n"):
                if line.strip():
                    yield json.loads(line)
        elif file.suffix.lower() in _TABLE_SUFFIXES:
            delimiter = "," if file.suffix.lower() == ".csv" else "\t"
            yield from csv.DictReader(io.StringIO(_decode(file), newline=""), delimiter=delimiter)


def _flatten_names(named: object) -> list[str]:
    if isinstance(named, dict):
        named = list(named.values())
    if isinstance(named, list):
        return [name for part in named for name in _flatten_names(part)]
    return [str(named)] if named else []
