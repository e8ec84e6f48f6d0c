"""The options of all commands that read tables: names for columns without headers, a sheet."""

import click


def _split(_context: click.Context, _parameter: click.Parameter, names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


COLUMNS = click.option(
    "--columns",
    "headers",
    default="",
    callback=_split,
    metavar="A,B,...",
    help="The names of all columns, in their order, of a table without headers.",
)
SHEET = click.option(
    "--sheet",
    default="",
    help="The sheet of a workbook (by default the first), or the data frame of a file of R.",
)
