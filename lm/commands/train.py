"""``parallax lm train``: language models from texts."""

import importlib
import os
from collections.abc import Callable
from pathlib import Path

import click
from click.core import ParameterSource

from lm.commands.request import TrainRequest
from lm.corpora.vocab import DEFAULT_MAX_WORDS
from lm.errors import LmError
from lm.ngram.sorting import avoid_slow_sorting

_COUNT_MODEL = "lm.commands.train_ngram:train_count_model"
_RECURRENT = "lm.commands.recurrent:train_recurrent"
TRAINERS = {
    "ngram": _COUNT_MODEL,
    "unigram": _COUNT_MODEL,
    "lstm": _RECURRENT,
    "srn": _RECURRENT,
    "windowed": _RECURRENT,
    "multitask": _RECURRENT,
}
DEFAULT_PRESET = "marvin_linzen_2018"
_SHARED = {"preset", "type_", "data", "out", "name", "max_words", "min_count"}
_COUNT_OPTIONS = {"order", "prune", "unknown"}
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("preset", required=False)
@click.option("--type", "type_", type=click.Choice(list(TRAINERS)), help="Which kind of model.")
@click.option(
    "--data",
    "--text",
    "data",
    type=_PATH,
    required=True,
    help="A text, one tokenised sentence per line, or a folder with train.txt, valid.txt.",
)
@click.option("--out", type=_PATH, required=True, help="The model's folder.")
@click.option("--name", default="", help="What tables and figures call it.  [default: by its type]")
@click.option(
    "--max-words",
    type=click.IntRange(1),
    default=DEFAULT_MAX_WORDS,
    show_default=True,
    help="Keep this many words, the most frequent ones; others are unknown.",
)
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Words that occur less often are unknown.",
)
@click.option("--order", type=click.IntRange(1), help="ngram: the longest n.  [default: 5]")
@click.option("--prune", help="ngram: counts at or below which n-grams go, by order: '0 0 1'.")
@click.option(
    "--unknown",
    type=click.Choice(["srilm", "lmplz"]),
    help="ngram: other words are counted as <unk>, or their n-grams left out.  [default: srilm]",
)
@click.option("--tags", type=_PATH, help="multitask: folder of supertagged train.txt, valid.txt.")
@click.option("--hidden", type=click.IntRange(1), help="Units per layer.")
@click.option("--embedding", type=click.IntRange(1), help="Numbers per word.")
@click.option("--layers", type=click.IntRange(1), help="Recurrent layers.")
@click.option("--dropout", type=click.FloatRange(0, 1, max_open=True), help="Share dropped.")
@click.option("--softmax", type=click.Choice(["full", "tied", "adaptive"]), help="Output layer.")
@click.option("--window", type=click.IntRange(2), help="windowed: how many words it sees.")
@click.option("--batch", type=click.IntRange(1), help="Columns of text read side by side.")
@click.option("--steps", type=click.IntRange(1), help="Words between cuts of the gradient.")
@click.option("--lr", type=click.FloatRange(0, min_open=True), help="First learning rate.")
@click.option("--anneal", type=click.FloatRange(1), help="Divides it when nothing improves.")
@click.option("--clip", type=click.FloatRange(0, min_open=True), help="Longest gradient.")
@click.option("--epochs", type=click.IntRange(1), help="How often the text is read at most.")
@click.option("--patience", type=click.IntRange(0), help="Stop after as many without improvement.")
@click.option("--seed", type=click.IntRange(0), help="Of weights, dropout and sentence order.")
@click.option("--precision", type=click.Choice(["auto", "float32", "bf16"]), help="Of products.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), help="Where.")
@click.option("--cache", type=_PATH, help="Where prepared texts stay.  [default: next to the text]")
@click.option(
    "--checkpoint-minutes",
    type=click.FloatRange(0, min_open=True),
    help="Minutes between checkpoints within an epoch.  [default: 10]",
)
@click.option("--resume", is_flag=True, default=None, help="Go on where the training stopped.")
@click.pass_context
def train(
    ctx: click.Context,
    /,
    preset: str | None,
    type_: str | None,
    data: Path,
    out: Path,
    name: str,
    max_words: int,
    min_count: int,
    **options: object,
) -> None:
    """Train a language model on a text and keep it in a folder.

    PRESET names settings of a recurrent model; options change single ones. Without PRESET and
    --type it is the LSTM of Marvin & Linzen (2018). A folder that already holds the same model of
    the same text is left as it is.
    """  # fmt: skip
    kind = type_ or "lstm"
    if not preset and not type_:
        preset = DEFAULT_PRESET
    _refuse_foreign_options(ctx, kind, preset)
    request = TrainRequest(
        type_ or "", preset or "", data, out, name, max_words, min_count, options
    )
    if TRAINERS[kind] == _COUNT_MODEL:
        avoid_slow_sorting(os.environ)
    module, _, attribute = TRAINERS[kind].partition(":")
    trainer: Callable[[TrainRequest], None] = getattr(importlib.import_module(module), attribute)
    trainer(request)


def _refuse_foreign_options(ctx: click.Context, kind: str, preset: str | None) -> None:
    counted = TRAINERS[kind] == _COUNT_MODEL
    if counted and preset:
        raise LmError(f'the preset "{preset}" is one of recurrent models, not of --type {kind}.')
    foreign = [
        name
        for name in ctx.params
        if name not in _SHARED
        and (name in _COUNT_OPTIONS) != counted
        and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if foreign:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in foreign)
        raise LmError(f"{flags} cannot be used with --type {kind}. Leave it out.")
