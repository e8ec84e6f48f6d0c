"""``parallax reading import``: reading times of other programs as one table."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from analysis.readings.corpora import read_frank, read_natural_stories
from analysis.readings.dmdx import read_dmdx
from analysis.readings.ibex import read_ibex
from analysis.readings.table import Readings
from experiment.tables.atomic_write import atomic_write

_PATH = click.Path(path_type=Path)
_FORMATS: Mapping[str, Callable[[Sequence[Path], Sequence[Path]], Readings]] = {
    "dmdx": read_dmdx,
    "frank2013": read_frank,
    "ibex": read_ibex,
    "natural-stories": read_natural_stories,
    "pcibex": read_ibex,
}


@click.command("import")
@click.argument("format_", metavar="FORMAT", type=click.Choice(list(_FORMATS)))
@click.argument("files", nargs=-1, required=True, type=_PATH)
@click.option(
    "--texts",
    multiple=True,
    type=_PATH,
    help="What was read: of dmdx the item file of each results file, of natural-stories "
    "all_stories.tok.",
)
@click.option("--out", required=True, type=_PATH, help="The table to write (.tsv).")
def import_readings(
    format_: str, files: tuple[Path, ...], texts: tuple[Path, ...], out: Path
) -> None:
    """Read reading times of another program or corpus from FILES.

    FORMAT is ibex or pcibex (results of the Maze and of self-paced reading), dmdx (Witzel et al.,
    2012), natural-stories, or frank2013. The table goes into `parallax lm reading-times`.
    """
    found = _FORMATS[format_](files, texts)
    with atomic_write(out) as temporary:
        found.frame.to_csv(temporary, sep="\t", index=False, lineterminator="\n")
    for note in found.notes:
        click.echo(note)
    people, read = found.frame["participant"].nunique(), found.frame["text_id"].nunique()
    click.echo(f"{out}: {len(found.frame):,} times of {people:,} participants and {read:,} texts")
