"""Training of models that only count: n-grams and unigrams."""

import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import click
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from lm.baselines import unigram
from lm.commands.train import TrainRequest
from lm.corpora.text import EncodedText, read_encoded, text_sha256
from lm.corpora.vocab import SPECIAL_WORDS, Vocabulary, vocabulary_by_frequency
from lm.errors import LmError
from lm.model_folder import DISTRIBUTION, read_config, refuse_overwrite
from lm.ngram import model as ngram
from lm.ngram.counts import CountedLevel, count_ngrams
from lm.ngram.estimate import Estimate, estimate
from lm.text.generated import describe_text

_DEFAULT_ORDER = 5
SRILM, LMPLZ = "srilm", "lmplz"
_FILES = {"ngram": ngram.FILES, "unigram": unigram.FILES}


def train_count_model(request: TrainRequest) -> None:
    """Train an n-gram or unigram model, unless its folder already holds it."""
    text = request.data / "train.txt" if request.data.is_dir() else request.data
    wanted = _wanted(request, text)
    files = _FILES[request.type]
    refuse_overwrite(request.out, files)
    if _holds(request.out, files, wanted):
        click.echo(f"{request.out}: already trained on {wanted['trained_on']}")
        return
    started = perf_counter()
    vocabulary, encoded = _read(text, request)
    facts: dict[str, object] = {
        "n_sentences": encoded.n_sentences,
        "n_tokens": encoded.n_tokens,
        "vocabulary_size": len(vocabulary),
    }
    save = _count(request, vocabulary, encoded, wanted | facts)
    seconds = perf_counter() - started
    click.echo(f"Writing {request.out}")
    save()
    click.echo(
        f"{request.out}: {wanted['name']} trained on {wanted['trained_on']}: "
        f"{encoded.n_tokens:,} tokens in {seconds:.1f} s "
        f"({encoded.n_tokens / seconds:,.0f} tokens/s)"
    )


def _wanted(request: TrainRequest, text: Path) -> dict[str, object]:
    """Return the settings that determine the model, as stored in its config.json."""
    sha256 = text_sha256(text)
    own: dict[str, object] = {"name": request.name or "unigram"}
    if request.type == "ngram":
        order = _order(request)
        own = {"name": request.name or f"{order}-gram", "order": order}
        if prune := _prune(request):
            own["prune"] = prune
        if _is_limited(request):
            own["unknown"] = LMPLZ
    return {
        "type": request.type,
        "trained_on": describe_text(text, sha256),
        "max_words": request.max_words,
        "min_count": request.min_count,
        "text_sha256": sha256,
        "code_version": version(DISTRIBUTION),
    } | own


def _order(request: TrainRequest) -> int:
    order = request.options.get("order")
    return order if isinstance(order, int) else _DEFAULT_ORDER


def _is_limited(request: TrainRequest) -> bool:
    """Return whether unknown words are counted as words of their own first, then removed."""
    return request.options.get("unknown") == LMPLZ


def _prune(request: TrainRequest) -> list[int]:
    """Return the pruning thresholds by order; empty: no pruning."""
    words = str(request.options.get("prune") or "").split()
    if not all(word.isdecimal() for word in words):
        raise LmError(
            f'n-grams cannot be pruned by "{" ".join(words)}". Expected whole numbers from '
            "unigrams up, for example `--prune '0 0 1'`."
        )
    return [int(word) for word in words]


def _holds(folder: Path, files: tuple[str, ...], wanted: dict[str, object]) -> bool:
    try:
        config = read_config(folder)
    except LmError:
        return False
    return wanted.items() <= config.items() and all((folder / file).is_file() for file in files)


def _read(text: Path, request: TrainRequest) -> tuple[Vocabulary, EncodedText]:
    # In that case, words outside the vocabulary are counted before they are removed.
    limited = _is_limited(request)
    choose = partial(
        vocabulary_by_frequency,
        max_words=sys.maxsize if limited else request.max_words,
        min_count=1 if limited else request.min_count,
    )
    n_bytes = text.stat().st_size if text.is_file() else None
    with tqdm(desc="Reading text", total=n_bytes, unit="B", unit_scale=True, disable=None) as bar:
        vocabulary, encoded, n_words = read_encoded(text, choose, bar.update)
    known = len(vocabulary.words) - len(SPECIAL_WORDS)
    click.echo(
        f"{encoded.n_sentences:,} sentences, {encoded.n_tokens:,} tokens, {n_words:,} words "
        f"({n_words - known:,} of them unknown)"
    )
    return vocabulary, encoded


def _count(
    request: TrainRequest, vocabulary: Vocabulary, text: EncodedText, config: dict[str, object]
) -> Callable[[], None]:
    """Count the model, and return a function that writes it."""
    if request.type == "unigram":
        counts = unigram.count_unigrams(text, vocabulary)
        return lambda: unigram.save(request.out, vocabulary, counts, config)
    estimated = _estimate(text, vocabulary, request)
    facts: dict[str, object] = {
        # All words except <s>.
        "vocabulary_size": len(estimated.table.words) - 1,
        "discounts": [asdict(discounts) for discounts in estimated.discounts],
    }
    return lambda: ngram.save(request.out, estimated.table, config | facts)


def _estimate(encoded: EncodedText, vocabulary: Vocabulary, request: TrainRequest) -> Estimate:
    levels = []
    for level in count_ngrams(encoded, vocabulary, _order(request)):
        levels.append(level)
        click.echo(f"{len(levels)}-grams: {level.keys.size:,}")
    known = _known(levels[0], vocabulary, request) if _is_limited(request) else None
    return estimate(levels, vocabulary, _prune(request), known)


def _known(
    unigrams: CountedLevel, vocabulary: Vocabulary, request: TrainRequest
) -> NDArray[np.bool_]:
    """Return which of a text's words are in the requested vocabulary, bool."""
    occurring = dict(zip(vocabulary.words, unigrams.counts.tolist(), strict=True))
    limited = vocabulary_by_frequency(occurring, request.max_words, request.min_count)
    words = set(limited.words)
    return np.array([word in words for word in vocabulary.words])
