"""``parallax lm completions``: a model's probabilities of the words that people typed into gaps."""

import csv
from pathlib import Path

import click
from tqdm import tqdm

from analysis.data.load import ExportedRun, load_run
from analysis.scores.scoring_inputs import choose_text_rendering
from analysis.typed.completions import COLUMNS, complete, find_blanks
from experiment.tables.files import require_suffix, safe_cell
from lm.loading_options import loading_options
from lm.model_folder import atomic_write
from lm.registry import Device, load_scorer
from lm.weights import Weights

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("model")
@click.option("--run", type=_PATH, help="The folder that `parallax export` wrote.")
@click.option("--judgments", type=_PATH, help="An import of typed answers instead of a run.")
@click.option("--items", type=_PATH, help="The texts of that import.")
@click.option(
    "--top",
    default=10,
    show_default=True,
    type=click.IntRange(1, 100),
    help="How many of the model's own words to score for each text.",
)
@loading_options
@click.option("--out", type=_PATH, required=True, help="The table to write (.csv).")
def completions(
    model: str,
    run: Path | None,
    judgments: Path | None,
    items: Path | None,
    top: int,
    device: Device,
    weights: Weights,
    out: Path,
) -> None:
    """Write MODEL's log-probability of each word that people typed, and of its own words.

    `parallax compare --completions` sets them beside the shares of people.
    """
    require_suffix(out, ".csv")
    people = load_answers(run, judgments, items)
    blanks = find_blanks(people)
    scorer = load_scorer(model, device, how=weights)
    rendering = choose_text_rendering(scorer)
    progress = tqdm(blanks, desc="Completing", unit=" texts", disable=None)
    n_words = 0
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in complete(scorer, list(progress), top, rendering):
            writer.writerow(map(safe_cell, row))
            n_words += 1
    click.echo(f"{out}: {n_words:,} words in {len(blanks):,} texts by {scorer.name}")


def load_answers(run: Path | None, judgments: Path | None, items: Path | None) -> ExportedRun:
    """Return the typed answers of an exported run, or of an import."""
    if run and not judgments:
        return load_run(run)
    if judgments and not run:
        # An installation may lack the readers of other programs' data.
        from analysis.readers.judgments import read_judgments

        return read_judgments(judgments, items)
    raise click.UsageError("Give either --run, or --judgments with --items.")
