"""Tables from files into frames, checked against their schema before anything is computed."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from experiment.errors import TableError
from experiment.schemas import Column, TableSchema
from experiment.tables import arrow_schema, check_columns, read_table


def read_exported(schema: TableSchema, folder: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Return columns of a folder's table, from its Parquet file or else from its CSV file.

    Raises:
        TableError: Neither file is there, or its content does not fit the schema.
    """
    parquet, text = folder / f"{schema.name}.parquet", folder / f"{schema.name}.csv"
    if parquet.is_file():
        return read_parquet(schema, parquet, columns)
    if text.is_file():
        table = pa.Table.from_pylist(list(read_table(schema, text)), arrow_schema(schema))
        return _with_unique_key(schema, table.select(list(columns)).to_pandas(), text)
    present = sorted(path.name for path in folder.iterdir())
    raise TableError(
        f'the table "{schema.name}" is missing',
        where=str(folder),
        expected=f"{parquet.name} or {text.name} there",
        remedy=f"The folder holds {', '.join(present) or 'nothing'}",
    )


def read_parquet(schema: TableSchema, path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Return the named columns of a Parquet table; the others are not read.

    Raises:
        TableError: The file is missing or not Parquet, a column of the schema is missing, one
            that is read has another type or a value not allowed, or a key occurs twice.
    """
    file = open_parquet(schema, path)
    check_columns(schema, file.schema_arrow.names, path)
    table = file.read(columns=list(columns))
    wanted = arrow_schema(schema)
    checked = {
        column.name: _checked(column, table[column.name], wanted.field(column.name).type, path)
        for column in schema.columns
        if column.name in columns
    }
    return _with_unique_key(schema, pa.table(checked).to_pandas(), path)


def open_parquet(schema: TableSchema, path: Path) -> pq.ParquetFile:
    """Return a Parquet file of the table, opened; its metadata may be read before its rows.

    Raises:
        TableError: There is no such file, or it is not Parquet.
    """
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise TableError(
            f'the table "{schema.name}" is missing', where=str(path), expected="a file there"
        ) from error
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(
            "the file cannot be read as Parquet",
            where=str(path),
            expected=f'the table "{schema.name}" in a Parquet file',
        ) from error


def _checked(
    column: Column, values: pa.ChunkedArray, wanted: pa.DataType, path: Path
) -> pa.ChunkedArray:
    try:
        typed = values.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(
            f'the column "{column.name}" holds {values.type}, not {column.type}', where=str(path)
        ) from error
    if typed.null_count and not column.optional:
        raise TableError(
            f'the column "{column.name}" is empty in {typed.null_count} row(s)', where=str(path)
        )
    strange = set(pc.unique(typed).to_pylist()) - {*column.values, None} if column.values else set()
    if strange:
        raise TableError(
            f'"{min(strange)}" is not a value of the column "{column.name}"',
            where=str(path),
            expected=f"one of: {', '.join(column.values)}",
        )
    return typed


def _with_unique_key(schema: TableSchema, frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    key = list(schema.primary_key)
    if not set(key) <= set(frame.columns):
        return frame
    twice = frame.loc[frame.duplicated(key), key]
    if len(twice):
        first = ", ".join(f"{name} {value}" for name, value in twice.iloc[0].items())
        raise TableError(
            f"{len(twice)} row(s) repeat a key; the first is {first}",
            where=str(path),
            expected=f"each {' and '.join(key)} once",
        )
    return frame
