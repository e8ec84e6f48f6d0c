"""``parallax lm score``."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

import click
from tqdm import tqdm

from analysis.commands.scoring import ScoringOptions, destinations, score_to_file
from analysis.errors import AnalysisError
from analysis.scores.scoring_inputs import find_materials, only_judged
from experiment.records import Item
from lm.registry import Device
from lm.sharding import workers
from lm.surprisal import PLL

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.argument("materials", metavar="STUDY_OR_ITEMS")
@click.option(
    "--out",
    required=True,
    type=_PATH,
    help="The score file to write (.parquet); with several models, a folder of score files.",
)
@click.option("--rendering", help="How items are given to the models.  [default: the study's]")
@click.option(
    "--only-judged",
    "export",
    type=_PATH,
    help="Score only the items judged in this exported run.",
)
@click.option(
    "--fast",
    is_flag=True,
    help="Score in bfloat16 first; score close comparisons again in float32.",
)
@click.option("--stream", is_flag=True, help="Read all items as one text, for recurrent models.")
@click.option(
    "--plain",
    is_flag=True,
    help="Run Hugging Face models text by text, without sharing beginnings.",
)
@click.option("--pll", type=click.Choice(get_args(PLL)), help="Masked models: what is hidden.")
@click.option(
    "--device",
    type=click.Choice(get_args(Device)),
    default="auto",
    show_default=True,
    help="The device that networks compute on.",
)
@click.option(
    "--workers",
    "processes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many processes to score with.",
)
@click.option("--cluster", help="The address of a Dask scheduler whose workers score.")
def score(
    models: tuple[str, ...],
    materials: str,
    out: Path,
    rendering: str | None,
    export: Path | None,
    fast: bool,
    stream: bool,
    plain: bool,
    pll: PLL | None,
    device: str,
    processes: int,
    cluster: str | None,
) -> None:
    """Score every version of every item with each MODEL.

    A MODEL is a folder, or hf: and the path or name of a Hugging Face model. STUDY_OR_ITEMS is a
    built-in study, a study folder, or a file or folder of items: a table (.tsv, .csv, .xlsx,
    .parquet), BLiMP's or MultiBLiMP's lines (.jsonl), a SyntaxGym suite (.json), a task of
    lm-evaluation-harness (.yaml). A file that already holds a model's scores of these items is left
    as it is; after an interruption the same command goes on where it was.
    """
    if stream and (fast or processes > 1 or cluster):
        raise AnalysisError(
            "with --stream, items are read one after the other and cannot be scored in "
            "parallel or fast",
            remedy="Leave out `--stream`, or else `--fast`, `--workers` and `--cluster`",
        )
    files = destinations(models, out)
    found = find_materials(materials, rendering, _progress)
    for sentence in found.notes:
        click.echo(sentence)
    if export is not None:
        found = only_judged(found, export)
    options = ScoringOptions(fast, stream, not plain, cast(Device, device), pll or "")
    with workers(processes, cluster) as executor:
        for model, path in files.items():
            score_to_file(model, found, path, options, executor)


def _progress(items: Iterator[Item]) -> Iterator[Item]:
    yield from tqdm(items, desc="Reading", unit=" items", disable=None)
