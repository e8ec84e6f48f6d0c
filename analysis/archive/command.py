"""``parallax archive``: write an export for archives; pack a comparison and reproduce it."""

from pathlib import Path

import click

from analysis.archive.pack import Settings, pack_capsule
from analysis.archive.reproduce import reproduce_capsule
from analysis.archive.traces import Kind
from analysis.archive.write import read_source, write_archive
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from analysis.scores.metrics import METRICS
from experiment.studies.publication import read_about

_PATH = click.Path(path_type=Path)
_DEFAULTS = ComparisonOptions()


@click.command("write")
@click.argument("export", type=_PATH)
@click.option(
    "--out", type=_PATH, help="The folder to write; without it, only the traces are shown."
)
@click.option(
    "--about",
    type=_PATH,
    help="A TOML file with [publication] and [baseline], instead of the study's own.",
)
@click.option("--coarsen", is_flag=True, help="Take out everything that may identify somebody.")
@click.option(
    "--keep",
    multiple=True,
    type=click.Choice([str(kind) for kind in Kind]),
    help="Leave this in, although it may identify somebody. Repeatable.",
)
def write_(
    export: Path, out: Path | None, about: Path | None, coarsen: bool, keep: tuple[str, ...]
) -> None:
    """Write EXPORT in the formats of archives and benchmarks.

    EXPORT is a folder that `parallax export` wrote; it is not changed. The command first shows
    what may identify a participant. The archive is not written until --coarsen or --keep covers
    each of these traces.
    """
    declared = read_about(about) if about else None
    source = read_source(export)
    for trace in source.traces:
        click.echo(str(trace))
    if not source.traces:
        click.echo("Nothing was found that may lead back to a person.")
    if out is None:
        return
    remaining_kinds = {str(kind) for kind in source.kinds} - set(keep)
    if remaining_kinds and not coarsen and not source.package.simulated:
        raise AnalysisError(
            "the export holds traces that may lead back to a person: "
            f"{', '.join(sorted(remaining_kinds))}",
            where=str(export),
            expected="each trace coarsened, or kept on purpose",
            remedy="Add --coarsen, or --keep for each that your participants agreed to publish",
        )
    if source.package.simulated and not coarsen:
        click.echo("Programs answered here, not people: nothing is coarsened.")
    chosen = {Kind(kind) for kind in remaining_kinds} if coarsen else set[Kind]()
    metadata = write_archive(source, declared, chosen, out)
    if licences := metadata.statements.get("Licences"):
        click.echo(f"Licences: {licences}.")
    click.echo(f"{out}: {sum(path.is_file() for path in out.rglob('*'))} files.")


@click.command("pack")
@click.argument("export", type=_PATH)
@click.option("--scores", multiple=True, type=_PATH, help="A score file; repeatable.")
@click.option("--about", type=_PATH, help="A TOML file with [publication] and [baseline].")
@click.option("--out", required=True, type=_PATH, help="The file to write (.zip).")
@click.option(
    "--resamples", default=_DEFAULTS.resamples, show_default=True, type=click.IntRange(100)
)
@click.option("--seed", default=_DEFAULTS.seed, show_default=True)
@click.option("--metric", default=_DEFAULTS.metric, type=click.Choice(list(METRICS)))
@click.option("--margin", type=click.FloatRange(0, 1, min_open=True, max_open=True))
def pack_(
    export: Path,
    scores: tuple[Path, ...],
    about: Path | None,
    out: Path,
    resamples: int,
    seed: int,
    metric: str,
    margin: float | None,
) -> None:
    """Pack EXPORT with its comparison, so that others can reproduce it.

    The file contains data, scores, results, all versions and the hash of every file. Run
    `parallax archive write EXPORT` first to see what may identify participants: their data are
    packed unchanged.
    """
    choices = Settings(resamples, seed, metric, margin)
    digest = pack_capsule(export, scores, about, choices, out)
    click.echo(f"{out}: its manifest has the SHA-256 {digest}")
    click.echo("Register it where others can see it, such as in the preregistration.")


@click.command("reproduce")
@click.argument("capsule", type=_PATH)
@click.option("--registered", default="", help="The manifest's SHA-256 as it was registered.")
@click.option("--plan", default="", help="The plan's SHA-256 as it was registered at the freeze.")
@click.option(
    "--other-code",
    is_flag=True,
    help="Continue although another version of Parallax made the capsule.",
)
def reproduce_(capsule: Path, registered: str, plan: str, other_code: bool) -> None:
    """Recompute the results of CAPSULE, and compare every file.

    `make reproduce CAPSULE=FILE` first installs the versions and switches off the network.
    """
    reproduced = reproduce_capsule(capsule, registered, plan, other_code=other_code)
    click.echo(f"{capsule}: {reproduced.files} files of results are the same, byte for byte.")
    click.echo(f"Manifest {reproduced.sha256}, plan {reproduced.plan or 'none frozen'}.")
    if not registered:
        click.echo(
            "No registered hash was given, so nothing shows whether the data were changed before "
            "the results were computed from them."
        )
