"""``parallax reading import``: convert reading times of other programs to one table."""

from pathlib import Path

import click

from analysis.readers.reading_times.table import times_formats
from experiment.tables.atomic_write import atomic_write

_PATH = click.Path(path_type=Path)
_FORMATS = times_formats()


@click.command("import")
@click.argument("format_", metavar="FORMAT", type=click.Choice(sorted(_FORMATS)))
@click.argument("files", nargs=-1, required=True, type=_PATH)
@click.option(
    "--texts",
    multiple=True,
    type=_PATH,
    help="The texts that were read, where the results do not hold them.",
)
@click.option("--out", required=True, type=_PATH, help="The table to write (.tsv).")
def import_readings(
    format_: str, files: tuple[Path, ...], texts: tuple[Path, ...], out: Path
) -> None:
    """Read reading times of another program or corpus from FILES.

    docs/reading.md says which FORMATs there are, and which files each takes. The table goes into
    `parallax lm reading-times`.
    """
    found = _FORMATS[format_].read(files, texts)
    with atomic_write(out) as temporary:
        found.frame.to_csv(temporary, sep="\t", index=False, lineterminator="\n")
    for note in found.notes:
        click.echo(note)
    people, read = found.frame["participant"].nunique(), found.frame["text_id"].nunique()
    click.echo(f"{out}: {len(found.frame):,} times of {people:,} participants and {read:,} texts")
