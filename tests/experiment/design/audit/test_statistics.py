"""The audit's statistics and texts, by numbers worked out by hand or taken from tables."""

from collections import Counter
from itertools import combinations
from math import inf, sqrt

import pytest

from experiment.design.audit.audit import (
    _block_checks,
    _chi_square,
    _compute_deviation_limit,
    _compute_position_slack,
    _compute_rhat,
    _find_off_centre,
    _to_normal_deviate,
    audit,
)
from experiment.design.audit.session_checks import _describe_half, _is_half
from experiment.design.lists import build_lists
from experiment.design.ordering.constraints import Spread
from experiment.records import lemmas_of
from tests.experiment.design.small_studies import MIXED, MIXED_ITEMS


@pytest.mark.parametrize(
    ("chains", "rhat"),
    [
        ([[0, 2], [2, 4]], sqrt(1 / 2 + 1)),
        ([[0, 1, 2], [0, 1, 2]], sqrt(2 / 3)),
        ([[1, 1], [2, 2]], inf),
        ([[1, 1], [1, 1]], 1.0),
    ],
)
def test_r_hat_of_short_chains(chains: list[list[int]], rhat: float):
    assert _compute_rhat(chains) == pytest.approx(rhat)


def test_chi_square_takes_rare_positions_together():
    at = [0] * 12 + [1] * 5 + [2] * 3
    assert _chi_square(at, [0.5, 0.25, 0.25]) == (pytest.approx(4 / 10 + 0 + 4 / 5), 2)
    at = [0] * 8 + [1] * 6 + [2] * 4 + [3] * 2
    assert _chi_square(at, [0.5, 0.3, 0.15, 0.05]) == (pytest.approx(4 / 10 + 0 + 4 / 4), 2)


@pytest.mark.parametrize(("value", "freedom"), [(18.307, 10), (67.505, 50), (11.070, 5)])
def test_the_five_percent_point_of_a_table_is_1_645_deviations(value: float, freedom: int):
    assert _to_normal_deviate(value, freedom) == pytest.approx(1.645, abs=0.02)
    assert _to_normal_deviate(value, 0) == 0


def test_few_draws_ask_for_a_larger_deviate():
    assert _compute_deviation_limit(11) == pytest.approx(
        13.998, abs=0.001
    )  # sqrt(10 (e^3.025 - 1))
    assert _compute_deviation_limit(100_001) == pytest.approx(5.5, abs=0.001)
    assert _compute_deviation_limit(1) == _compute_deviation_limit(2)


@pytest.mark.parametrize(
    ("at", "slack", "told"),
    [
        ([1, 1], 0.0, []),
        ([2, 2], 0.0, ["trial 1 of the list: 3.0"]),
        ([2, 2], 0.5, ["trial 1 of the list: 3.0"]),
        ([2, 2], 1.0, []),
        ([2, 2], 1.0 - 1e-9, []),  # just at the bound
        ([1], 0.0, []),
        ([0, 2], 0.0, []),
    ],
)
def test_a_trial_is_off_the_centre_of_three(at: list[int], slack: float, told: list[str]):
    assert list(_find_off_centre([at], 3, slack)) == told


@pytest.mark.parametrize(("n", "slack"), [(12, 0.0), (13, 0.5), (11, None)])
def test_stretches_that_are_not_equally_long_move_the_middle(n: int, slack: float | None):
    assert _compute_position_slack(n, [Spread("catch", frozenset(range(3)))]) == slack
    assert _compute_position_slack(n, []) == 0


def test_fewer_orders_of_a_long_session_are_drawn():
    row = next(iter(_block_checks(800, (), 1, 0, 8)))
    assert (row.name, row.expected) == ("mean position of each trial, 2 seeds", "400.5")
    row = next(iter(_block_checks(4, (), 1, 1, 8)))
    assert (row.name, row.expected) == ("mean position of each trial in block 2, 8 seeds", "2.5")


def test_half_of_an_odd_number_is_either_side():
    assert [_describe_half(n) for n in (4, 5)] == ["2", "2 or 3"]
    assert [[part for part in range(6) if _is_half(part, n)] for n in (4, 5)] == [[2], [2, 3]]


# What a square is asked for, from the design: four lists of 10 trials, 2 x 8 items of "simple" in
# four lists are 2 of each condition, the other squares' four frames 1 of each.
SAID = {
    "lists": "4",
    "trials in each list": "10",
    "items in each list, by condition": "1 each of 6, 2 each of 2",
    "targets used as catch trials, in each list": "3 of 4 simple",
    "frames of each square": "2 x 4, 1 x 4 from 2 templates, 1 x 8",
    "frames that share their slots' choice": "none in 1 groups",
    "what is judged against good": "bad (4 constructions)",
    "sessions composed": "16",
    "trials with good first, in a session": "5",
    "trials with good first, in a construction": "half, 2 of 4 simple",
    "sessions with good first, for an item": "2",
    "places 2j and 2j+1 of a list": "opposite sides",
    "what the order must keep": (
        "neighbours differ in construction; the 4 trials of simple come one per stretch"
    ),
}


def test_what_is_asked_and_counted_is_said():
    built = build_lists(MIXED, MIXED_ITEMS, 1)
    found = {each.name: each.found for each in audit(MIXED, built, MIXED_ITEMS, order_seeds=0)}
    assert {name: found[name] for name in SAID} == SAID
    words, pairs = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for number, entries in enumerate(built.lists):
        for entry in entries:
            lemmas = sorted(lemmas_of(entry.item.frame).values())
            words.update((lemma, number) for lemma in lemmas)
            pairs.update((" + ".join(pair), number) for pair in combinations(lemmas, 2))
    for what, counts in (("uses of a word", words), ("meetings of two words", pairs)):
        said = found[f"most {what} in one list"]
        allowed = {f"{n} ({what}, list {list_})" for (what, list_), n in counts.items()}
        assert said in allowed
        assert said.startswith(f"{max(counts.values())} ")


def test_the_most_uneven_slot_of_interchangeable_words_is_told():
    built = build_lists(MIXED, MIXED_ITEMS, 1)
    rows = {each.name: each for each in audit(MIXED, built, MIXED_ITEMS, order_seeds=0)}
    found = rows["uses of interchangeable words, over the lists"].found
    chosen = {(e.item.template, e.item.frame) for entries in built.lists for e in entries}
    uses = Counter(word for _, frame in chosen for word in lemmas_of(frame).items())
    where = dict[tuple[str, str], set[str]]()
    for item in MIXED_ITEMS:
        for word in lemmas_of(item.frame).items():
            where.setdefault(word, set()).add(item.template)
    groups = dict[tuple[str, frozenset[str]], list[int]]()
    for (slot, lemma), templates in where.items():
        groups.setdefault((slot, frozenset(templates)), []).append(uses[slot, lemma])
    most = max(max(group) - min(group) for group in groups.values())
    assert found in {
        f"{min(group)} to {max(group)} frames in the most uneven slot ({slot})"
        for (slot, _), group in groups.items()
        if max(group) - min(group) == most
    }
