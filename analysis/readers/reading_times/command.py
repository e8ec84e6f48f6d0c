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
    imported = _FORMATS[format_].read(files, texts)
    with atomic_write(out) as temporary:
        imported.frame.to_csv(temporary, sep="\t", index=False, lineterminator="\n")
    for note in imported.notes:
        click.echo(note)
    n_participants, n_texts = (
        imported.frame["participant"].nunique(),
        imported.frame["text_id"].nunique(),
    )
    click.echo(
        f"{out}: {len(imported.frame):,} times of {n_participants:,} participants and "
        f"{n_texts:,} texts"
    )
