"""``parallax archive``: an export in the forms that archives and benchmarks take."""

from pathlib import Path

import click

from analysis.archive.traces import Kind
from analysis.archive.write import read_source, write_archive
from analysis.errors import AnalysisError
from experiment.studies.publication import read_about

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("export", type=_PATH)
@click.option("--out", type=_PATH, help="The folder to write; without it, traces are shown alone.")
@click.option(
    "--about",
    type=_PATH,
    help="A TOML file with [publication] and [baseline], in place of the study's own.",
)
@click.option("--coarsen", is_flag=True, help="Take out everything that may identify somebody.")
@click.option(
    "--keep",
    multiple=True,
    type=click.Choice([str(kind) for kind in Kind]),
    help="Leave this in, although it may identify somebody. Repeatable.",
)
def archive(
    export: Path, out: Path | None, about: Path | None, coarsen: bool, keep: tuple[str, ...]
) -> None:
    """Write EXPORT in the forms that archives and benchmarks take.

    EXPORT is a folder that `parallax export` wrote; it stays as it is. First, everything is shown
    that may lead back to a person. Nothing is written before each of these is coarsened or kept.
    """
    declared = read_about(about) if about else None
    source = read_source(export)
    for trace in source.traces:
        click.echo(str(trace))
    if not source.traces:
        click.echo("Nothing was found that may lead back to a person.")
    if out is None:
        return
    left = {str(kind) for kind in source.kinds} - set(keep)
    if left and not coarsen and not source.package.simulated:
        raise AnalysisError(
            f"the export has what may lead back to a person: {', '.join(sorted(left))}",
            where=str(export),
            expected="each of these coarsened, or kept on purpose",
            remedy="Add --coarsen, or --keep for each that your participants agreed to publish",
        )
    if source.package.simulated and not coarsen:
        click.echo("Programs answered here, not people: nothing is coarsened.")
    chosen = {Kind(one) for one in left} if coarsen else set[Kind]()
    write_archive(source, declared, chosen, out)
    click.echo(f"{out}: {sum(path.is_file() for path in out.rglob('*'))} files.")
