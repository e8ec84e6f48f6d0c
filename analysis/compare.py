"""People beside models in one command.

python analysis/compare.py --run EXPORT_DIR --scores scores.parquet [--scores ...] --out DIR
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from analysis.comparison import Comparison, analyse
from analysis.load import load_all_scores, load_run
from analysis.typeset import to_text
from analysis.write import write_comparison, written_before
from experiment.errors import ParallaxError
from experiment.version import code_version
from experiment.writing import refuse_foreign


def compare(
    run: Path, scores: Sequence[Path], out: Path, *, resamples: int = 10_000, seed: int = 1
) -> Comparison:
    """Compare the people of an exported run with models, and write what was found.

    Args:
        run: The export folder.
        scores: Score files, one per model.
        out: The folder to write; an earlier comparison there is replaced.
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.

    Raises:
        ParallaxError: An input is missing or unsound, inputs do not belong together, or the
            folder cannot be written; nothing is written then.
    """
    refuse_foreign(out, written_before(out))
    comparison = analyse(
        load_run(run),
        load_all_scores(scores),
        resamples=resamples,
        seed=seed,
        code_version=code_version(),
    )
    return replace(comparison, files=write_comparison(comparison, out))


@click.command("compare")
@click.option(
    "--run",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder that `parallax export` wrote.",
)
@click.option(
    "--scores",
    required=True,
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file that `parallax lm score` wrote; repeat it for more models.",
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The folder to write into."
)
@click.option(
    "--resamples",
    default=10_000,
    show_default=True,
    type=click.IntRange(min=100),
    help="Resamples behind each interval.",
)
@click.option("--seed", default=1, show_default=True, help="The seed of the resampling.")
def command(run: Path, scores: tuple[Path, ...], out: Path, resamples: int, seed: int) -> None:
    """Compare the people of an exported run with models: tables, figures and a report."""
    comparison = compare(run, scores, out, resamples=resamples, seed=seed)
    click.echo(to_text(comparison.tables[0]))
    for path in comparison.files:
        if path.suffix in (".html", ".svg"):
            click.echo(path)
    click.echo(f"All {len(comparison.files)} files, tables among them: {out}")


if __name__ == "__main__":
    try:
        command()
    except ParallaxError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
