"""``parallax capsule`` and ``parallax reproduce``: a comparison packed, and made again."""

from pathlib import Path

import click

from analysis.archive.pack import Choices, pack
from analysis.archive.reproduce import reproduce
from analysis.options import ComparisonOptions
from analysis.scores.metrics import METRICS

_PATH = click.Path(path_type=Path)
_DEFAULTS = ComparisonOptions()


@click.command("capsule")
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
def capsule_command(
    export: Path,
    scores: tuple[Path, ...],
    about: Path | None,
    out: Path,
    resamples: int,
    seed: int,
    metric: str,
    margin: float | None,
) -> None:
    """Pack EXPORT with its comparison, so that others can make it again.

    The file holds data, scores, results, the versions of everything and the hash of every file.
    Look at `parallax archive EXPORT` first: the data of people are packed as they are.
    """
    choices = Choices(resamples, seed, metric, margin)
    digest = pack(export, scores, about, choices, out)
    click.echo(f"{out}: its manifest has the SHA-256 {digest}")
    click.echo("Register it where others can see it, such as in the preregistration.")


@click.command("reproduce")
@click.argument("capsule", type=_PATH)
@click.option("--registered", default="", help="The manifest's SHA-256 as it was registered.")
@click.option("--plan", default="", help="The plan's SHA-256 as it was registered at the freeze.")
@click.option("--other-code", is_flag=True, help="Go on although another Parallax made it.")
def reproduce_command(capsule: Path, registered: str, plan: str, other_code: bool) -> None:
    """Make the results of CAPSULE again, and compare every file.

    `make reproduce CAPSULE=FILE` installs the versions first, and takes the network away.
    """
    found = reproduce(capsule, registered, plan, other_code=other_code)
    click.echo(f"{capsule}: {found.files} files of results are the same, byte for byte.")
    click.echo(f"Manifest {found.sha256}, plan {found.plan or 'none frozen'}.")
    if not registered:
        click.echo(
            "No registered hash was given: data that were changed before everything was computed "
            "from them again cannot be told."
        )
