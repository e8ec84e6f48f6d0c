"""``parallax import undo``."""

from pathlib import Path

import click

from analysis.readers.import_manifest import undo as undo_import


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def undo(folder: Path) -> None:
    """Remove from FOLDER what an import wrote there, and nothing else.

    It stops if one of the files was changed after the import.
    """
    click.echo(f"{folder}: removed {', '.join(undo_import(folder))}")
