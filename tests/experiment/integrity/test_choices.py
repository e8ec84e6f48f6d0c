"""Choices and times among those of others: what is hard for people is hard for a person."""

import math
import random
from dataclasses import replace
from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.integrity.certificate import certify
from experiment.integrity.choices import blindness, detachment, model_nats, people_nats
from experiment.integrity.norms import Norms
from experiment.integrity.observed import ObservedAnswer, ObservedSession

N_ITEMS, N_TRIALS = 60, 60
_items = random.Random("items")
LOGITS = [_items.gauss(1.5, 1.2) for _ in range(N_ITEMS)]
SLOWNESS = [_items.gauss(0, 0.2) for _ in range(N_ITEMS)]


def session(seed: int, *, chooses: str = "as people", reads: bool = True) -> ObservedSession:
    """Somebody to whom the sixty items are shown in an order of their own."""
    rng = random.Random(seed)
    order = rng.sample(range(N_ITEMS), N_TRIALS)
    chance = {
        "as people": lambda item: 1 / (1 + math.exp(-LOGITS[item])),
        "at random": lambda _: 0.5,
        "always right": lambda _: 1.0,
    }[chooses]
    return ObservedSession(
        tuple(
            ObservedAnswer(
                position=place,
                arrived_ms=3000.0 * place,
                rt_ms=1500 * math.exp(SLOWNESS[item] * reads + rng.gauss(0, 0.3)),
                n_characters=rng.randint(50, 90),
                item=f"item {item}",
                kind=f"kind {item % 5}",
                chose_good=rng.random() < chance(item),
            )
            for place, item in enumerate(order, 1)
        )
    )


CROWD = [session(seed) for seed in range(60)]
NORMS = Norms.from_sessions(CROWD)


@pytest.mark.parametrize("chooses", ["at random", "always right"])
def test_choices_that_no_difficulty_touches_speak_for_a_program(chooses):
    people = [blindness(session(100 + n), NORMS) for n in range(30)]
    programs = [blindness(session(200 + n, chooses=chooses), NORMS) for n in range(30)]
    assert fmean(nats > 0 for nats in people) < 0.15
    assert fmean(nats > 1 for nats in programs) > 0.9


def test_who_answers_without_reading_is_a_person_as_often_as_one_in_twenty():
    found = [blindness(session(n, chooses="at random"), NORMS) for n in range(30)]
    assert median(found) <= math.log(20)


def test_times_that_owe_nothing_to_the_items_speak_for_a_program():
    people = [detachment(session(100 + n), NORMS) for n in range(40)]
    programs = [detachment(session(100 + n, reads=False), NORMS) for n in range(40)]
    assert fmean(people) < -1 < 0.5 < fmean(programs)


def test_norms_of_everybody_else_are_those_of_a_run_without_the_session():
    one, *others = CROWD
    without, alone = NORMS.without(one), Norms.from_sessions(others)
    for answer in one.answers:
        assert without.accuracy(answer) == pytest.approx(alone.accuracy(answer))
        assert without.time(answer) == pytest.approx(alone.time(answer))
        assert without.n_chosen(answer) == alone.n_chosen(answer)


def test_a_session_is_not_judged_by_itself_nor_by_too_few():
    one = session(1, chooses="at random")
    alone = Norms.from_sessions([one]).without(one)
    assert blindness(one, alone) is None
    assert detachment(one, alone) == pytest.approx(0)
    few = replace(one, answers=one.answers[:20])
    assert blindness(few, NORMS) is None
    assert detachment(few, NORMS) is None
    assert certify(one).counting == (), "of what nobody knows how it was pressed"


def test_unknown_items_are_as_hard_as_their_kind_and_that_as_the_run():
    known = ObservedAnswer(1, 0.0, item="new", kind="kind 0")
    of_kind = [a.chose_good for s in CROWD for a in s.answers if a.kind == "kind 0"]
    assert NORMS.accuracy(known) == pytest.approx(fmean(of_kind), abs=0.01)
    of_all = [a.chose_good for s in CROWD for a in s.answers]
    assert NORMS.accuracy(replace(known, kind="new")) == pytest.approx(fmean(of_all), abs=0.01)
    assert Norms().accuracy(known) == 0.5


def test_a_models_own_choices_are_known_by_its_scores_and_peoples_are_not():
    rng = random.Random(5)
    differences = [rng.gauss(1, 2) for _ in range(N_ITEMS)]

    def nats(one: ObservedSession, chosen: list[bool] | None = None) -> float:
        items = [int(answer.item.split()[1]) for answer in one.answers]
        by_model = [differences[item] > 0 for item in items]
        given_ = [answer.chose_good for answer in one.answers] if chosen is None else by_model
        accuracy = [NORMS.accuracy(answer) for answer in one.answers]
        return model_nats(given_, accuracy, [differences[item] for item in items])

    assert max(nats(session(100 + n)) for n in range(30)) < 0
    assert min(nats(session(100 + n), chosen=[]) for n in range(30)) > 5


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=12))
def test_the_likelihood_of_a_persons_choices_is_a_probability(trials):
    chose, accuracy = zip(*trials, strict=True)
    assert people_nats(chose, accuracy) <= 0
    both = math.exp(people_nats(chose[:1], accuracy[:1]))
    other = math.exp(people_nats([not chose[0]], accuracy[:1]))
    assert both + other == pytest.approx(1)
