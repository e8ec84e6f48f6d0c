"""A language model's own choices, and how far somebody's choices are that model's."""

import math
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from analysis.commands.text import text
from lm.commands.train import train
from lm.registry import load_scorer

# A model that chooses by itself takes what it scores higher, but for a slip.
_SLIP = 0.03


def trained(folder: Path, study: str, sentences: int) -> Callable[[list[str]], int]:
    """Train a trigram model on a study's training text; return what it would choose.

    Returns:
        A function from the texts on the screen to the place of the one that it scores highest.
    """
    corpus, model = folder / "text.txt", folder / "model"
    for command, arguments in (
        (text, [study, "--sentences", str(sentences), "--out", str(corpus)]),
        (train, ["--type", "ngram", "--order", "3", "--text", str(corpus), "--out", str(model)]),
    ):
        CliRunner().invoke(command, arguments, catch_exceptions=False)
    scorer = load_scorer(model)

    def choose(texts: list[str]) -> int:
        plain = [shown.rstrip(".").lower() for shown in texts]
        scores = scorer.score([("", sentence) for sentence in plain])
        totals = [float(one.logprobs_nats.sum()) for one in scores]
        return totals.index(max(totals))

    return choose


def fingerprint_nats(
    chose_good: list[bool], model_good: list[bool], people_accuracy: list[float]
) -> float:
    """Return by how much a model's choices explain a session's better than people's do.

    It is conditional on difficulty: what is hard for people, too, says little.

    Args:
        chose_good: Of each trial, whether the good option was chosen.
        model_good: Whether the model chooses it.
        people_accuracy: How often people choose it, 0 to 1.

    Returns:
        The log likelihood ratio in nats, above 0 where the model explains more.
    """
    nats = 0.0
    for chosen, models, accuracy in zip(chose_good, model_good, people_accuracy, strict=True):
        of_model = 1 - _SLIP if chosen == models else _SLIP
        bounded = min(max(accuracy, _SLIP), 1 - _SLIP)
        nats += math.log(of_model) - math.log(bounded if chosen else 1 - bounded)
    return nats
