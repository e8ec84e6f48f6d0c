"""Read an export folder as a package of tables and verify it against its own description."""

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
    """An export whose files match their checksums.

    Attributes:
        folder: The export folder.
        name: The package's name.
        title: The package's title.
        provenance: The origin of the data.
        tables: The schemas of the tables, with the study's own columns, in the export's order.
    """

    folder: Path
    name: str
    title: str
    provenance: Mapping[str, Any]
    tables: tuple[TableSchema, ...]

    @property
    def simulated(self) -> bool:
        """Whether the participants were simulated."""
        return bool(self.provenance["simulated"])

    def rows(self, table: TableSchema) -> Iterator[Row]:
        """Yield a table's rows, with every value as the text in the file."""
        return read_table(table, self.folder / f"{table.name}.parquet")


def read_package(folder: Path) -> Package:
    """Read an export's description, and verify every file against its checksum.

    Raises:
        AnalysisError: The folder is not an export, or a file is missing or was changed.
    """
    path = folder / DESCRIPTION
    if not path.is_file():
        raise AnalysisError(
            f"the folder holds no {DESCRIPTION}",
            where=str(folder),
            expected="a folder that `parallax export RUN` wrote",
        )
    try:
        description = json.loads(path.read_text("utf-8"))
        resources = description["resources"]
        package = Package(
            folder,
            str(description["name"]),
            str(description["title"]),
            description["parallax"],
            tuple(
                _parse_schema(resource)
                for resource in resources
                if resource["path"].endswith(".csv")
            ),
        )
        hashes = {str(resource["path"]): str(resource["hash"]) for resource in resources}
    except (ValueError, KeyError, TypeError) as error:
        raise AnalysisError(
            f"{DESCRIPTION} does not describe an export ({why_unread(error)})",
            where=str(path),
            remedy="Export the run again",
        ) from error
    for name, stated_hash in hashes.items():
        _verify_file(folder / name, stated_hash)
    return package


def _verify_file(path: Path, stated_hash: str) -> None:
    if not path.is_file():
        raise AnalysisError(
            "the file is missing",
            where=str(path),
            expected=f"the file that {DESCRIPTION} names",
            remedy="Export the run again",
        )
    if sha256(path) != stated_hash.removeprefix("sha256:"):
        raise AnalysisError(
            "the file was changed after the export: its SHA-256 differs",
            where=str(path),
            expected=f"{stated_hash}, as {DESCRIPTION} has it",
            remedy="Export the run again; make changes in a script that others can read",
        )


def sha256(path: Path) -> str:
    """Return a file's SHA-256 as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _parse_schema(resource: Mapping[str, Any]) -> TableSchema:
    schema = resource["schema"]
    return TableSchema(
        str(resource["path"]).removesuffix(".csv"),
        str(resource["description"]),
        tuple(schema["primaryKey"]),
        tuple(_parse_column(field) for field in schema["fields"]),
    )


def _parse_column(field: Mapping[str, Any]) -> Column:
    constraints = field.get("constraints", {})
    column_type = cast(ColumnType, field["type"])
    values = tuple(constraints.get("enum", ()))
    is_free_text = bool(field.get("free_text", False))
    # Text is never required, since empty text is a value: ``experiment.tables.codebook``. What
    # participants wrote may be missing, and is where an archive leaves it out.
    may_be_absent = column_type != "string" or bool(values) or is_free_text
    optional = may_be_absent and not constraints.get("required", False)
    return Column(
        str(field["name"]),
        column_type,
        str(field["description"]),
        unit=str(field.get("unit", "")),
        optional=optional,
        values=values,
        role=Role(field["role"]) if "role" in field else None,
        is_free_text=is_free_text,
    )


def media_type_of(name: str) -> str:
    """Return the media type for a file name's suffix."""
    media_types = {
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
    return media_types.get(Path(name).suffix, "application/octet-stream")
