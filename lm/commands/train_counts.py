"""Training of models that only count: n-grams and unigrams."""

import importlib
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import click
from tqdm import tqdm

from lm.commands.train import TrainRequest
from lm.corpora.text import EncodedText, read_encoded, text_sha256
from lm.corpora.vocab import SPECIAL_WORDS, Vocabulary, vocabulary_by_frequency
from lm.errors import LmError
from lm.model_folder import DISTRIBUTION, read_config, refuse_overwrite
from lm.text.generated import describe_text

# What each kind of model answers for itself: FILES, chosen_settings, counts_all_words and train.
_KINDS = {"ngram": "lm.ngram.train", "unigram": "lm.baselines.unigram"}


def train_count_model(request: TrainRequest) -> None:
    """Train an n-gram or unigram model, unless its folder already holds it."""
    kind = importlib.import_module(_KINDS[request.type])
    text = request.data / "train.txt" if request.data.is_dir() else request.data
    settings = _collect_settings(kind, request, text)
    refuse_overwrite(request.out, kind.FILES)
    if _holds_model(request.out, kind.FILES, settings):
        click.echo(f"{request.out}: already trained on {settings['trained_on']}")
        return
    started = perf_counter()
    vocabulary, encoded = _read_text(text, request, kind.counts_all_words(request.options))
    facts, save = kind.train(
        encoded, vocabulary, request.options, (request.max_words, request.min_count), click.echo
    )
    seconds = perf_counter() - started
    click.echo(f"Writing {request.out}")
    counts = {
        "n_sentences": encoded.n_sentences,
        "n_tokens": encoded.n_tokens,
        "vocabulary_size": len(vocabulary),
    }
    save(request.out, settings | counts | facts)
    click.echo(
        f"{request.out}: {settings['name']} trained on {settings['trained_on']}: "
        f"{encoded.n_tokens:,} tokens in {seconds:.1f} s "
        f"({encoded.n_tokens / seconds:,.0f} tokens/s)"
    )


def _collect_settings(kind: Any, request: TrainRequest, text: Path) -> dict[str, object]:  # noqa: ANN401
    """Return the settings that determine the model, as stored in its config.json."""
    sha256 = text_sha256(text)
    settings: dict[str, object] = {
        "type": request.type,
        "trained_on": describe_text(text, sha256),
        "max_words": request.max_words,
        "min_count": request.min_count,
        "text_sha256": sha256,
        "code_version": version(DISTRIBUTION),
    }
    settings.update(kind.chosen_settings(request.name, request.options))
    return settings


def _holds_model(folder: Path, files: tuple[str, ...], settings: dict[str, object]) -> bool:
    try:
        config = read_config(folder)
    except LmError:
        return False
    return settings.items() <= config.items() and all((folder / file).is_file() for file in files)


def _read_text(
    text: Path, request: TrainRequest, all_words: bool
) -> tuple[Vocabulary, EncodedText]:
    # With all_words, words outside the vocabulary are counted before they are removed.
    choose = partial(
        vocabulary_by_frequency,
        max_words=sys.maxsize if all_words else request.max_words,
        min_count=1 if all_words else request.min_count,
    )
    n_bytes = text.stat().st_size if text.is_file() else None
    with tqdm(desc="Reading text", total=n_bytes, unit="B", unit_scale=True, disable=None) as bar:
        vocabulary, encoded, n_words = read_encoded(text, choose, bar.update)
    n_known = len(vocabulary.words) - len(SPECIAL_WORDS)
    click.echo(
        f"{encoded.n_sentences:,} sentences, {encoded.n_tokens:,} tokens, {n_words:,} words "
        f"({n_words - n_known:,} of them unknown)"
    )
    return vocabulary, encoded
