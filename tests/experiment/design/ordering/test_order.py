"""The order of a session's trials."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, permutations
from math import comb, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiment.design.ordering import spreading
from experiment.design.ordering.constraints import (
    Constraint,
    MinDistance,
    RunLimit,
    SessionStart,
    Spread,
    keeps,
    labels,
)
from experiment.design.ordering.order import draw_order, is_counted, position_shares
from experiment.design.ordering.spreading import count_layers
from experiment.errors import DesignError
from experiment.records import Kind, ListEntry
from tests.experiment.design.small_studies import make_items

keys_of_trials = st.lists(st.sampled_from("abcdef"), max_size=60)
keys_with_a_and_b = keys_of_trials.map(lambda keys: ["a", *keys, "b"])
seeds = st.integers(0, 2**32)


def asked(keys: Sequence[str], *, apart: bool, spread: Iterable[str]) -> list[Constraint]:
    """Return the constraints that a study's `separate` and catch trials stand for."""
    members = {key: frozenset(i for i, other in enumerate(keys) if other == key) for key in spread}
    return [
        *([MinDistance("key", tuple(keys))] if apart else []),
        *(Spread(key, indices) for key, indices in members.items()),
    ]


def order(
    keys: Sequence[str],
    rng: random.Random,
    *,
    apart: bool = True,
    spread: Iterable[str] = (),
) -> list[int]:
    return draw_order(len(keys), asked(keys, apart=apart, spread=spread), rng)


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


@settings(max_examples=20, deadline=None)
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


Case = tuple[int, list[Constraint]]


def distance(labels: str, least: int = 2) -> MinDistance:
    """Return a distance by one letter for each trial; a dot shares with nobody."""
    return MinDistance("letter", tuple(None if each == "." else each for each in labels), least)


def members(labels: str, letter: str) -> Spread:
    return Spread(letter, frozenset(i for i, each in enumerate(labels) if each == letter))


COUNTED: dict[str, Case] = {
    "nothing is asked": (4, []),
    "two groups": (5, [distance("aaabb")]),
    "a large group and others": (6, [distance("aaabcd")]),
    "pairs": (6, [distance("aabbcc")]),
    "some share with nobody": (6, [distance("aabb..")]),
    "columns of which one decides the other": (6, [distance("aabbcc"), distance("aabb..")]),
    "targets apart next to constructions": (6, [distance("xyaab."), distance("ttt...")][1:]),
    "one group is spread": (6, [distance("aabbcc"), members("aabbcc", "a")]),
    "three are spread": (7, [distance("sssaabb"), members("sssaabb", "s")]),
    "the spread part others": (6, [distance("ssaaab"), members("ssaaab", "s")]),
    "the spread must part all others": (5, [distance("ssaaa"), members("ssaaa", "s")]),
    "spread, but neighbours are free": (6, [members("ssaabb", "s")]),
}


def allowed_orders(n: int, constraints: list[Constraint]) -> list[tuple[int, ...]]:
    return [each for each in permutations(range(n)) if keeps(each, constraints)]


def chi_square(counts: Iterable[int], n_cells: int) -> tuple[float, float]:
    """Return the statistic of equal shares and what it exceeds once in a million times."""
    counted = list(counts)
    expected = sum(counted) / n_cells
    total = sum((c - expected) ** 2 / expected for c in counted)
    total += (n_cells - len(counted)) * expected
    freedom = max(1, n_cells - 1)
    return total, freedom * (1 - 2 / (9 * freedom) + 4.75 * (2 / (9 * freedom)) ** 0.5) ** 3


@pytest.mark.parametrize("case", COUNTED)
def test_every_allowed_order_is_drawn_equally_often(case: str):
    n, constraints = COUNTED[case]
    assert is_counted(n, constraints)
    allowed = allowed_orders(n, constraints)
    rng = random.Random(case)
    drawn = Counter(tuple(draw_order(n, constraints, rng)) for _ in range(8 * len(allowed)))
    assert set(drawn) <= set(allowed)
    statistic, limit = chi_square(drawn.values(), len(allowed))
    assert statistic < limit


def inserted(sizes: Sequence[int]) -> dict[int, int]:
    """Return how many sequences have so many alike neighbours, counted group by group."""
    layer, length = {0: 1}, 0
    for n in sizes:
        following = Counter[int]()
        for alike, ways in layer.items():
            for k in range(1, n + 1):
                for between in range(k + 1):
                    gaps = comb(alike, between) * comb(length + 1 - alike, k - between)
                    following[alike - between + n - k] += ways * comb(n - 1, k - 1) * gaps
        layer, length = {alike: ways for alike, ways in following.items() if ways}, length + n
    return layer


@settings(deadline=None)
@given(st.lists(st.integers(1, 8), min_size=1, max_size=7), st.integers(0, 50))
def test_each_count_is_that_of_inserting_the_groups_one_by_one(sizes: list[int], most_alike: int):
    expected = {alike: ways for alike, ways in inserted(sizes).items() if alike <= most_alike}
    assert count_layers(tuple(sizes), most_alike)[-1] == expected


# The constructions of the published Italian sentences of Gulordava et al. (2018).
LONG = (270, 180, 180, 139, 130, 130, 100, 60)


def long_session(*more: int) -> tuple[int, MinDistance]:
    labels = tuple(group for group, n in enumerate((*LONG, *more)) for _ in range(n))
    return len(labels), MinDistance("construction", labels)


def test_a_session_of_1189_trials_is_counted_in_steps_that_grow_with_its_square(
    monkeypatch: pytest.MonkeyPatch,
):
    n, apart = long_session()
    steps = 0
    binomials = spreading._compute_binomials

    def watched(*asked: int) -> tuple[int, ...]:
        nonlocal steps
        found = binomials(*asked)
        steps += len(found)
        return found

    monkeypatch.setattr(spreading, "_compute_binomials", watched)
    count_layers.cache_clear()
    assert is_counted(n, [apart])
    assert keeps(draw_order(n, [apart], random.Random(1)), [apart])
    assert 0 < steps < n**2


def test_the_trials_of_a_long_session_stand_anywhere_on_average():
    n, apart = long_session()
    totals = [0] * len(LONG)
    for seed in range(40):
        for position, index in enumerate(draw_order(n, [apart], random.Random(seed)), start=1):
            totals[apart.labels[index]] += position
    # The middle of 1,189 is 595; the mean of 40 times 60 positions strays by 7.
    for total, size in zip(totals, LONG, strict=True):
        assert total / size / 40 == pytest.approx(595, abs=5 * 343 / sqrt(40 * size))


def test_a_chain_finds_an_order_of_a_session_too_long_to_count():
    n, apart = long_session(15)
    assert not is_counted(n, [apart])
    assert keeps(draw_order(n, [apart], random.Random(1)), [apart])


PINNED: dict[str, tuple[list[Constraint], list[int]]] = {
    "groups": ([distance("aaaabbbccd")], [8, 1, 5, 2, 7, 3, 9, 6, 0, 4]),
    "pairs": ([distance("aabbccddee")], [3, 9, 0, 5, 8, 7, 4, 6, 1, 2]),
    "a spread group": (
        [distance("ssaaabbbcc"), members("ssaaabbbcc", "s")],
        [9, 3, 1, 6, 4, 0, 7, 8, 5, 2],
    ),
    "a chain": ([distance("aaaabbbccd", 3)], [0, 6, 8, 2, 5, 7, 3, 9, 4, 1]),
}


@pytest.mark.parametrize("case", PINNED)
def test_a_seed_gives_the_order_that_it_always_gave(case: str):
    constraints, expected = PINNED[case]
    assert draw_order(10, constraints, random.Random(7)) == expected


@pytest.mark.parametrize("labels", ["aaabb", "aabbc", "aaabcd", "abcabc"])
def test_the_shares_of_positions_are_those_of_all_allowed_orders(labels: str):
    letters = list(dict.fromkeys(labels))
    sizes = tuple(labels.count(letter) for letter in letters)
    allowed = allowed_orders(len(labels), [distance(labels)])
    for group, letter in enumerate(letters):
        at = Counter(each.index(labels.index(letter)) for each in allowed)
        expected = [at[position] / len(allowed) for position in range(len(labels))]
        assert position_shares(sizes, group) == pytest.approx(expected)


def test_four_rare_trials_among_24_targets_and_24_fillers_stand_anywhere_on_average():
    labels = "t" * 24 + "f" * 24 + "oooo"
    constraints: list[Constraint] = [distance(labels)]
    positions = [
        position
        for seed in range(1000)
        for position, index in enumerate(draw_order(52, constraints, random.Random(seed)), start=1)
        if labels[index] == "o"
    ]
    # Their exact mean is 26.5; the mean of 4,000 positions strays by 0.24.
    assert sum(positions) / len(positions) == pytest.approx(26.5, abs=1.2)


def test_a_spread_group_leaves_the_others_where_they_may_stand():
    labels = "s" * 10 + "a" * 30 + "b" * 30
    constraints: list[Constraint] = [distance(labels), members(labels, "s")]
    assert is_counted(70, constraints)
    for seed in range(50):
        assert keeps(draw_order(70, constraints, random.Random(seed)), constraints)


CONSTRAINTS: dict[str, Callable[[str], Constraint]] = {
    "distance": lambda labels: distance(labels, 4),
    "in a row": lambda labels: RunLimit("letter", tuple(labels), 2),
    "beginning": lambda labels: SessionStart("a", tuple(each == "a" for each in labels), 3),
    "spread": lambda labels: members(labels, "a"),
}


@pytest.mark.parametrize("kind", CONSTRAINTS)
@given(st.text("abc", min_size=4, max_size=12).map(lambda text: f"{text}a"), st.data())
def test_a_swap_changes_only_what_the_two_positions_take_part_in(
    kind: str, labels: str, data: st.DataObject
):
    # The chain looks at two positions only; their difference must be that of a penalty which
    # every order has, whichever way the chain came to it.
    constraint, n = CONSTRAINTS[kind](labels), len(labels)
    order_ = data.draw(st.permutations(range(n)))
    around = 0
    swaps = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=8))
    there, back = list(order_), list(swaps)
    for a, b in [*swaps, *reversed(back)]:
        before = constraint.violations(there, a) + constraint.violations(there, b)
        there[a], there[b] = there[b], there[a]
        around += constraint.violations(there, a) + constraint.violations(there, b) - before
    assert there == list(order_)
    assert around == 0


def test_an_order_that_leaves_no_room_is_refused_in_a_paragraph():
    with pytest.raises(DesignError, match="no order of a session's 6 trials was found in which"):
        draw_order(6, [distance("aaabbb", 4)], random.Random(1))


def test_a_column_that_no_item_has_is_named():
    entries = [ListEntry(item, Kind.TARGET) for item in make_items("a", {"N": 2}, ["sg"])]
    with pytest.raises(DesignError, match=r'design.separate or design.order: .*no column "verb"'):
        labels(entries, "verb")
