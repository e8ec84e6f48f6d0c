"""The tables that enter and leave Parallax, from the one place where their columns stand."""

from collections.abc import Iterator

from experiment.tables import observation_tables, schemas
from experiment.tables.column import Column, TableSchema
from reference.markdown import code, plain, table


def tables_page() -> str:
    """Return every table with its columns."""
    introduction = (
        "# Every table and column\n\nThe tables that Parallax writes and reads."
        " [The export folder](../export.md) explains the files, and says how the tables belong"
        " together.\n"
    )
    return "\n".join([introduction, *map(_described, _schemas())])


def _schemas() -> Iterator[TableSchema]:
    seen = set()
    for value in (*vars(schemas).values(), *vars(observation_tables).values()):
        if isinstance(value, TableSchema) and value.name not in seen:
            seen.add(value.name)
            yield value


def _described(schema: TableSchema) -> str:
    key = ", ".join(map(code, schema.primary_key)) or "none"
    rows = [(code(one.name), one.type, one.unit, _meaning(one)) for one in schema.columns]
    return f"## {schema.name}\n\n{plain(schema.description)} Key: {key}.\n\n" + table(
        ("Column", "Type", "Unit", "Meaning"), rows
    )


def _meaning(column: Column) -> str:
    parts = [plain(column.description)]
    if column.values:
        parts.append("One of " + ", ".join(map(code, column.values)))
    if column.optional:
        parts.append("May be empty")
    return ". ".join(parts)
