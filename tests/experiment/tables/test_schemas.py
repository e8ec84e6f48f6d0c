"""The columns of every table that leaves or enters Parallax; users' scripts name them."""

from experiment.tables import schemas
from experiment.tables.column import TableSchema


def described(table: TableSchema) -> str:
    lines = [f"{table.name} (one row per {', '.join(table.primary_key)})"]
    for column in table.columns:
        unit, optional = f" in {column.unit}" * bool(column.unit), ", optional" * column.optional
        values = f": {', '.join(column.values)}" * bool(column.values)
        lines.append(f"  {column.name}: {column.type}{unit}{optional}{values}")
    return "\n".join(lines)


def test_every_table_has_the_columns_that_were_reviewed(file_regression):
    tables = [table for table in vars(schemas).values() if isinstance(table, TableSchema)]
    file_regression.check("\n\n".join(map(described, tables)) + "\n", newline="\n")
