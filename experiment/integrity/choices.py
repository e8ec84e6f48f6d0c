"""A comparison of a session's choices, item by item, with a model's and with people's."""

import math
from collections.abc import Sequence

# The assumed spread of people's ability (logits), and the share who choose without reading.
_ABILITY_SD = 0.8
_CARELESS_SHARE = 0.05
_ABILITIES = tuple(step / 4 for step in range(-10, 11))
_SLIP_SHARE = 0.03
# Scales (logits per nat) for a model that chooses by chance in proportion to its scores.
_SLOPES = (0.25, 0.5, 1.0, 2.0, 4.0, math.inf)


def people_loglik_nats(chose_good: Sequence[bool], accuracy: Sequence[float]) -> float:
    """Return the log-likelihood of the choices under a model of people.

    The model has an unknown ability (normal, in logits around the others') and a few who do not
    read.

    Args:
        chose_good: For each trial, whether the expected option was chosen.
        accuracy: For each trial, how often others choose it, 0 to 1.
    """
    logits = [math.log(p / (1 - p)) for p in (min(max(p, 0.01), 0.99) for p in accuracy)]
    weights = [math.exp(-((ability / _ABILITY_SD) ** 2) / 2) for ability in _ABILITIES]
    total = sum(weights)
    able = [
        math.log((1 - _CARELESS_SHARE) * weight / total)
        + _compute_negative_loglik(chose_good, logits, ability)
        for ability, weight in zip(_ABILITIES, weights, strict=True)
    ]
    return _log_sum([*able, math.log(_CARELESS_SHARE) + len(chose_good) * math.log(0.5)])


def _compute_negative_loglik(
    chose_good: Sequence[bool], logits: Sequence[float], shift: float
) -> float:
    return -sum(
        math.log1p(math.exp(-(logit + shift) if chosen else logit + shift))
        for chosen, logit in zip(chose_good, logits, strict=True)
    )


def _log_sum(terms: Sequence[float]) -> float:
    greatest_term = max(terms)
    return greatest_term + math.log(sum(math.exp(term - greatest_term) for term in terms))


def model_evidence_nats(
    chose_good: Sequence[bool], accuracy: Sequence[float], difference: Sequence[float]
) -> float:
    """Return how much better a language model explains the choices than a person does, in nats.

    The comparison accounts for difficulty: errors on items that people also find hard count little.

    Args:
        chose_good: For each trial, whether the expected option was chosen.
        accuracy: For each trial, how often others choose it, 0 to 1.
        difference: The model's score of the expected option minus that of the other, in nats.

    Returns:
        The nats. The model may choose the higher score except for slips, or choose by chance with
        odds that grow with the difference; all these ways have equal weight.
    """
    ways = [_compute_likelihood_by_scale(chose_good, difference, scale) for scale in _SLOPES]
    return _log_sum(ways) - math.log(len(ways)) - people_loglik_nats(chose_good, accuracy)


def _compute_likelihood_by_scale(
    chose_good: Sequence[bool], difference: Sequence[float], scale: float
) -> float:
    nats = 0.0
    for chosen, nats_apart in zip(chose_good, difference, strict=True):
        logit = 0.0 if nats_apart == 0 else max(-40.0, min(40.0, scale * nats_apart))
        good = _SLIP_SHARE + (1 - 2 * _SLIP_SHARE) / (1 + math.exp(-logit))
        nats += math.log(good if chosen else 1 - good)
    return nats
