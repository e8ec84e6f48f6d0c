"""Tables about codes that people give to a command."""

from pathlib import Path

from experiment.coding.frozen import CodingError
from experiment.materials.formats.raw import RawTable, read_raw


def read_columns(path: Path, columns: tuple[str, ...], kind: str) -> RawTable:
    """Read a table that must have some columns.

    Args:
        path: The file.
        columns: The columns.
        kind: What the table is, for the message.

    Raises:
        CodingError: There is no such table, or it lacks a column.
    """
    table = read_raw(path) if path.is_file() else RawTable(path, (), ())
    if missing := [name for name in columns if name not in table.columns]:
        raise CodingError(
            f'the table lacks the column "{missing[0]}"'
            if path.is_file()
            else "there is no such table",
            where=str(path),
            expected=f"{kind}, with the columns {', '.join(columns)}",
        )
    return table
