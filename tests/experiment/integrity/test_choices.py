"""Choices beside those of others and of a model: what is hard for people is hard for a person."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.integrity.choices import model_evidence_nats, people_loglik_nats

N_ITEMS = 60
_items = random.Random("items")
ACCURACY = [1 / (1 + math.exp(-_items.gauss(1.5, 1.2))) for _ in range(N_ITEMS)]


def test_a_models_own_choices_are_known_by_its_scores_and_peoples_are_not():
    rng = random.Random(5)
    differences = [rng.gauss(1, 2) for _ in range(N_ITEMS)]

    def nats(chosen: list[bool]) -> float:
        return model_evidence_nats(chosen, ACCURACY, differences)

    assert max(nats([rng.random() < one for one in ACCURACY]) for _ in range(30)) < 0
    assert nats([one > 0 for one in differences]) > 5


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=12))
def test_the_likelihood_of_a_persons_choices_is_a_probability(trials):
    chose, accuracy = zip(*trials, strict=True)
    assert people_loglik_nats(chose, accuracy) <= 0
    both = math.exp(people_loglik_nats(chose[:1], accuracy[:1]))
    other = math.exp(people_loglik_nats([not chose[0]], accuracy[:1]))
    assert both + other == pytest.approx(1)


def test_hundreds_of_answers_are_likeliest_of_who_does_not_read():
    # Whoever reads answers so at most with 0.11 a trial; who does not, with one half.
    careless = math.log(0.05) + 300 * math.log(0.5)
    assert people_loglik_nats([False] * 300, [0.99] * 300) == pytest.approx(careless)
