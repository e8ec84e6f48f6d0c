"""The order of a session's trials."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.design.ordering import order
from experiment.errors import DesignError

keys_of_trials = st.lists(st.sampled_from("abcdef"), max_size=60)
keys_with_a_and_b = keys_of_trials.map(lambda keys: ["a", *keys, "b"])
seeds = st.integers(0, 2**32)


def without_surplus(keys: list[str]) -> list[str]:
    """Return the keys less those of the commonest that no order could keep apart."""
    for key, n in Counter(keys).most_common(1):
        surplus = max(0, n - (len(keys) - n + 1))
        kept = [other for other in keys if other != key]
        return [*kept, *[key] * (n - surplus)]
    return keys


def is_spread(session: list[str], key: str) -> bool:
    at = [position for position, other in enumerate(session) if other == key]
    starts = [stretch * len(session) // len(at) for stretch in range(len(at) + 1)]
    return all(a <= p < b for p, (a, b) in zip(at, pairwise(starts), strict=True))


@given(keys_of_trials, seeds)
def test_every_trial_comes_once(keys: list[str], seed: int):
    indices = order(keys, random.Random(seed), apart=False)
    assert sorted(indices) == list(range(len(keys)))


@given(keys_of_trials.map(without_surplus), seeds)
def test_neighbours_are_kept_apart_whenever_that_is_possible(keys: list[str], seed: int):
    indices = order(keys, random.Random(seed))
    assert sorted(indices) == list(range(len(keys)))
    assert all(keys[a] != keys[b] for a, b in pairwise(indices))


@given(keys_with_a_and_b, seeds)
def test_one_of_each_stretch_is_a_spread_trial(keys: list[str], seed: int):
    session = [keys[i] for i in order(keys, random.Random(seed), apart=False, spread={"a"})]
    assert is_spread(session, "a")


@given(keys_with_a_and_b, seeds)
def test_apart_and_spread_hold_together_or_the_order_is_refused(keys: list[str], seed: int):
    try:
        indices = order(keys, random.Random(seed), spread={"a", "b"})
    except DesignError:
        return
    session = [keys[index] for index in indices]
    assert is_spread(session, "a")
    assert is_spread(session, "b")
    assert all(a != b for a, b in pairwise(session))


@given(st.lists(st.integers(2, 4), min_size=6, max_size=12), st.data(), seeds)
def test_spread_trials_beside_ordinary_constructions_always_find_an_order(
    others: list[int], data: st.DataObject, seed: int
):
    n_catch = data.draw(st.integers(1, sum(others) // 3))
    keys = ["catch"] * n_catch + [str(key) for key, n in enumerate(others) for _ in range(n)]
    session = [keys[index] for index in order(keys, random.Random(seed), spread={"catch"})]
    assert is_spread(session, "catch")
    assert all(a != b for a, b in pairwise(session))


def test_every_possible_order_is_drawn():
    drawn = {tuple(order("aabb", random.Random(seed))) for seed in range(200)}
    assert len(drawn) == 8


def test_an_order_that_is_impossible_names_the_construction():
    with pytest.raises(DesignError, match='"simple" has too many trials, 4 of a session\'s 6'):
        order(["simple"] * 4 + ["other"] * 2, random.Random(1))


@pytest.mark.parametrize("seed", range(20))
def test_a_tight_order_is_found(seed: int):
    keys = "aaaabbc"
    session = [keys[index] for index in order(keys, random.Random(seed), spread={"b", "c"})]
    assert session[::2] == ["a"] * 4
    assert is_spread(session, "b")
