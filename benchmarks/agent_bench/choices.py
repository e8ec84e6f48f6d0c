"""A language model's own choices, and those of a program that is nearly always right."""

import random
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from analysis.commands.text import text
from lm.commands.train import train
from lm.registry import load_scorer

# How often a program that knows what is expected chooses the other option.
_SLIP = 0.02

Scores = Callable[[list[str]], list[float]]
Chooser = Callable[[list[str]], int]


def trained(folder: Path, study: str, sentences: int) -> Scores:
    """Train a trigram model on a study's training text; return how it scores texts.

    Returns:
        A function from texts as the screen shows them to their log-probabilities in nats.
    """
    corpus, model = folder / "text.txt", folder / "model"
    for command, arguments in (
        (text, [study, "--sentences", str(sentences), "--out", str(corpus)]),
        (train, ["--type", "ngram", "--order", "3", "--text", str(corpus), "--out", str(model)]),
    ):
        CliRunner().invoke(command, arguments, catch_exceptions=False)
    scorer = load_scorer(model)

    def scores(texts: list[str]) -> list[float]:
        found = scorer.score([("", _plain(shown)) for shown in texts])
        return [float(one.logprobs_nats.sum()) for one in found]

    return scores


def highest(scores: Scores) -> Chooser:
    """Return a function that gives the place of the text that a model scores highest."""

    def choose(texts: list[str]) -> int:
        found = scores(texts)
        return found.index(max(found))

    return choose


def expected(good: set[str], rng: random.Random) -> Chooser:
    """Return a function that gives the place of the expected text, but for a slip.

    Args:
        good: The expected texts.
        rng: What slips are drawn from.
    """
    plain = set(map(_plain, good))

    def choose(texts: list[str]) -> int:
        place = next(n for n, shown in enumerate(texts) if _plain(shown) in plain)
        return (place + (rng.random() < _SLIP)) % len(texts)

    return choose


def _plain(shown: str) -> str:
    return shown.rstrip(".").lower()
