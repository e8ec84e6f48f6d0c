"""``parallax lm train``: language models from texts."""

from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import click
from tqdm import tqdm

from lm.corpus import EncodedText, count_words, encode, read_sentences, text_sha256
from lm.errors import LmError
from lm.generated_text import describe_text
from lm.model_folder import read_config, refuse_foreign
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import Estimate, estimate
from lm.ngram.model import FILES, MODEL, save
from lm.registry import TYPES
from lm.vocab import DEFAULT_MAX_WORDS, Vocabulary, vocabulary_by_frequency

_PATH = click.Path(path_type=Path)


@click.command()
@click.option("--type", "type_", type=click.Choice(list(TYPES)), required=True, help="Which model.")
@click.option("--text", type=_PATH, required=True, help="One tokenised sentence per line, UTF-8.")
@click.option("--out", type=_PATH, required=True, help="The model's folder.")
@click.option("--order", type=click.IntRange(1), default=5, show_default=True, help="Longest n.")
@click.option("--name", help="What tables and figures call the model.  [default: ORDER-gram]")
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
def train(
    type_: str,
    text: Path,
    out: Path,
    order: int,
    name: str | None,
    max_words: int,
    min_count: int,
) -> None:
    """Train a language model on a text and keep it in a folder.

    A folder that already holds the same model of the same text is left as it is.
    """
    sha256 = text_sha256(text)
    wanted: dict[str, object] = {
        "type": type_,
        "name": name or f"{order}-gram",
        "trained_on": describe_text(text, sha256),
        "order": order,
        "max_words": max_words,
        "min_count": min_count,
        "text_sha256": sha256,
        "code_version": version("parallax"),
    }
    refuse_foreign(out, FILES)
    if _holds(out, wanted):
        click.echo(f"{out}: already trained on {wanted['trained_on']}")
        return
    started = perf_counter()
    vocabulary, encoded = _read(text, max_words, min_count)
    estimated = _estimate(encoded, vocabulary, order)
    seconds = perf_counter() - started
    click.echo(f"Writing {out}")
    save(out, estimated.table, wanted | _facts(encoded, vocabulary, estimated))
    click.echo(
        f"{out}: {wanted['name']} trained on {wanted['trained_on']}: {encoded.n_tokens:,} tokens "
        f"in {seconds:.1f} s ({encoded.n_tokens / seconds:,.0f} tokens/s)"
    )


def _holds(folder: Path, wanted: dict[str, object]) -> bool:
    try:
        config = read_config(folder)
    except LmError:
        return False
    return wanted.items() <= config.items() and (folder / MODEL).is_file()


def _read(text: Path, max_words: int, min_count: int) -> tuple[Vocabulary, EncodedText]:
    counts = count_words(_shown(text, "Counting words"))
    vocabulary = vocabulary_by_frequency(counts, max_words, min_count)
    encoded = encode(_shown(text, "Reading text"), vocabulary)
    click.echo(
        f"{encoded.n_sentences:,} sentences, {encoded.n_tokens:,} tokens, {len(counts):,} words "
        f"({sum(word not in vocabulary for word in counts):,} of them unknown)"
    )
    return vocabulary, encoded


def _shown(text: Path, task: str) -> Iterator[list[str]]:
    yield from tqdm(read_sentences(text), desc=task, unit=" sentences", disable=None)


def _estimate(encoded: EncodedText, vocabulary: Vocabulary, order: int) -> Estimate:
    levels = []
    for level in count_ngrams(encoded, vocabulary, order):
        levels.append(level)
        click.echo(f"{len(levels)}-grams: {level.keys.size:,}")
    return estimate(levels, vocabulary)


def _facts(encoded: EncodedText, vocabulary: Vocabulary, estimated: Estimate) -> dict[str, object]:
    return {
        "n_sentences": encoded.n_sentences,
        "n_tokens": encoded.n_tokens,
        "vocabulary_size": len(vocabulary),
        "discounts": [asdict(discounts) for discounts in estimated.discounts],
    }
