"""Scores checked in each run: a sample of them is computed again in the plainest way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.errors import AnalysisError
from analysis.scores.certify import token_errors
from analysis.scores.materials import Chunk, Floats, Ints, Sentences

N_RANDOM, N_LONGEST = 48, 8
# Of a long sentence, tokens spread evenly over it.
_TOKENS_PER_SENTENCE = 32
WORST_NATS = 1e-3

Reference = Callable[[list[str], list[list[int]]], Sequence[Floats] | None]


@dataclass(frozen=True, slots=True)
class Check:
    """How far a run's scores are from plain ones, on some of its sentences.

    Attributes:
        worst_nats: The largest difference of a token's log-probability.
        n_sentences: How many sentences were scored again.
        bounded: Whether the scores are a fast pass's, whose own error bounds are taken off.
    """

    worst_nats: float
    n_sentences: int
    bounded: bool

    def __str__(self) -> str:
        return (
            f"{self.n_sentences:,} sentences, drawn at random or among the longest, were scored "
            f"again without any shortcut; their tokens differ by {self.worst_nats:.2g} nats at most"
            f"{' beyond the bounds of the fast pass' if self.bounded else ''}"
        )


def joined(checks: Sequence[Check]) -> str:
    """Return in words what several checks of one run found; empty if there were none."""
    if not checks:
        return ""
    worst = max(check.worst_nats for check in checks)
    return str(Check(worst, sum(check.n_sentences for check in checks), checks[0].bounded))


def check_scores(
    wanted: Sentences, scored: Sequence[Chunk], reference: Reference, rng: np.random.Generator
) -> Check | None:
    """Compare a run's scores with plain ones, on a random sample and on the longest sentences.

    Args:
        wanted: The sentences.
        scored: Their scores.
        reference: Gives plain log-probabilities of the tokens at some places of some sentences;
            None where the model has one way to compute only.
        rng: What draws the sample.

    Returns:
        What was found; None where there is nothing to compare.

    Raises:
        AnalysisError: A token is further off than ``WORST_NATS`` and its own error bound.
    """
    found = _Scored(len(wanted.distinct), scored)
    chosen = _chosen(found.lengths, rng)
    tokens = [_spread(int(found.lengths[place])) for place in chosen]
    plain = reference([wanted.distinct[place] for place in chosen], tokens)
    if plain is None:
        return None
    worst = 0.0
    for place, own, expected in zip(chosen, tokens, plain, strict=True):
        logprobs, errors = found.of(place)
        difference = float(np.max(np.abs(logprobs[own] - expected) - errors[own], initial=0.0))
        _refuse_wrong(difference, wanted.distinct[place])
        worst = max(worst, difference)
    return Check(worst, len(chosen), found.bounded)


class _Scored:
    """The scores of all sentences, found by the sentence's place.

    Attributes:
        lengths: int64, shape ``(sentences,)``: how many tokens each has.
        bounded: Whether the scores come with bounds of their errors.
    """

    def __init__(self, n: int, scored: Sequence[Chunk]) -> None:
        self.lengths, self._starts = np.zeros(n, np.int64), np.zeros(n, np.int64)
        logprobs, errors, before = [np.empty(0)], [np.empty(0)], 0
        for places, answers in scored:
            column = answers["logprobs_nats"].combine_chunks()
            own = np.asarray(column.value_lengths(), np.int64)
            self.lengths[places] = own
            self._starts[places] = before + np.cumsum(own) - own
            logprobs.append(column.flatten().to_numpy())
            errors.append(token_errors(answers))
            before += len(logprobs[-1])
        self._logprobs, self._errors = np.concatenate(logprobs), np.concatenate(errors)
        self.bounded = bool(self._errors.any())

    def of(self, place: int) -> tuple[Floats, Floats]:
        """Return the log-probabilities of a sentence's tokens and their error bounds."""
        part = slice(self._starts[place], self._starts[place] + self.lengths[place])
        return self._logprobs[part], self._errors[part]


def _chosen(lengths: Ints, rng: np.random.Generator) -> list[int]:
    random = rng.choice(len(lengths), min(N_RANDOM, len(lengths)), replace=False)
    longest = np.argsort(-lengths, kind="stable")[:N_LONGEST]
    found: list[int] = np.unique(np.concatenate([random, longest])).tolist()
    return found


def _spread(n_tokens: int) -> list[int]:
    places = np.linspace(0, max(n_tokens - 1, 0), min(n_tokens, _TOKENS_PER_SENTENCE))
    found: list[int] = np.unique(places.astype(np.int64)).tolist()
    return found


def _refuse_wrong(difference: float, sentence: str) -> None:
    # Written so that a difference that is no number is refused as well.
    if not difference <= WORST_NATS:
        raise AnalysisError(
            f"a token's score is {difference:.2g} nats off the one that the model gives without "
            "any shortcut",
            where=f'the sentence "{sentence[:80]}"',
            expected=f"{WORST_NATS:g} nats at most",
            remedy="Score with `--plain`, text by text, and report the model's type",
        )
