"""``parallax lm benchmark``: run a published benchmark and print the table of its paper."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import pandas as pd

from analysis.commands.score import ScoringOptions, score_to_file
from analysis.data.load import load_all_scores
from analysis.errors import AnalysisError
from analysis.findings.benchmark import (
    PARADIGM,
    PHENOMENON,
    benchmark_table,
    pair_results,
    suite_results,
)
from analysis.scores.metrics import METRICS, NEED_UNIGRAM, SUM, apply_metric, describe_metric
from analysis.scores.scoring_inputs import choose_text_rendering, find_materials
from analysis.scores.suites import SuiteScores, score_suites
from analysis.tables.accuracy_table import Table
from analysis.tables.render import save_table, to_text
from experiment.materials.formats.files import is_materials, materials_files
from experiment.materials.formats.suite import is_suite
from experiment.materials.item_rows import item_row
from experiment.tables.atomic_write import atomic_write
from experiment.version import code_version
from lm.loading_options import loading_options
from lm.registry import Device
from lm.sharding import Loading, scorer_of
from lm.weights import Weights

_PATH = click.Path(path_type=Path)
_SUITE = "suite"


@click.command()
@click.argument("materials")
@click.argument("models", metavar="MODELS...", nargs=-1, required=True)
@click.option("--by", help="The items' column that groups paradigms.  [default: the paper's]")
@click.option(
    "--metric",
    default=SUM,
    show_default=True,
    type=click.Choice([name for name in METRICS if name not in NEED_UNIGRAM]),
    help="How a model's log-probabilities become one score.",
)
@click.option(
    "--rendering", help="How pairs are given to the models.  [default: as the model reads]"
)
@click.option("--plain", is_flag=True, help="Run Hugging Face models text by text.")
@loading_options
@click.option("--out", type=_PATH, help="A folder to write the scores and the tables to.")
def benchmark(
    materials: str,
    models: tuple[str, ...],
    by: str | None,
    metric: str,
    rendering: str | None,
    plain: bool,
    device: Device,
    weights: Weights,
    out: Path | None,
) -> None:
    """Print accuracies on a published set.

    MATERIALS is a file or folder of pairs, such as BLiMP's lines (.jsonl), or of SyntaxGym suites
    (.json), whose predictions are evaluated. MODELS are named as for `parallax lm score`.
    """
    if not is_materials(materials):
        raise AnalysisError(
            "there are no materials",
            where=materials,
            expected="a file or folder of pairs, or of SyntaxGym suites",
        )
    files = materials_files(Path(materials))
    request = _BenchmarkRequest(
        models, metric, rendering, Loading(packed=not plain, device=device, weights=weights)
    )
    with _open_output_folder(out) as folder:
        suites = [is_suite(path) for path in files]
        if all(suites):
            tables = _score_suites(files, request, folder, keep=out is not None)
        elif any(suites):
            raise AnalysisError(
                "the folder holds both pairs and suites",
                where=materials,
                expected="only pairs or only suites",
            )
        else:
            tables = _score_pairs(materials, request, folder, by, is_kept=out is not None)
        click.echo("\n".join(["", *map(to_text, tables[:1])]))
        if out:
            for table in tables:
                save_table(table, folder)
            click.echo(f"Scores and tables: {out}")


@dataclass(frozen=True, slots=True)
class _BenchmarkRequest:
    models: Sequence[str]
    metric: str
    rendering: str | None
    loading: Loading


@contextmanager
def _open_output_folder(out: Path | None) -> Iterator[Path]:
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        yield out
    else:
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)


def _score_pairs(
    materials: str, request: _BenchmarkRequest, folder: Path, by: str | None, *, is_kept: bool
) -> list[Table]:
    pair_materials = find_materials(materials, request.rendering)
    for sentence in pair_materials.notes:
        click.echo(sentence)
    paths = [folder / f"scores_{number}.parquet" for number in range(1, len(request.models) + 1)]
    options = ScoringOptions(request.loading)
    for model, path in zip(request.models, paths, strict=True):
        score_to_file(model, pair_materials, path, options, None, is_kept=is_kept)
    scores = [apply_metric(model_scores, request.metric) for model_scores in load_all_scores(paths)]
    items = pd.DataFrame([item_row(item) for item in pair_materials.items()])
    usual = PHENOMENON if PHENOMENON in items else PARADIGM
    origin = [
        f"Model {facts.model}: trained on {facts.trained_on.rstrip('.')}; given {facts.given}."
        for facts in (model_scores.facts for model_scores in scores)
    ]
    origin.append(f"Metric: {describe_metric(request.metric)}. Code: {code_version()}.")
    measure = "Pairs whose good sentence scores higher"
    return [
        benchmark_table(pair_results(scores, items, column), column, measure, origin)
        for column in dict.fromkeys((by or usual, PARADIGM))
    ]


def _score_suites(
    files: Sequence[Path], request: _BenchmarkRequest, folder: Path, *, keep: bool
) -> list[Table]:
    suite_scores: dict[str, SuiteScores] = {}
    origin = []
    for model in request.models:
        scorer = scorer_of(model, request.loading)
        suite_scores[scorer.name] = score_suites(scorer, files, choose_text_rendering(scorer))
        origin.append(f"Model {scorer.name}: trained on {scorer.trained_on.rstrip('.')}.")
        if keep:
            _write_suite_scores(folder, scorer.name, suite_scores[scorer.name])
    origin.append(f"Code: {code_version()}.")
    measure = "Items of which all predictions hold"
    predictions = {model: model_scores.predictions for model, model_scores in suite_scores.items()}
    notes = [
        "Surprisals in bits; a region's tokens are those that begin in it; no correction.",
        *(
            f"{model}: {_describe_predictions(rows)}."
            for model, rows in predictions.items()
            if len(files) == 1
        ),
    ]
    return [benchmark_table(suite_results(predictions), _SUITE, measure, origin, notes)]


def _describe_predictions(rows: pd.DataFrame) -> str:
    shares = rows.groupby("formula", sort=False)["holds"].mean()
    return "; ".join(f"{formula} holds of {100 * share:.1f}%" for formula, share in shares.items())


def _write_suite_scores(folder: Path, model: str, scores: SuiteScores) -> None:
    name = re.sub(r"[^\w.-]", "_", model)
    for kind, frame in (("regions", scores.regions), ("predictions", scores.predictions)):
        with atomic_write(folder / f"{kind}_{name}.csv") as temporary:
            frame.to_csv(temporary, index=False, lineterminator="\n")
