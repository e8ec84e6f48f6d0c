"""Where a signal begins, and what a likelihood is by its own formula."""

import math
from dataclasses import replace

import pytest

from experiment.integrity.certificate import _is_copied
from experiment.integrity.choices import model_evidence_nats, people_loglik_nats
from experiment.integrity.observed import ObservedAnswer, log_times, n_too_early
from tests.experiment.integrity.sessions import observed


def test_times_far_off_are_drawn_in_to_two_deviations_of_the_median():
    answers = [
        ObservedAnswer(n, 0.0, rt_ms=math.exp(log)) for n, log in enumerate((1, 2, 3, 4, 50))
    ]
    assert log_times(answers) == pytest.approx([1, 2, 3, 4, 3 + 2 * 1.4826])
    slow = [ObservedAnswer(n, 0.0, rt_ms=math.exp(log)) for n, log in enumerate((-9, 2, 3, 4, 5))]
    assert log_times(slow)[0] == pytest.approx(3 - 2 * 1.4826)


def test_times_are_copied_when_more_than_half_of_enough_are():
    session = observed(n=40)
    assert [_is_copied(replace(session, n_copied=n)) for n in (None, 20, 21)] == [None, False, True]
    few = replace(session, answers=session.answers[:24])
    less = replace(session, answers=session.answers[:3])
    assert (
        _is_copied(replace(few, n_copied=24)) is True
        and _is_copied(replace(less, n_copied=3)) is None
    )


def test_a_press_at_the_end_of_the_lock_out_is_not_too_early():
    session = replace(observed([149.0, 148.9, 150.0] * 10, n=30), lockout_ms=150.0)
    assert n_too_early(session) == 10


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_people_and_models_choose_by_the_formulas_of_their_description():
    chose, accuracy, apart = [True, False, True], [0.9, 0.7, 0.5], [2.0, -1.0, 0.0]
    abilities = [step / 4 for step in range(-10, 11)]
    weights = [math.exp(-((ability / 0.8) ** 2) / 2) for ability in abilities]
    reading = 0.0
    for ability, weight in zip(abilities, weights, strict=True):
        product = weight / sum(weights)
        for chosen, p in zip(chose, accuracy, strict=True):
            good = logistic(math.log(p / (1 - p)) + ability)
            product *= good if chosen else 1 - good
        reading += product
    people = math.log(0.95 * reading + 0.05 * 0.5**3)
    assert people_loglik_nats(chose, accuracy) == pytest.approx(people)
    ways = []
    for scale in (0.25, 0.5, 1.0, 2.0, 4.0, 40.0):
        product = 1.0
        for chosen, nats in zip(chose, apart, strict=True):
            good = 0.03 + 0.94 * logistic(min(40.0, scale * abs(nats)) * (1 if nats > 0 else -1))
            product *= (good if nats else 0.5) if chosen else 1 - (good if nats else 0.5)
        ways.append(product)
    model = math.log(sum(ways) / 6)
    assert model_evidence_nats(chose, accuracy, apart) == pytest.approx(model - people)
    extreme = people_loglik_nats([True], [1.0]), people_loglik_nats([True], [0.99])
    assert extreme[0] == extreme[1]
