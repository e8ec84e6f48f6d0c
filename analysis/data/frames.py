"""Load table files into data frames, and validate them against their schema."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from experiment.errors import TableError
from experiment.tables.column import Column, TableSchema
from experiment.tables.files import check_columns, read_table
from experiment.tables.parquet import arrow_schema


def read_exported_table(
    schema: TableSchema,
    folder: Path,
    columns: Sequence[str],
    *,
    categorical: bool = False,
    extended: bool = False,
) -> pd.DataFrame:
    """Read columns of a table in a folder, from the Parquet file or else the CSV file.

    Args:
        schema: The table.
        folder: The folder with the table's file.
        columns: The columns to read.
        categorical: Whether to read texts as categorical columns, for tables with many rows.
        extended: Whether to read the file's additional columns too, as texts.

    Raises:
        TableError: Neither file exists, or its content violates the schema.
    """
    parquet, text = folder / f"{schema.name}.parquet", folder / f"{schema.name}.csv"
    if parquet.is_file():
        if extended:
            schema = schema.extended(open_parquet(schema, parquet).schema_arrow.names)
            columns = schema.column_names
        return read_parquet(schema, parquet, columns, categorical=categorical)
    if text.is_file():
        rows = list(read_table(schema, text, extended=extended))
        if extended:
            schema = schema.extended(rows[0] if rows else ())
            columns = schema.column_names
        table = pa.Table.from_pylist(rows, arrow_schema(schema))
        return _make_frame(schema, table.select(list(columns)), text, categorical=categorical)
    if not folder.is_dir():
        raise TableError(
            "there is no such folder",
            where=str(folder),
            expected="the folder of an exported run",
        )
    present = sorted(path.name for path in folder.iterdir())
    raise TableError(
        f'the table "{schema.name}" is missing',
        where=str(folder),
        expected=f"{parquet.name} or {text.name} there",
        remedy=f"The folder contains: {', '.join(present) or 'nothing'}",
    )


def read_parquet(
    schema: TableSchema, path: Path, columns: Sequence[str], *, categorical: bool = False
) -> pd.DataFrame:
    """Read the named columns of a Parquet table.

    Args:
        schema: The table.
        path: The file.
        columns: The columns to read.
        categorical: Whether to read texts as categorical columns, without decoding them in memory.

    Raises:
        TableError: The file is missing or not Parquet, a column of the schema is missing, a column
            has the wrong type or a forbidden value, or a key occurs twice.
    """
    read = [column for column in schema.columns if column.name in columns]
    file = open_parquet(schema, path)
    check_columns(schema, file.schema_arrow.names, path)
    if categorical:
        present_columns = file.schema_arrow.names
        texts = [
            column.name
            for column in read
            if column.type == "string" and column.name in present_columns
        ]
        file = pq.ParquetFile(path, read_dictionary=texts)
    expected_schema, checked_columns = arrow_schema(schema), {}
    # Convert one column at a time, so that the raw data of a column are freed before the next.
    for column in read:
        values = _read_values(file, column)
        checked_columns[column.name] = _check_values(
            column, values, expected_schema.field(column.name).type, path
        )
    return _make_frame(schema, pa.table(checked_columns), path, categorical=categorical)


def _read_values(file: pq.ParquetFile, column: Column) -> pa.ChunkedArray:
    if column.absent is None or column.name in file.schema_arrow.names:
        return file.read(columns=[column.name])[column.name]
    n_rows = file.metadata.num_rows
    values = pa.nulls(n_rows) if column.default is None else pa.repeat(column.default, n_rows)
    return pa.chunked_array([values])


def open_parquet(schema: TableSchema, path: Path) -> pq.ParquetFile:
    """Open a table's Parquet file; its metadata can be read before its rows.

    Raises:
        TableError: The file does not exist, or is not Parquet.
    """
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise TableError(
            f'the table "{schema.name}" is missing', where=str(path), expected="an existing file"
        ) from error
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(
            "the file cannot be read as Parquet",
            where=str(path),
            expected=f'the table "{schema.name}" in a Parquet file',
        ) from error


def _check_values(
    column: Column, values: pa.ChunkedArray, expected_type: pa.DataType, path: Path
) -> pa.ChunkedArray:
    if is_dictionary := pa.types.is_dictionary(values.type):
        expected_type = pa.dictionary(values.type.index_type, expected_type)
    try:
        typed = (
            values.cast(expected_type).unify_dictionaries()
            if is_dictionary
            else values.cast(expected_type)
        )
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


def _make_frame(
    schema: TableSchema, table: pa.Table, path: Path, *, categorical: bool
) -> pd.DataFrame:
    for index, field in enumerate(table.schema if categorical else ()):
        if pa.types.is_string(field.type):
            table = table.set_column(index, field.name, table[index].dictionary_encode())
    return _require_unique_key(schema, table.to_pandas(self_destruct=True), path)


def _require_unique_key(schema: TableSchema, frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    key = list(schema.primary_key)
    if not set(key) <= set(frame.columns):
        return frame
    repeated_keys = frame.loc[_find_repeated_keys(frame, key), key]
    if len(repeated_keys):
        first_key = ", ".join(f"{name} {value}" for name, value in repeated_keys.iloc[0].items())
        raise TableError(
            f"{len(repeated_keys)} row(s) repeat another row's key; the first key is {first_key}",
            where=str(path),
            expected=f"each {' and '.join(key)} once",
        )
    return frame


def _find_repeated_keys(frame: pd.DataFrame, key: Sequence[str]) -> NDArray[np.bool_]:
    """Return which rows repeat a key: ``frame.duplicated``, computed on one number per key."""
    number = np.zeros(len(frame), np.int64)
    for name in key:
        codes, distinct_values = pd.factorize(frame[name], use_na_sentinel=False)
        number = number * (len(distinct_values) + 1) + codes
    return pd.Series(number).duplicated().to_numpy()
