"""Whether mistakes that people make in spreadsheets are named with their line.

``python -m benchmarks.lint_outside`` plants each of ``lint_mistakes/outside.py`` into a 2 x 2
table, and makes a study of it as ``parallax study new`` does: kinds that the taxonomy of
``benchmarks/lint.py`` does not have. Of what is harmless nothing may be said.
"""

import csv
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from benchmarks.lint import of_file
from benchmarks.lint_mistakes.outside import HARMLESS, MISTAKES, Table, table


def said(spoil: Callable[[Table], Table]) -> str:
    """Return all that making a study of the spoilt table says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(spoil(table()))
        return "\n".join(of_file(path, Path(folder) / "made"))


@click.command(help=__doc__)
def main() -> None:
    """Print which mistakes are named, and what is said of what is none."""
    named = 0
    for name, one in MISTAKES.items():
        found = bool(re.search(one.says, said(one.spoil)))
        named += found
        click.echo(f"{name} | {'named' if found else 'NOT NAMED'}")
    alarms = {name: text for name, spoil in HARMLESS.items() if (text := said(spoil))}
    click.echo(f"{named} of {len(MISTAKES)} named")
    click.echo(f"harmless: {len(HARMLESS)}, {len(alarms)} false alarms")
    for name, text in alarms.items():
        click.echo(f"FALSE ALARM {name}: {text}")
    if named < len(MISTAKES) or alarms:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
