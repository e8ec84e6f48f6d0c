"""``parallax lm score``."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

import click
from tqdm import tqdm

from analysis.errors import AnalysisError
from analysis.load import ScoreFacts, score_facts
from analysis.scores.file import Scoring, write_score_file
from analysis.scores.stream import READING, write_stream_file
from analysis.scores.wanted import Materials, find_materials, only_judged
from experiment.errors import ParallaxError
from experiment.records import Item
from experiment.version import code_version
from lm.registry import HF_PREFIX, Device
from lm.scoring.shards import Loading, scorer_of, workers

_PATH = click.Path(path_type=Path)
# What only the scores themselves can tell.
_TOLD_AFTERWARDS = {"model": "", "trained_on": "", "certificate": ""}


@click.command()
@click.argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.argument("materials", metavar="STUDY_OR_ITEMS")
@click.option(
    "--out",
    required=True,
    type=_PATH,
    help="The score file to write (.parquet); with several models, a folder for theirs.",
)
@click.option("--rendering", help="How items are given to the model.  [default: the study's]")
@click.option(
    "--only-judged",
    "export",
    type=_PATH,
    help="Score only the items judged in this exported run.",
)
@click.option(
    "--fast", is_flag=True, help="First pass in bfloat16; close comparisons again in float32."
)
@click.option(
    "--stream", is_flag=True, help="Carry what was read on from item to item, for recurrent models."
)
@click.option(
    "--device",
    type=click.Choice(get_args(Device)),
    default="auto",
    show_default=True,
    help="Where networks compute.",
)
@click.option(
    "--workers",
    "processes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many processes score.",
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
    device: str,
    processes: int,
    cluster: str | None,
) -> None:
    """Score every version of every item with each MODEL.

    A MODEL is a folder, or hf: and the path or name of a Hugging Face model. STUDY_OR_ITEMS is a
    built-in study, a study folder, or a file of items (.tsv, .csv, .parquet). A file that already
    holds a model's scores of these items is left as it is; after an interruption the same command
    goes on where it was.
    """
    if stream and (fast or processes > 1 or cluster):
        raise AnalysisError(
            "a stream is read one item after the other, each exactly as those before it left it",
            remedy="Leave `--stream` out, or `--fast`, `--workers` and `--cluster`",
        )
    places = _places(models, out)
    found = find_materials(materials, rendering, _shown)
    if export is not None:
        found = only_judged(found, export)
    way = _Way(fast, stream, cast(Device, device))
    with workers(processes, cluster) as executor:
        for model, path in places.items():
            _score(model, found, path, way, executor)


@dataclass(frozen=True, slots=True)
class _Way:
    """How scores are computed: fast and certified, as one stream, and on which device."""

    fast: bool
    stream: bool
    device: Device


def _shown(items: Iterator[Item]) -> Iterator[Item]:
    yield from tqdm(items, desc="Reading", unit=" items", disable=None)


def _places(models: tuple[str, ...], out: Path) -> dict[str, Path]:
    """Return where each model's scores go."""
    if len(models) == 1:
        if out.suffix != ".parquet":
            raise AnalysisError(
                "scores are kept in Parquet alone",
                where=str(out),
                expected="a name ending in .parquet",
            )
        return {models[0]: out}
    names = [f"{Path(model.removeprefix(HF_PREFIX)).resolve().name}.parquet" for model in models]
    if out.suffix == ".parquet" or out.is_file():
        raise AnalysisError(
            f"{len(models)} models cannot share one file",
            where=str(out),
            expected="a folder, in which each model's scores become a file",
        )
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise AnalysisError(
            f"two models would both be written to {twice[0]}",
            where=str(out),
            expected="models whose folders have different names",
            remedy="Score them one by one",
        )
    return {model: out / name for model, name in zip(models, names, strict=True)}


def _score(
    model: str, materials: Materials, out: Path, way: _Way, executor: Executor | None
) -> None:
    facts = ScoreFacts(
        **_TOLD_AFTERWARDS,
        model_hash=_model_hash(model),
        rendering=materials.rendering,
        study=materials.study,
        study_version=materials.version,
        materials_hash=materials.hash,
        code_version=code_version(),
        selection=materials.selection,
        reading=READING if way.stream else "",
    )
    if _holds(out, facts, way.fast):
        click.echo(f"{out}: already holds these scores")
        return
    loading = Loading(way.fast, way.device, facts.model_hash)
    scorer = scorer_of(model, loading)
    named = facts.model_copy(update={"model": scorer.name, "trained_on": scorer.trained_on})
    if fault := getattr(scorer, "packing_fault", ""):
        click.echo(f"{scorer.name} is run text by text, without sharing beginnings: {fault}")
    task, total = f"Scoring {scorer.name}", materials.n_versions
    with tqdm(desc=task, total=total, unit=" sentences", disable=None) as bar:
        scoring = Scoring(model, loading, executor, bar.update)
        write = write_stream_file if way.stream else write_score_file
        written = write(materials, scoring, named, out)
    click.echo(
        f"{out}: {total:,} sentences of {materials.n_items:,} items scored by {written.model}, "
        f"trained on {written.trained_on}"
    )
    if written.reading:
        click.echo(f"The sentences were read {written.reading}.")
    if written.certificate:
        click.echo(f"{written.certificate[:1].upper()}{written.certificate[1:]}.")


def _model_hash(model: str) -> str:
    digest = hashlib.sha256()
    folder = Path(model.removeprefix(HF_PREFIX))
    if not folder.is_dir():
        # A model from a hub has no files here that could be hashed.
        return hashlib.sha256(model.encode()).hexdigest()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _holds(out: Path, wanted: ScoreFacts, fast: bool) -> bool:
    try:
        found = score_facts(out)
    except ParallaxError:
        return False
    if bool(found.certificate) and not fast:
        return False
    return found.model_copy(update=_TOLD_AFTERWARDS) == wanted
