"""Compare participants with models in one command.

python analysis/compare.py --run EXPORT_DIR [--scores scores.parquet ...] --out DIR
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pandas as pd
from tqdm import tqdm

# As a script, this folder is first on the path and hides the standard ``statistics``: move it last.
sys.path.sort(key=lambda entry: Path(entry).resolve() == Path(__file__).parent)

from analysis import comparison
from analysis.data.load import ExportedRun, Scores, load_all_scores, load_run, load_scores
from analysis.data.longitudinal import join_parts
from analysis.data.part_scores import write_part_scores
from analysis.data.tasks import split_run
from analysis.data.word_predictors import read_surprisal
from analysis.findings.finding import Comparison, ComparisonOptions
from analysis.findings.lexical import count_corpus_words
from analysis.option_files import (
    read_files_of_typed_answers,
    read_fresh_items,
    read_takers,
    take_over_time,
)
from analysis.report.write import find_earlier_results, write_comparison
from analysis.scores.metrics import METRICS
from analysis.tables.render import to_text
from analysis.tables.section import Section
from experiment.errors import ParallaxError
from experiment.studies.publication import read_about
from experiment.tables.atomic_write import refuse_overwrite
from experiment.version import code_version

_PATH = click.Path(path_type=Path)
_DEFAULTS = ComparisonOptions()


def compare(
    run: Path | ExportedRun,
    scores: Sequence[Path],
    out: Path,
    options: ComparisonOptions = _DEFAULTS,
    *,
    figures: bool = True,
) -> Comparison:
    """Compare a run's participants with models, and write the results.

    Args:
        run: The export folder, or judgments read from elsewhere (see ``analysis.readers``).
        scores: Score files, one per model; none for participants alone.
        out: The folder to write; an earlier comparison there is replaced.
        options: The contents of the comparison and how to compute it.
        figures: Whether figures are drawn.

    Raises:
        ParallaxError: An input is missing or invalid, inputs do not belong together, or the folder
            cannot be written. Nothing is written in these cases.
    """
    refuse_overwrite(out, find_earlier_results(out))
    exported = load_run(run) if isinstance(run, Path) else run
    result = comparison.compare(
        exported, load_all_scores(scores), options, code_version=code_version()
    )
    return replace(result, files=write_comparison(result, out, figures=figures))


@click.command("compare")
@click.option(
    "--run",
    "runs",
    multiple=True,
    type=_PATH,
    help="The folder that `parallax export` wrote; for a study in parts, repeat it, with --parts.",
)
@click.option(
    "--parts",
    "codes",
    type=_PATH,
    help="The table that `parallax recruitment parts` wrote for the runs.",
)
@click.option("--judgments", type=_PATH, help="Judgments of another study instead of a run.")
@click.option(
    "--times",
    type=_PATH,
    help="Reading times of another study instead of a run: a table with a row for each participant "
    "and word or region, and with --mapping what is compared.",
)
@click.option(
    "--items",
    type=_PATH,
    help="The items of those judgments; or the texts of those times, joined by text_id.",
)
@click.option(
    "--mapping", type=_PATH, help="What the columns of those judgments or times mean (TOML)."
)
@click.option(
    "--accept-low-accuracy",
    is_flag=True,
    help="Accept judgments whose accuracy is near chance or below.",
)
@click.option(
    "--scores",
    multiple=True,
    type=_PATH,
    help="A file that `parallax lm score` wrote; repeat it for more models. Without one the "
    "report is about people alone. For a study in parts, give files for each part's materials. "
    "Files of checkpoints become curves over time.",
)
@click.option(
    "--takers",
    multiple=True,
    type=_PATH,
    help="A folder that `parallax take` wrote; repeat it for more models.",
)
@click.option(
    "--surprisal",
    multiple=True,
    type=_PATH,
    help="A table that `parallax reading surprisal` or `parallax reading cloze` wrote, for a study "
    "that is read step by step; repeat it for more models, which are named by their files and "
    "compared on the words that all tables have.",
)
@click.option(
    "--ages",
    "ages_table",
    type=_PATH,
    help="With files of checkpoints: a table of the age at which people master each construction "
    "(construction, age).",
)
@click.option(
    "--learners",
    multiple=True,
    type=_PATH,
    help="With files of checkpoints: an export of children or learners who judged the same items; "
    "repeat it for more groups, which are named by their folders.",
)
@click.option(
    "--variants",
    type=_PATH,
    help="For typed answers, a table of texts that count as another answer, such as misspellings: "
    "the columns typed and answer.",
)
@click.option(
    "--completions",
    multiple=True,
    type=_PATH,
    help="For typed answers, a table that `parallax lm completions` wrote; repeat it for more "
    "models, which are named by their files.",
)
@click.option(
    "--embedding",
    type=_PATH,
    help="For typed answers, compare meanings too: a file of word vectors (word2vec, GloVe or "
    "fastText, as text), or the folder of a Hugging Face encoder.",
)
@click.option(
    "--fresh",
    multiple=True,
    type=_PATH,
    help="Scores of items that `parallax materials fresh` drew, or an export of people's judgments "
    "of them; repeat it for more.",
)
@click.option(
    "--task",
    default="",
    help="Compare only this task of multitask sessions, or only this one of several scales. By "
    "default each has a report in its own folder.",
)
@click.option("--out", required=True, type=_PATH, help="The folder to write to.")
@click.option(
    "--resamples",
    default=_DEFAULTS.resamples,
    show_default=True,
    type=click.IntRange(min=100),
    help="How many resamples each resampled interval uses.",
)
@click.option(
    "--seed", default=_DEFAULTS.seed, show_default=True, help="The seed of the resampling."
)
@click.option(
    "--metric",
    default=_DEFAULTS.metric,
    show_default=True,
    type=click.Choice(list(METRICS)),
    help="How a model's log-probabilities become one score.",
)
@click.option(
    "--unigram",
    multiple=True,
    type=_PATH,
    help="Scores of a unigram model, for slor and similar metrics; in parts like --scores.",
)
@click.option("--corpus", type=_PATH, help="The models' training text, for words' frequencies.")
@click.option("--curves", is_flag=True, help="Draw log-probabilities word by word.")
@click.option(
    "--curves-of",
    "curve_items",
    multiple=True,
    metavar="ITEM_ID",
    help="Also draw log-probabilities word by word for this item.",
)
@click.option("--item-map", is_flag=True, help="Place items, people and models on one scale.")
@click.option(
    "--comparison",
    "comparisons",
    multiple=True,
    metavar="COMPARE",
    help='Answer a comparison that the study did not plan, such as "condition: a - b"; the report '
    "marks it as not planned.",
)
@click.option("--formula", help="The mixed model's formula.")
@click.option(
    "--margin",
    default=_DEFAULTS.margin,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Treat accuracies that differ by less than this as equivalent; without it, the study's "
    "own margin, else 0.1.",
)
@click.option(
    "--about",
    type=_PATH,
    help="A TOML file with [publication] and [baseline], instead of the study's own.",
)
@click.option("--no-figures", is_flag=True, help="Leave out the figures, which take the longest.")
def command(
    runs: tuple[Path, ...],
    codes: Path | None,
    judgments: Path | None,
    times: Path | None,
    items: Path | None,
    mapping: Path | None,
    accept_low_accuracy: bool,
    scores: tuple[Path, ...],
    takers: tuple[Path, ...],
    surprisal: tuple[Path, ...],
    ages_table: Path | None,
    learners: tuple[Path, ...],
    variants: Path | None,
    completions: tuple[Path, ...],
    embedding: Path | None,
    fresh: tuple[Path, ...],
    task: str,
    out: Path,
    unigram: tuple[Path, ...],
    corpus: Path | None,
    about: Path | None,
    no_figures: bool,
    **values: Any,  # noqa: ANN401 (click types them by the options above)
) -> None:
    """Compare the people of an exported run with models.

    The folder OUT holds tables, figures and a report.
    """
    # The other options have the same names as the fields that they set.
    options = ComparisonOptions(
        corpus=_count_corpus(corpus) if corpus else None,
        about=read_about(about) if about else None,
        **values,
    )
    options = replace(
        options, surprisal={path.stem: _read_surprisals_in_bits(path) for path in surprisal}
    )
    options, scores = take_over_time(options, scores, ages_table, learners)
    options = read_fresh_items(options, fresh)
    options = read_files_of_typed_answers(options, variants, completions, embedding)
    people = _load_people(runs, codes, judgments, times, items, mapping)
    options = read_takers(options, takers, people)
    if judgments and not accept_low_accuracy:
        # An installation may lack the readers of other programs' data.
        from analysis.readers.plausibility import check_accuracy

        check_accuracy(people)
    with TemporaryDirectory() as merged:
        scores = _scores_of_all_parts(people, scores, Path(merged, "scores"))
        options = replace(options, unigram=_load_unigram(people, unigram, Path(merged, "unigram")))
        for part, folder in split_run(people, task, out):
            # With several tasks, surprisals apply only to tasks that are read step by step.
            read = part is people or part.readings is not None
            if folder != out:
                click.echo(f"{folder.name}\n")
            part_options = options if read else replace(options, surprisal={})
            _print_summary(
                compare(part, scores, folder, part_options, figures=not no_figures), folder
            )


def _scores_of_all_parts(run: ExportedRun, files: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    """Return score files for all items of the run; combined ones are written below a folder."""
    if not run.of_parts:
        return tuple(files)
    folder.mkdir()
    return tuple(write_part_scores(run, files, folder))


def _load_unigram(run: ExportedRun, files: Sequence[Path], folder: Path) -> Scores | None:
    score_files = _scores_of_all_parts(run, files, folder)
    if len(score_files) > 1:
        raise click.UsageError(
            "--unigram takes one model; for a study in parts, one file for each part."
        )
    return load_scores(score_files[0]) if score_files else None


def _print_summary(result: Comparison, out: Path) -> None:
    of_comparisons = [table for table in result.tables if table.section is Section.COMPARISONS]
    other_tables = [table for table in result.tables if table.section is not Section.COMPARISONS]
    for table in (*of_comparisons[:1], *other_tables[:1]):
        click.echo(to_text(table))
    for sentence in result.left_out:
        click.echo(sentence)
    for path in result.files:
        if path.suffix in (".html", ".svg") and not path.name.startswith("curves_"):
            click.echo(path)
    click.echo(f"All {len(result.files)} files, tables among them: {out}")


def _load_people(
    runs: Sequence[Path],
    codes: Path | None,
    judgments: Path | None,
    times: Path | None,
    items: Path | None,
    mapping: Path | None,
) -> ExportedRun:
    if (
        runs
        and not (judgments or times or items or mapping)
        and (len(runs) > 1) == (codes is not None)
    ):
        loaded = [load_run(run) for run in runs]
        return join_parts(loaded, codes) if codes else loaded[0]
    if times and not (runs or codes or judgments):
        from analysis.readers.reading_times.mapped.run import read_mapped_times

        read = read_mapped_times(times, mapping, items)
        for note in read.notes:
            click.echo(note)
        return read.run
    if judgments and not (runs or codes or times):
        from analysis.readers.judgments import read_judgments

        return read_judgments(judgments, items, mapping)
    raise click.UsageError(
        "Give either --run, or --judgments or --times (each with --items and --mapping); for "
        "a study in parts, give every --run and --parts."
    )


def _read_surprisals_in_bits(path: Path) -> pd.DataFrame:
    """Return a surprisal table in bits."""
    frame, unit = read_surprisal(path, missing=True)
    bits = frame[unit] if unit == "surprisal_bits" else frame[unit] / math.log(2)
    return frame.assign(surprisal_bits=bits)[["text_id", "position", "text", "surprisal_bits"]]


def _count_corpus(corpus: Path) -> Mapping[str, int]:
    with tqdm(desc="Counting words", unit=" lines", disable=None) as progress:
        return count_corpus_words(corpus, progress.update)


if __name__ == "__main__":
    try:
        command()
    except ParallaxError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
