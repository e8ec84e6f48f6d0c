"""Choices and times, item by item, against what others did with the same items.

Everything is in nats, above 0 where a program explains a session better than a person does.
"""

import math
from collections.abc import Sequence

from experiment.integrity.norms import Norms, time_residuals
from experiment.integrity.observed import ObservedSession

# A session with fewer choices, or of items of which less is known, is not judged by them.
_FEWEST = 24
# People differ in ability by so much (logits), and one in twenty chooses without reading.
_ABILITY_SD = 0.8
_CARELESS = 0.05
_ABILITIES = tuple(step / 4 for step in range(-10, 11))
# A program's choices: at random, or right as often whatever is hard for people.
_AT_RANDOM = 0.5
_RATES = (0.55, 0.65, 0.75, 0.85, 0.90, 0.95, 0.98, 0.995)
# By how much a person's times follow others', in units of what is expected: mean and deviation.
_FOLLOWS = (1.0, 0.5)
_SLIP = 0.03
# The scales (logits a nat) tried for a model that chooses by chance, weighted by its scores.
_SCALES = (0.25, 0.5, 1.0, 2.0, 4.0, math.inf)


def people_nats(chose_good: Sequence[bool], accuracy: Sequence[float]) -> float:
    """Return the log-likelihood of choices as a person's.

    Their ability is unknown (normal, in logits around what others do), and a few do not read.

    Args:
        chose_good: Of each trial, whether the expected option was chosen.
        accuracy: How often others choose it, 0 to 1.
    """
    logits = [math.log(p / (1 - p)) for p in (min(max(p, 0.01), 0.99) for p in accuracy)]
    weights = [math.exp(-((ability / _ABILITY_SD) ** 2) / 2) for ability in _ABILITIES]
    total = sum(weights)
    able = [
        math.log((1 - _CARELESS) * weight / total) + _bernoulli(chose_good, logits, ability)
        for ability, weight in zip(_ABILITIES, weights, strict=True)
    ]
    return _log_sum([*able, math.log(_CARELESS) + len(chose_good) * math.log(0.5)])


def _bernoulli(chose_good: Sequence[bool], logits: Sequence[float], more: float) -> float:
    return -sum(
        math.log1p(math.exp(-(logit + more) if chosen else logit + more))
        for chosen, logit in zip(chose_good, logits, strict=True)
    )


def _log_sum(terms: Sequence[float]) -> float:
    most = max(terms)
    return most + math.log(sum(math.exp(term - most) for term in terms))


def blind_nats(chose_good: Sequence[bool]) -> float:
    """Return the log-likelihood of choices as a program's to which no item is harder.

    Half of these programs choose at random, the others are right at some rate.
    """
    n, n_good = len(chose_good), sum(chose_good)
    terms = [math.log(0.5) + n * math.log(_AT_RANDOM)]
    for rate in _RATES:
        nats = n_good * math.log(rate) + (n - n_good) * math.log(1 - rate)
        terms.append(math.log(0.5 / len(_RATES)) + nats)
    return _log_sum(terms)


def blindness(session: ObservedSession, norms: Norms) -> float | None:
    """Return by how much choices that no item's difficulty touches explain a session better.

    Args:
        session: The session.
        norms: What everybody else did.

    Returns:
        The nats; None where too little is known.
    """
    known = [
        (answer.chose_good, norms.accuracy(answer))
        for answer in session.answers
        if answer.chose_good is not None and norms.n_chosen(answer) >= _FEWEST
    ]
    if len(known) < _FEWEST:
        return None
    chose_good, accuracy = zip(*known, strict=True)
    return blind_nats(chose_good) - people_nats(chose_good, accuracy)


def detachment(session: ObservedSession, norms: Norms) -> float | None:
    """Return by how much times that owe nothing to the items explain a session better.

    A person's times follow those of others on the same items, beyond the length of the texts, by
    some factor around 1; a program's that does not read, by the factor 0. Where little is known of
    the items, both say the same.
    """
    times = time_residuals(session)
    pairs = [(norms.time(a), times[a.position]) for a in session.answers if a.position in times]
    if len(pairs) < _FEWEST:
        return None
    mean, deviation = _FOLLOWS
    squares = sum(expected**2 for expected, _ in pairs)
    products = sum(expected * time for expected, time in pairs)
    precision = 1 / deviation**2
    follows = (mean * precision + products) ** 2 / (precision + squares) - mean**2 * precision
    return (math.log1p(squares / precision) - follows) / 2


def model_nats(
    chose_good: Sequence[bool], accuracy: Sequence[float], difference: Sequence[float]
) -> float:
    """Return by how much a model's choices explain a session better than a person's do.

    It is conditional on difficulty: what is hard for people, too, says little.

    Args:
        chose_good: Of each trial, whether the expected option was chosen.
        accuracy: How often others choose it, 0 to 1.
        difference: The model's score of the expected option less that of the other, in nats.

    Returns:
        The nats. The model may choose what it scores higher but for a slip, or by chance with odds
        that grow with the difference; each way counts alike.
    """
    ways = [_by_scale(chose_good, difference, scale) for scale in _SCALES]
    return _log_sum(ways) - math.log(len(ways)) - people_nats(chose_good, accuracy)


def _by_scale(chose_good: Sequence[bool], difference: Sequence[float], scale: float) -> float:
    nats = 0.0
    for chosen, nats_apart in zip(chose_good, difference, strict=True):
        logit = 0.0 if nats_apart == 0 else max(-40.0, min(40.0, scale * nats_apart))
        good = _SLIP + (1 - 2 * _SLIP) / (1 + math.exp(-logit))
        nats += math.log(good if chosen else 1 - good)
    return nats
