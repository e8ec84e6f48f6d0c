"""Training of n-gram models from the shell's options."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lm.corpora.text import EncodedText
from lm.corpora.vocab import Vocabulary, vocabulary_by_frequency
from lm.errors import LmError
from lm.ngram import model
from lm.ngram.counts import CountedLevel, count_ngrams
from lm.ngram.estimate import estimate

FILES = model.FILES
_DEFAULT_ORDER = 5
LMPLZ = "lmplz"


def chosen_settings(name: str, options: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that determine the model besides its text, as config.json stores them.

    Raises:
        LmError: An option is invalid.
    """
    order = _order(options)
    settings: dict[str, object] = {"name": name or f"{order}-gram", "order": order}
    if prune := _prune_thresholds(options):
        settings["prune"] = prune
    if counts_all_words(options):
        settings["unknown"] = LMPLZ
    return settings


def counts_all_words(options: Mapping[str, object]) -> bool:
    """Return whether unknown words are counted as words of their own first, then removed."""
    return options.get("unknown") == LMPLZ


def train(
    text: EncodedText,
    vocabulary: Vocabulary,
    options: Mapping[str, object],
    limits: tuple[int, int],
    report: Callable[[str], object],
) -> tuple[dict[str, object], Callable[[Path, Mapping[str, object]], None]]:
    """Count and estimate a model.

    Args:
        text: The training text.
        vocabulary: Its words.
        options: The options of the command.
        limits: The largest number of known words, and their least count.
        report: Shows a line of progress.

    Returns:
        Facts for config.json, and a function that writes the model with its config to a folder.
    """
    levels = []
    for level in count_ngrams(text, vocabulary, _order(options)):
        levels.append(level)
        report(f"{len(levels)}-grams: {level.keys.size:,}")
    known_words = _known_words(levels[0], vocabulary, limits) if counts_all_words(options) else None
    estimated = estimate(levels, vocabulary, _prune_thresholds(options), known_words)
    facts: dict[str, object] = {
        # All words except <s>.
        "vocabulary_size": len(estimated.table.words) - 1,
        "discounts": [asdict(discounts) for discounts in estimated.discounts],
    }
    return facts, lambda folder, config: model.save(folder, estimated.table, config)


def _order(options: Mapping[str, object]) -> int:
    order = options.get("order")
    return order if isinstance(order, int) else _DEFAULT_ORDER


def _prune_thresholds(options: Mapping[str, object]) -> list[int]:
    """Return the pruning thresholds by order; empty: no pruning."""
    words = str(options.get("prune") or "").split()
    if not all(word.isdecimal() for word in words):
        raise LmError(
            f'n-grams cannot be pruned by "{" ".join(words)}". Expected whole numbers from '
            "unigrams up, for example `--prune '0 0 1'`."
        )
    return [int(word) for word in words]


def _known_words(
    unigrams: CountedLevel, vocabulary: Vocabulary, limits: tuple[int, int]
) -> NDArray[np.bool_]:
    """Return which of a text's words are in the requested vocabulary, bool."""
    occurring = dict(zip(vocabulary.words, unigrams.counts.tolist(), strict=True))
    words = set(vocabulary_by_frequency(occurring, *limits).words)
    return np.array([word in words for word in vocabulary.words])
