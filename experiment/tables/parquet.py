"""Parquet files, in a separate module because importing pyarrow takes long."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiment.errors import TableError
from experiment.tables.column import TableSchema

_ARROW_TYPES: dict[str, pa.DataType] = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "datetime": pa.timestamp("us", tz="UTC"),
    "numbers": pa.list_(pa.float32()),
    "booleans": pa.list_(pa.bool_()),
}


def arrow_schema(schema: TableSchema, metadata: Mapping[str, str] | None = None) -> pa.Schema:
    """Return the table's Arrow schema, with the given key-value metadata."""
    fields = [pa.field(c.name, _ARROW_TYPES[c.type], c.optional) for c in schema.columns]
    return pa.schema(fields, metadata=dict(metadata or {}))


def column_names(path: Path) -> list[str]:
    """Return the names of a file's columns."""
    return [str(name) for name in pq.read_schema(path).names]


def has_column(path: Path, name: str) -> bool:
    """Return whether a file is Parquet and has a column of this name."""
    try:
        return name in column_names(path)
    except (OSError, pa.ArrowInvalid):
        return False


def read_records(path: Path) -> list[dict[str, object]]:
    """Return the rows of any Parquet file.

    Raises:
        ValueError: The file is not Parquet.
    """
    return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]


@contextmanager
def open_parquet_writer(
    schema: TableSchema, path: Path, metadata: Mapping[str, str] | None
) -> Iterator[Callable[[Sequence[Mapping[str, object]]], None]]:
    """Yield a function that appends rows to a new file."""
    target, absent = arrow_schema(schema, metadata), schema.absent
    with pq.ParquetWriter(path, target, compression="zstd") as writer:
        yield lambda rows: writer.write_table(
            pa.Table.from_pylist([{**absent, **row} for row in rows], target)
        )


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a Parquet file, or raise a TableError if the file has another format."""
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        # A damaged file is an error of the system to the library.
        raise TableError("the file is not a Parquet file", where=str(path)) from error
