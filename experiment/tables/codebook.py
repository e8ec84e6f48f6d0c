"""The codebook of an export: datapackage.json for programs, and Markdown for readers."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from experiment.tables.column import Column, TableSchema
from experiment.tables.schemas import EXPORT_TABLES

MEDIA_TYPES = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}

_PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
_SIMULATED_NOTICE = """
> **Simulated.** Programs answered here, not people: nothing in this folder tells how people judge.
"""
_README = """\
# {title}
{notice}
Each table is here twice, as CSV (UTF-8) and as Parquet, with the same rows in the same order;
`datapackage.json` says what every column means and where the data come from, `study/` is the study
that was run, `consent/` the texts that people agreed to. In `answers.csv` a text that a spreadsheet
would take for a formula, or that begins with an apostrophe, has one more apostrophe before it, and
line ends are unified; `answers.parquet` has every text as it was given.

| | |
|---|---|
{facts}

## Tables

{codebook}"""


def datapackage(
    folder: Path,
    name: str,
    title: str,
    provenance: Mapping[str, object],
    tables: Sequence[TableSchema] = EXPORT_TABLES,
) -> dict[str, object]:
    """Return the Data Package (Frictionless, version 2) of a folder with all tables.

    Args:
        folder: The folder of the written tables; their sizes and checksums are read there.
        name: The package's name: lower case, no spaces.
        title: The package's title, for people.
        provenance: The origin of the data, stored under the key ``parallax``.
        tables: The tables as written, including the study's own columns.
    """
    return {
        "$schema": _PROFILE,
        "name": name,
        "title": title,
        "resources": list(_list_resources(folder, tables)),
        "parallax": dict(provenance),
    }


def _list_resources(folder: Path, tables: Sequence[TableSchema]) -> Iterator[dict[str, object]]:
    for schema in tables:
        csv, parquet = (f"{schema.name}{suffix}" for suffix in MEDIA_TYPES)
        yield {
            "name": schema.name,
            "type": "table",
            **_describe_file(folder / csv, "csv"),
            "encoding": "utf-8",
            "description": schema.description,
            "schema": _table_schema(schema),
        }
        # The CSV is the table, and the Parquet file accompanies it. With the format "parquet",
        # frictionless would read the file as a table, and would read empty integers and times
        # wrongly.
        yield {
            "name": f"{schema.name}-parquet",
            **_describe_file(folder / parquet, "apache-parquet"),
            "description": f"{csv} once more, as Parquet: the same rows in the same order.",
        }


def _describe_file(path: Path, schema_name: str) -> dict[str, object]:
    return {
        "path": path.name,
        "format": schema_name,
        "mediatype": MEDIA_TYPES[path.suffix],
        "bytes": path.stat().st_size,
        "hash": _compute_sha256(path),
    }


def _compute_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _table_schema(schema: TableSchema) -> dict[str, object]:
    return {
        "fields": [_describe_field(column) for column in schema.columns],
        "primaryKey": list(schema.primary_key),
        **({"foreignKeys": keys} if (keys := list(_foreign_keys(schema))) else {}),
    }


def _describe_field(column: Column) -> dict[str, object]:
    constraints: dict[str, object] = {}
    # An empty text is a value here, but CSV readers treat it as missing: so the column is not
    # required.
    if not column.optional and (column.type != "string" or column.values):
        constraints["required"] = True
    if column.values:
        constraints["enum"] = list(column.values)
    return {
        "name": column.name,
        "type": column.type,
        "description": column.description,
        **({"unit": column.unit} if column.unit else {}),
        **({"role": column.role.value} if column.role else {}),
        **({"free_text": True} if column.is_free_text else {}),
        **({"constraints": constraints} if constraints else {}),
    }


def _foreign_keys(schema: TableSchema) -> Iterator[dict[str, object]]:
    """Yield a reference to each table whose single-column key is a column of this table."""
    owners: dict[str, TableSchema] = {}
    for table in EXPORT_TABLES:
        if len(table.primary_key) == 1:
            owners.setdefault(table.primary_key[0], table)
    for name, owner in owners.items():
        if name in schema.column_names and owner.name != schema.name:
            yield {"fields": [name], "reference": {"resource": owner.name, "fields": [name]}}


def readme(
    title: str,
    provenance: Mapping[str, object],
    tables: Sequence[TableSchema] = EXPORT_TABLES,
    notice: str = "",
) -> str:
    """Return the README text for readers who find the folder without its context."""
    return _README.format(
        title=title,
        notice=notice or (_SIMULATED_NOTICE if provenance["simulated"] else ""),
        facts="\n".join(f"| {name} | {fact} |" for name, fact in provenance.items() if fact != ""),
        codebook=codebook_markdown(tables),
    )


def codebook_markdown(tables: Sequence[TableSchema] = EXPORT_TABLES) -> str:
    """Return every exported table and column as Markdown; docs/export.md contains this text."""
    return "\n".join(line for schema in tables for line in _table_lines(schema))


def _table_lines(schema: TableSchema) -> Iterator[str]:
    yield f"### {schema.name}\n"
    yield f"{schema.description} Key: {', '.join(f'`{name}`' for name in schema.primary_key)}.\n"
    yield "| Column | Type | Meaning |"
    yield "|---|---|---|"
    for column in schema.columns:
        yield f"| `{column.name}` | {_type_in_words(column)} | {_describe_meaning(column)} |"
    yield ""


def _type_in_words(column: Column) -> str:
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.type}{unit}{', may be empty' if column.optional else ''}"


def _describe_meaning(column: Column) -> str:
    values = f": {', '.join(f'`{value}`' for value in column.values)}" if column.values else ""
    role = f" (role: {column.role})" if column.role else ""
    return f"{column.description}{values}{role}"
