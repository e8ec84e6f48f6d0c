"""People beside models in one command.

python analysis/compare.py --run EXPORT_DIR --scores scores.parquet [--scores ...] --out DIR
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
from tqdm import tqdm

from analysis.comparison import Comparison
from analysis.findings.lexical import count_corpus_words
from analysis.load import ExportedRun, load_all_scores, load_run, load_scores
from analysis.readers.judgments import read_judgments
from analysis.scores.metrics import FULL, METRICS
from analysis.typeset import to_text
from analysis.whole import Wanted, compare_whole
from analysis.write import write_comparison, written_before
from experiment.errors import ParallaxError
from experiment.version import code_version
from experiment.writing import refuse_foreign

_PATH = click.Path(path_type=Path)


def compare(
    run: Path | ExportedRun,
    scores: Sequence[Path],
    out: Path,
    *,
    resamples: int = 10_000,
    seed: int = 1,
    metric: str = FULL,
    unigram: Path | None = None,
    corpus: Mapping[str, int] | None = None,
    curves: bool = False,
    curve_items: Sequence[str] = (),
    formula: str | None = None,
    figures: bool = True,
) -> Comparison:
    """Compare the people of a run with models, and write what was found.

    Args:
        run: The export folder, or judgments read from elsewhere (see ``analysis.readers``).
        scores: Score files, one per model.
        out: The folder to write; an earlier comparison there is replaced.
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.
        metric: How a model's log-probabilities become one score (see ``analysis.scores.metrics``).
        unigram: The score file of a unigram model, for the metrics that weigh against it.
        corpus: How often each word occurs in the models' training text.
        curves: Whether log-probabilities are drawn word by word.
        curve_items: The ids of items to draw each by itself, in place of averages.
        formula: The mixed model's formula; None for the usual one.
        figures: Whether figures are drawn.

    Raises:
        ParallaxError: An input is missing or unsound, inputs do not belong together, or the
            folder cannot be written; nothing is written then.
    """
    refuse_foreign(out, written_before(out))
    wanted = Wanted(
        resamples=resamples,
        seed=seed,
        metric=metric,
        unigram=load_scores(unigram) if unigram else None,
        corpus=corpus,
        curves=curves,
        curve_items=curve_items,
        formula=formula,
    )
    comparison = compare_whole(
        load_run(run) if isinstance(run, Path) else run,
        load_all_scores(scores),
        wanted,
        code_version=code_version(),
    )
    return replace(comparison, files=write_comparison(comparison, out, figures=figures))


@click.command("compare")
@click.option("--run", type=_PATH, help="The folder that `parallax export` wrote.")
@click.option("--judgments", type=_PATH, help="Judgments of another study instead of a run.")
@click.option("--items", type=_PATH, help="The items of those judgments.")
@click.option("--mapping", type=_PATH, help="What the columns of those judgments mean (TOML).")
@click.option(
    "--scores",
    required=True,
    multiple=True,
    type=_PATH,
    help="A file that `parallax lm score` wrote; repeat it for more models.",
)
@click.option("--out", required=True, type=_PATH, help="The folder to write into.")
@click.option(
    "--resamples",
    default=10_000,
    show_default=True,
    type=click.IntRange(min=100),
    help="Resamples behind each interval.",
)
@click.option("--seed", default=1, show_default=True, help="The seed of the resampling.")
@click.option(
    "--metric",
    default=FULL,
    show_default=True,
    type=click.Choice(list(METRICS)),
    help="How a model's log-probabilities become one score.",
)
@click.option("--unigram", type=_PATH, help="Scores of a unigram model, for slor and its like.")
@click.option("--corpus", type=_PATH, help="The models' training text, for words' frequencies.")
@click.option("--curves", is_flag=True, help="Draw log-probabilities word by word.")
@click.option("--curves-of", multiple=True, metavar="ITEM_ID", help="The same of one item alone.")
@click.option("--formula", help="The mixed model's formula.")
@click.option("--no-figures", is_flag=True, help="Leave out the figures, which take longest.")
def command(
    run: Path | None,
    judgments: Path | None,
    items: Path | None,
    mapping: Path | None,
    scores: tuple[Path, ...],
    out: Path,
    resamples: int,
    seed: int,
    metric: str,
    unigram: Path | None,
    corpus: Path | None,
    curves: bool,
    curves_of: tuple[str, ...],
    formula: str | None,
    no_figures: bool,
) -> None:
    """Compare the people of an exported run with models: tables, figures and a report."""
    comparison = compare(
        _people(run, judgments, items, mapping),
        scores,
        out,
        resamples=resamples,
        seed=seed,
        metric=metric,
        unigram=unigram,
        corpus=_counted(corpus) if corpus else None,
        curves=curves,
        curve_items=curves_of,
        formula=formula,
        figures=not no_figures,
    )
    click.echo(to_text(comparison.tables[0]))
    for path in comparison.files:
        if path.suffix in (".html", ".svg") and not path.name.startswith("curves_"):
            click.echo(path)
    click.echo(f"All {len(comparison.files)} files, tables among them: {out}")


def _people(
    run: Path | None, judgments: Path | None, items: Path | None, mapping: Path | None
) -> Path | ExportedRun:
    if run and not (judgments or items or mapping):
        return run
    if judgments and not run:
        return read_judgments(judgments, items, mapping)
    raise click.UsageError("Name either --run, or --judgments (with --items and --mapping).")


def _counted(corpus: Path) -> Mapping[str, int]:
    with tqdm(desc="Counting words", unit=" lines", disable=None) as progress:
        return count_corpus_words(corpus, progress.update)


if __name__ == "__main__":
    try:
        command()
    except ParallaxError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
