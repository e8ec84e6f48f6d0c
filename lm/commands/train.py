"""``parallax lm train``: language models from texts."""

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from click.core import ParameterSource
from tqdm import tqdm

from lm.corpora.vocab import DEFAULT_MAX_WORDS
from lm.errors import LmError


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """One call of the command.

    Attributes:
        type: The kind of model.
        preset: The named settings to start from; empty: none.
        data: A text, or a folder of texts.
        out: The model's folder.
        name: The model's name in tables and figures; empty: named after its type.
        max_words: The largest number of known words.
        min_count: Words that occur less often are unknown.
        options: The options of that kind of model; options not given are ``None``.
    """

    type: str
    preset: str
    data: Path
    out: Path
    name: str
    max_words: int
    min_count: int
    options: Mapping[str, object]


def show_progress(sentences: Iterable[list[str]], task: str) -> Iterator[list[str]]:
    """Yield the sentences, and show their number."""
    yield from tqdm(sentences, desc=task, unit=" sentences", disable=None)


@contextmanager
def explain_memory_errors() -> Iterator[None]:
    """Turn an out-of-memory error into a message that names the settings to lower."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "memory" not in str(error):
            raise
        reason = str(error).splitlines() or ["Python could not get any more"]
        raise LmError(
            f"there is not enough memory ({reason[0]}). Lower `--batch`, then `--steps` or "
            "`--hidden`; fewer words (`--max-words`) or `--softmax adaptive` help too."
        ) from error


_CPUINFO = Path("/proc/cpuinfo")
_NUMPY_VARIABLE = "NPY_DISABLE_CPU_FEATURES"
_AVX512_FEATURES = "X86_V4 AVX512_ICL AVX512_SPR"
# Zen 3 has this family number, too, but not the instructions.
_ZEN_4_CPU = {"vendor_id": "AuthenticAMD", "cpu family": "25"}


def avoid_slow_sorting(environment: MutableMapping[str, str], cpuinfo: Path = _CPUINFO) -> None:
    """Make numpy sort without AVX-512 on AMD's Zen 4, unless the environment says otherwise.

    numpy's AVX-512 sorting uses an instruction (a compressed store to memory) that is so slow on
    these processors that sorting takes five times as long as with AVX2. numpy chooses once, at
    import: this function must be called before, and has no effect afterwards.
    """
    try:
        first, *_ = cpuinfo.read_text(encoding="utf-8").split("\n\n")
    except (OSError, UnicodeDecodeError):
        return
    lines = (line.partition(":") for line in first.splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    if _ZEN_4_CPU.items() <= facts.items():
        environment.setdefault(_NUMPY_VARIABLE, _AVX512_FEATURES)


_COUNT_TRAINER = "lm.commands.train_counts:train_count_model"
_RECURRENT_TRAINER = "lm.commands.recurrent:train_recurrent"
TRAINERS = {
    "ngram": _COUNT_TRAINER,
    "unigram": _COUNT_TRAINER,
    "lstm": _RECURRENT_TRAINER,
    "srn": _RECURRENT_TRAINER,
    "windowed": _RECURRENT_TRAINER,
    "multitask": _RECURRENT_TRAINER,
}
DEFAULT_PRESET = "marvin_linzen_2018"
_SHARED_OPTIONS = {"preset", "type_", "data", "out", "name", "max_words", "min_count"}
_COUNT_OPTIONS = {"order", "prune", "unknown"}
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("preset", required=False)
@click.option("--type", "type_", type=click.Choice(list(TRAINERS)), help="The type of model.")
@click.option(
    "--data",
    "--text",
    "data",
    type=_PATH,
    required=True,
    help="A text, one tokenised sentence per line, or a folder with train.txt, valid.txt.",
)
@click.option("--out", type=_PATH, required=True, help="The model's folder.")
@click.option(
    "--name", default="", help="The model's name in tables and figures.  [default: by its type]"
)
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
@click.option(
    "--prune", help="ngram: remove n-grams with these counts or fewer, by order: '0 0 1'."
)
@click.option(
    "--unknown",
    type=click.Choice(["srilm", "lmplz"]),
    help="ngram: count other words as <unk>, or leave their n-grams out.  [default: srilm]",
)
@click.option(
    "--tags", type=_PATH, help="multitask: a folder with supertagged train.txt and valid.txt."
)
@click.option("--hidden", type=click.IntRange(1), help="Units per layer.")
@click.option("--embedding", type=click.IntRange(1), help="Dimensions of a word's embedding.")
@click.option("--layers", type=click.IntRange(1), help="Recurrent layers.")
@click.option(
    "--dropout",
    type=click.FloatRange(0, 1, max_open=True),
    help="The share of units that dropout sets to 0.",
)
@click.option(
    "--softmax", type=click.Choice(["full", "tied", "adaptive"]), help="The type of output layer."
)
@click.option("--window", type=click.IntRange(2), help="windowed: how many words the model sees.")
@click.option(
    "--batch", type=click.IntRange(1), help="Batch size: streams of text read in parallel."
)
@click.option(
    "--steps", type=click.IntRange(1), help="Length of truncated backpropagation, in words."
)
@click.option("--optimizer", type=click.Choice(["sgd", "adam"]), help="The optimizer.")
@click.option("--lr", type=click.FloatRange(0, min_open=True), help="The initial learning rate.")
@click.option(
    "--anneal",
    type=click.FloatRange(1),
    help="Divide the learning rate by this when validation does not improve.",
)
@click.option(
    "--clip",
    type=click.FloatRange(0, min_open=True),
    help="The norm to which larger gradients are clipped.",
)
@click.option("--epochs", type=click.IntRange(1), help="The maximum number of epochs.")
@click.option(
    "--patience", type=click.IntRange(0), help="Stop after this many epochs without improvement."
)
@click.option(
    "--seed", type=click.IntRange(0), help="The seed of weights, dropout and sentence order."
)
@click.option(
    "--precision",
    type=click.Choice(["auto", "float32", "bf16"]),
    help="The precision of matrix products.",
)
@click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), help="The device to train on."
)
@click.option(
    "--cache", type=_PATH, help="Where to keep prepared texts.  [default: next to the text]"
)
@click.option(
    "--checkpoint-minutes",
    type=click.FloatRange(0, min_open=True),
    help="Minutes between checkpoints within an epoch.  [default: 10]",
)
@click.option(
    "--keep-checkpoints",
    type=click.IntRange(1),
    help="Keep the model at this many steps of each doubling of the training, to score over time.",
)
@click.option("--resume", is_flag=True, default=None, help="Continue an interrupted training.")
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
    --type it is the LSTM of Marvin & Linzen (2018). A folder that already has the same model of
    the same text is left unchanged.
    """  # fmt: skip
    kind = type_ or "lstm"
    if not preset and not type_:
        preset = DEFAULT_PRESET
    _refuse_foreign_options(ctx, kind, preset)
    request = TrainRequest(
        type_ or "", preset or "", data, out, name, max_words, min_count, options
    )
    if TRAINERS[kind] == _COUNT_TRAINER:
        # This must happen before numpy is imported.
        avoid_slow_sorting(os.environ)
    module, _, attribute = TRAINERS[kind].partition(":")
    trainer: Callable[[TrainRequest], None] = getattr(importlib.import_module(module), attribute)
    trainer(request)


def _refuse_foreign_options(ctx: click.Context, kind: str, preset: str | None) -> None:
    is_count_model = TRAINERS[kind] == _COUNT_TRAINER
    if is_count_model and preset:
        raise LmError(f'the preset "{preset}" is for recurrent models, not for --type {kind}.')
    foreign = [
        name
        for name in ctx.params
        if name not in _SHARED_OPTIONS
        and (name in _COUNT_OPTIONS) != is_count_model
        and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if foreign:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in foreign)
        raise LmError(f"{flags} cannot be used with --type {kind}. Leave it out.")
