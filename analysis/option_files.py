"""Reading of the files that options of ``parallax compare`` name."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from analysis.data.load import ExportedRun, load_all_scores, load_run
from analysis.findings.finding import ComparisonOptions
from experiment.tables.parquet import has_column


def take_over_time(
    options: ComparisonOptions,
    scores: Sequence[Path],
    ages: Path | None,
    learners: Sequence[Path],
) -> tuple[ComparisonOptions, tuple[Path, ...]]:
    """Return the options with the score files that have checkpoints, and the other files."""
    over_time = [path for path in scores if has_column(path, "checkpoint")]
    if not over_time:
        if ages:
            raise click.UsageError("--ages needs files of checkpoints with --scores.")
        if learners:
            raise click.UsageError("--learners needs files of checkpoints with --scores.")
        return options, tuple(scores)
    # An installation may lack models over time.
    from analysis.over_time.load import load_histories
    from analysis.over_time.order import read_ages

    options = replace(
        options,
        over_time=load_histories(over_time),
        ages=read_ages(ages) if ages else {},
        learners=[load_run(folder) for folder in learners],
    )
    return options, tuple(path for path in scores if path not in over_time)


def read_takers(
    options: ComparisonOptions, folders: Sequence[Path], run: ExportedRun
) -> ComparisonOptions:
    """Return the options with the model participants of folders that `parallax take` wrote."""
    if not folders:
        return options
    # An installation may lack model participants.
    from analysis.takers.answers import load_model_participants

    return replace(options, takers=load_model_participants(folders, run))


def read_fresh_items(options: ComparisonOptions, paths: Sequence[Path]) -> ComparisonOptions:
    """Return the options with scores, and people's judgments, of fresh items."""
    runs = [path for path in paths if path.is_dir()]
    scores = load_all_scores([path for path in paths if path not in runs])
    return replace(options, fresh=[*scores, *map(load_run, runs)])


def read_files_of_typed_answers(
    options: ComparisonOptions,
    variants: Path | None,
    completions: Sequence[Path],
    embedding: Path | None,
) -> ComparisonOptions:
    """Return the options with typed answers' variants and vectors, and models' completions."""
    # An installation may lack typed answers.
    if variants:
        from analysis.typed.variants import read_variants

        options = replace(options, variants=read_variants(variants))
    if completions:
        from analysis.typed.completions import read_completions

        options = replace(
            options, completions={path.stem: read_completions(path) for path in completions}
        )
    if embedding:
        from analysis.typed.embeddings import read_embedding

        options = replace(options, embedding=read_embedding(embedding))
    return options
