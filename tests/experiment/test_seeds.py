"""Named randomness."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.seeds import derive_seed, generator

keys = st.lists(st.one_of(st.text(), st.integers()), max_size=3)


@given(st.integers(), st.text(), keys)
def test_the_same_name_draws_the_same_numbers(seed: int, purpose: str, key: list[str | int]):
    one, other = generator(seed, purpose, *key), generator(seed, purpose, *key)
    assert [one.random() for _ in range(3)] == [other.random() for _ in range(3)]


@given(st.integers(), st.text(), keys)
def test_a_seed_has_64_bits(seed: int, purpose: str, key: list[str | int]):
    assert 0 <= derive_seed(seed, purpose, *key) < 2**64


def test_seed_purpose_and_key_each_make_another_stream():
    names = [
        (1, "order"),
        (2, "order"),
        (1, "sides"),
        (1, "order", 1),
        (1, "order", 2),
        (1, "order", 1, 2),
        (1, "order", 12),
    ]
    assert len({generator(*name).random() for name in names}) == len(names)


def test_a_seed_stays_what_it_was():
    # Runs are rebuilt from their seed: another derivation would give them other lists.
    assert derive_seed(1, "order", 3) == 10_295_226_642_854_512_302


# Python copies up to 21 elements, and more for samples of 6 and more: 21 + 64 from 6 to 21.
@pytest.mark.parametrize(
    ("n", "k"), [(1, 1), (7, 7), (21, 2), (22, 2), (22, 0), (85, 6), (86, 6), (86, 86), (300, 7)]
)
def test_a_sample_is_the_one_that_python_draws(n: int, k: int):
    population = [f"element {number}" for number in range(n)]
    for key in range(20):
        rng, pythons = generator(1, "sample", key), Random(derive_seed(1, "sample", key))
        assert rng.sample(population, k) == pythons.sample(population, k)
        assert rng.random() == pythons.random()
