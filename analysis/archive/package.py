"""An export folder as a package of tables: read, and compared with what it says of itself."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from analysis.errors import AnalysisError
from experiment.errors import why_unread
from experiment.tables.codebook import MEDIA_TYPES
from experiment.tables.column import Column, ColumnType, Role, TableSchema
from experiment.tables.files import read_table

DESCRIPTION = "datapackage.json"
Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Package:
    """An export whose files are as they were written.

    Attributes:
        folder: Where it lies.
        name: The package's name.
        title: The package's title.
        provenance: Where the data come from.
        tables: The tables with their own columns, in the export's order.
    """

    folder: Path
    name: str
    title: str
    provenance: Mapping[str, Any]
    tables: tuple[TableSchema, ...]

    @property
    def simulated(self) -> bool:
        """Whether programs answered in place of people."""
        return bool(self.provenance["simulated"])

    def rows(self, table: TableSchema) -> Iterator[Row]:
        """Return a table's rows, every text as it was given."""
        return read_table(table, self.folder / f"{table.name}.parquet")


def read_package(folder: Path) -> Package:
    """Read an export's description, and compare every file with its checksum.

    Raises:
        AnalysisError: The folder is no export, a file is missing, or one was changed since.
    """
    path = folder / DESCRIPTION
    if not path.is_file():
        raise AnalysisError(
            f"the folder holds no {DESCRIPTION}",
            where=str(folder),
            expected="a folder that `parallax export RUN` wrote",
        )
    try:
        described = json.loads(path.read_text("utf-8"))
        resources = described["resources"]
        found = Package(
            folder,
            str(described["name"]),
            str(described["title"]),
            described["parallax"],
            tuple(_schema(one) for one in resources if one["path"].endswith(".csv")),
        )
        hashes = {str(one["path"]): str(one["hash"]) for one in resources}
    except (ValueError, KeyError, TypeError) as error:
        raise AnalysisError(
            f"{DESCRIPTION} does not describe an export ({why_unread(error)})",
            where=str(path),
            remedy="Export the run again",
        ) from error
    for name, written in hashes.items():
        _compare(folder / name, written)
    return found


def _compare(path: Path, written: str) -> None:
    if not path.is_file():
        raise AnalysisError(
            "the file is missing",
            where=str(path),
            expected=f"the file that {DESCRIPTION} names",
            remedy="Export the run again",
        )
    if sha256(path) != written.removeprefix("sha256:"):
        raise AnalysisError(
            "the file was changed after the export: its SHA-256 is another",
            where=str(path),
            expected=f"{written}, as {DESCRIPTION} has it",
            remedy="Export the run again; changes belong into a script that others can read",
        )


def sha256(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _schema(resource: Mapping[str, Any]) -> TableSchema:
    schema = resource["schema"]
    return TableSchema(
        str(resource["path"]).removesuffix(".csv"),
        str(resource["description"]),
        tuple(schema["primaryKey"]),
        tuple(_column(field) for field in schema["fields"]),
    )


def _column(field: Mapping[str, Any]) -> Column:
    constraints = field.get("constraints", {})
    typed = cast(ColumnType, field["type"])
    values = tuple(constraints.get("enum", ()))
    # Texts are never required, because an empty one is a value: ``experiment.tables.codebook``.
    optional = not constraints.get("required", False) and (typed != "string" or bool(values))
    return Column(
        str(field["name"]),
        typed,
        str(field["description"]),
        unit=str(field.get("unit", "")),
        optional=optional,
        values=values,
        role=Role(field["role"]) if "role" in field else None,
    )


def media_type(name: str) -> str:
    """Return a file's media type by its suffix."""
    known = {
        **MEDIA_TYPES,
        ".json": "application/json",
        ".jsonl": "application/jsonlines",
        ".md": "text/markdown",
        ".txt": "text/plain",
        ".toml": "application/toml",
        ".tsv": "text/tab-separated-values",
        ".py": "text/x-python",
        ".yaml": "application/yaml",
        ".zip": "application/zip",
    }
    return known.get(Path(name).suffix, "application/octet-stream")
