"""``parallax lm score``: score a study's items with models, one score file for each."""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import click
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tqdm import tqdm

from analysis.data.facts import ScoreFacts
from analysis.data.load import read_score_facts
from analysis.errors import AnalysisError
from analysis.scores.file import AS_STREAM, Scoring, write_score_file, write_stream_file
from analysis.scores.scoring_inputs import Materials, find_materials, select_judged
from experiment.errors import ParallaxError
from experiment.records import Item
from experiment.tables.files import require_suffix
from experiment.version import code_version
from lm.loading_options import loading_options
from lm.model_folder import model_identity
from lm.registry import HF_PREFIX, Device
from lm.scorer import FastKernel, Scorer
from lm.sharding import Loading, fast_kernel_of, scorer_of, workers
from lm.surprisal import PLL
from lm.weights import Weights

# Facts that are known only after scoring.
_KNOWN_AFTER_SCORING = {"model": "", "trained_on": "", "certificate": "", "check": ""}

_MANY_UNKNOWN = 0.05
# The value in a score file if only the scored token itself was masked.
_PLL_READING = "with each token alone hidden"


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How to compute scores.

    Attributes:
        loading: How each model is loaded, its identity apart.
        stream: Whether all items are read as one text.
        storage: Where workers write their shards; empty for the score file's folder.
    """

    loading: Loading
    stream: bool = False
    storage: str = ""


def choose_score_files(models: tuple[str, ...], out: Path) -> dict[str, Path]:
    """Return the score file's path for each model."""
    if len(models) == 1:
        require_suffix(out, ".parquet")
        return {models[0]: out}
    names = [f"{Path(model.removeprefix(HF_PREFIX)).resolve().name}.parquet" for model in models]
    if out.suffix == ".parquet" or out.is_file():
        raise AnalysisError(
            f"{len(models)} models cannot share one file",
            where=str(out),
            expected="a folder, in which each model's scores become a file",
        )
    if repeated_names := sorted({name for name in names if names.count(name) > 1}):
        raise AnalysisError(
            f"two models would both be written to {repeated_names[0]}",
            where=str(out),
            expected="models whose folders have different names",
            remedy="Score them one by one, each with its own --out FILE.parquet",
        )
    return {model: out / name for model, name in zip(models, names, strict=True)}


def score_to_file(
    model: str,
    materials: Materials,
    out: Path,
    options: ScoringOptions,
    executor: Executor | None,
    *,
    is_kept: bool = True,
) -> None:
    """Write a model's scores of the items in the model's rendering, and print a message.

    Args:
        model: A folder, or ``hf:`` and a path or name.
        materials: The items.
        out: The score file.
        options: The scoring options.
        executor: The executor to compute with; None for this process.
        is_kept: Whether the file is kept after the command; the message names only kept files.

    Raises:
        ParallaxError: The model or the items cannot be scored.
    """
    wants_fast = options.loading.fast
    loading = replace(options.loading, fast=False, identity=model_identity(model))
    materials = materials.given_to(scorer_of(model, loading))
    facts = ScoreFacts(
        **_KNOWN_AFTER_SCORING,
        model_hash=loading.identity,
        rendering=materials.rendering,
        study=materials.study,
        study_version=materials.version,
        materials_hash=materials.hash,
        code_version=code_version(),
        selection=materials.selection,
        reading=AS_STREAM if options.stream else _PLL_READING if loading.pll == "original" else "",
        weights=loading.weights.in_words,
    )
    if _is_up_to_date(out, facts, wants_fast):
        click.echo(f"{out} already holds these scores")
        return
    kernel = _find_fast_kernel(model, loading, executor) if wants_fast else None
    loading = replace(loading, fast=kernel is not None)
    scorer = scorer_of(model, loading)
    named_facts = facts.model_copy(update={"model": scorer.name, "trained_on": scorer.trained_on})
    task, total = f"Scoring {scorer.name}", materials.n_versions
    with tqdm(desc=task, total=total, unit=" sentences", disable=None) as bar:
        scoring = Scoring(
            model, loading, executor, str(kernel or ""), bar.update, storage=options.storage
        )
        write = write_stream_file if options.stream else write_score_file
        written_facts = write(materials, scoring, named_facts, out)
    click.echo(
        f"{f'{out}: ' if is_kept else ''}{total:,} sentences of {materials.n_items:,} items "
        "scored by "
        f"{written_facts.model}, trained on {written_facts.trained_on}"
    )
    for sentence in materials.rendering_notes():
        click.echo(sentence)
    lacks_capitals = getattr(scorer, "cased", False) and materials.lack_capitals()
    _report_scoring(out, scorer, written_facts, lacks_capitals=lacks_capitals)


def _report_scoring(
    out: Path, scorer: Scorer, written_facts: ScoreFacts, *, lacks_capitals: bool
) -> None:
    if unknown := _describe_unknown_tokens(out, lacks_capitals=lacks_capitals):
        click.echo(unknown)
    if after_context := _describe_choices(out):
        click.echo(after_context)
    for sentence in getattr(scorer, "notes", ()):
        click.echo(sentence)
    if fault := getattr(scorer, "packing_fault", ""):
        click.echo(f"{scorer.name} was run text by text, without sharing beginnings: {fault}")
    if written_facts.reading == AS_STREAM:
        click.echo(f"The sentences were read {written_facts.reading}.")
    if written_facts.certificate:
        click.echo(f"{written_facts.certificate[:1].upper()}{written_facts.certificate[1:]}.")
    if written_facts.check:
        click.echo(f"Checked: {written_facts.check}.")


def _describe_unknown_tokens(out: Path, *, lacks_capitals: bool) -> str:
    """Return the number of tokens unknown to the model, in words; empty if it knew all.

    Args:
        out: The score file.
        lacks_capitals: Whether the model's words have capitals, and the texts none.
    """
    counts = pq.read_table(out, columns=["n_tokens", "n_unknown"])
    n_tokens, n_unknown = (int(pc.sum(counts[name]).as_py() or 0) for name in counts.column_names)
    if not n_unknown:
        return ""
    hint = ""
    if lacks_capitals:
        hint = (
            " The model's words have capitals, and it read none: score texts with their own "
            "capitals, and without a --rendering that writes lower case."
        )
    elif n_unknown > _MANY_UNKNOWN * n_tokens:
        hint = (
            " If these are words with marks or capitals, give another --rendering: split_tokens "
            "sets marks apart, split_lower_case_tokens also writes lower case."
        )
    return f"{n_unknown:,} of {n_tokens:,} tokens are unknown to the model.{hint}"


def _describe_choices(out: Path) -> str:
    """Return how many texts are a choice after a context, in words; empty if there are none."""
    choice_at = pq.read_table(out, columns=["choice_at"])["choice_at"]
    n_after = int(pc.sum(pc.greater(choice_at, 0)).as_py() or 0)
    known = (
        f"Of {n_after:,} texts the beginning is the item's context: logprob_of_choice_nats is the "
        "log-probability of the choice alone, given it."
        if n_after
        else ""
    )
    unknown = (
        f"Of {choice_at.null_count:,} texts the rendering hides where the context ends, so their "
        "choice has no score of its own."
        if choice_at.null_count
        else ""
    )
    return " ".join(filter(None, (known, unknown)))


def _find_fast_kernel(model: str, loading: Loading, executor: Executor | None) -> FastKernel | None:
    """Return the fast kernel available where the pass runs; print a message if there is none."""
    run = executor.map if executor else map
    kernel = next(iter(run(fast_kernel_of, [model], [loading])))
    if kernel.is_faster:
        return kernel
    click.echo(f"--fast was not used, so scores are exact, because {kernel.refusal}.")
    return None


def _is_up_to_date(out: Path, expected_facts: ScoreFacts, fast: bool) -> bool:
    try:
        stored_facts = read_score_facts(out)
    except ParallaxError:
        return False
    if bool(stored_facts.certificate) and not fast:
        return False
    return stored_facts.model_copy(update=_KNOWN_AFTER_SCORING) == expected_facts


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
@click.option(
    "--pll", type=click.Choice(get_args(PLL)), help="For masked models: which tokens to mask."
)
@loading_options
@click.option(
    "--workers",
    "processes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many processes to score with.",
)
@click.option("--cluster", help="The address of a Dask scheduler whose workers score.")
@click.option(
    "--shards",
    default="",
    help="The folder, or URI such as s3://bucket/folder, where workers write finished parts.  "
    "[default: the score file's folder]",
)
@click.option(
    "--checkpoints", is_flag=True, help="Score all checkpoints in MODEL's folder into one file."
)
@click.option(
    "--revisions",
    help="Score these revisions of a Hugging Face MODEL, with commas between, into one file; all: "
    "those named after a step.",
)
@click.option(
    "--tokens-per-step",
    type=click.IntRange(1),
    help="Tokens that a training step read, where checkpoints do not say.",
)
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
    device: Device,
    weights: Weights,
    processes: int,
    cluster: str | None,
    shards: str,
    checkpoints: bool,
    revisions: str | None,
    tokens_per_step: int | None,
) -> None:
    """Score every version of every item with each MODEL.

    A MODEL is a folder, or hf: and the path or name of a Hugging Face model. STUDY_OR_ITEMS is a
    built-in study, a study folder, or a file or folder of items: a table (.tsv, .csv, .xlsx,
    .parquet), BLiMP's or MultiBLiMP's lines (.jsonl), a SyntaxGym suite (.json), a task of
    lm-evaluation-harness (.yaml). A file that already has a model's scores of these items is
    left unchanged; after an interruption, the same command continues.
    """
    if stream and (fast or processes > 1 or cluster or shards):
        raise AnalysisError(
            "with --stream a model reads the items one after the other, so they cannot "
            "be scored in parallel or fast",
            remedy="Leave out `--stream`, or else `--fast`, `--workers`, `--cluster` and "
            "`--shards`",
        )
    over_time = checkpoints or revisions is not None
    if over_time and (stream or fast or processes > 1 or cluster or shards or len(models) > 1):
        raise AnalysisError(
            "checkpoints of one model are scored in this process, exactly, sentence by sentence",
            remedy="Give one MODEL, and leave out `--stream`, `--fast`, `--workers`, `--cluster` "
            "and `--shards`",
        )
    if checkpoints and revisions is not None:
        raise click.UsageError("--checkpoints are in a folder, --revisions at a hub. Give one.")
    if tokens_per_step is not None and not over_time:
        raise click.UsageError("--tokens-per-step needs --checkpoints or --revisions.")
    files = choose_score_files(models, out)
    item_source = find_materials(materials, rendering, _show_progress)
    for sentence in item_source.notes:
        click.echo(sentence)
    if export is not None:
        item_source = select_judged(item_source, export)
    loading = Loading(fast, not plain, device, pll=pll or "", weights=weights)
    if over_time:
        _score_over_time(models[0], revisions, tokens_per_step, item_source, out, loading)
        return
    options = ScoringOptions(loading, stream, shards)
    with workers(processes, cluster) as executor:
        for model, path in files.items():
            score_to_file(model, item_source, path, options, executor)


def _score_over_time(
    model: str,
    revisions: str | None,
    tokens_per_step: int | None,
    materials: Materials,
    out: Path,
    loading: Loading,
) -> None:
    # An installation may lack models over time.
    from analysis.over_time.score import score_over_time
    from lm.checkpoints.find import find_in_folder, find_revisions

    trained = (
        find_revisions(model, revisions.split(","), tokens_per_step)
        if revisions
        else find_in_folder(model, tokens_per_step)
    )
    score_over_time(trained, materials, out, loading)


def _show_progress(items: Iterator[Item]) -> Iterator[Item]:
    yield from tqdm(items, desc="Reading", unit=" items", disable=None)
