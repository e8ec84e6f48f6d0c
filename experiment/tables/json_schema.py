"""The JSON Schema of a table's rows, from its declaration."""

from typing import Any

from experiment.tables.column import Column, TableSchema

_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "datetime": {"type": "string", "format": "date-time"},
    "numbers": {"type": "array", "items": {"type": "number"}},
    "booleans": {"type": "array", "items": {"type": "boolean"}},
}


def json_schema(schema: TableSchema) -> dict[str, Any]:
    """Return the JSON Schema of one row: each column with its type, unit and meaning."""
    return {
        "title": schema.name,
        "description": schema.description,
        "type": "object",
        "properties": {column.name: _property(column) for column in schema.columns},
        "required": [column.name for column in schema.columns if not column.optional],
        "additionalProperties": False,
    }


def _property(column: Column) -> dict[str, Any]:
    found = dict(_TYPES[column.type])
    if column.optional:
        found = {"anyOf": [found, {"type": "null"}]}
    unit = f" ({column.unit})" if column.unit else ""
    found["description"] = f"{column.description}{unit}"
    if column.values:
        found["enum"] = [str(value) for value in column.values]
    return found
