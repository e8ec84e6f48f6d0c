"""Which items stay targets next to catch trials."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.design.latin_square import cells, choose_targets
from experiment.errors import DesignError


@given(st.data())
def test_the_conditions_take_turns_over_the_lists(data: st.DataObject):
    n_lists = data.draw(st.integers(1, 10))
    n_conditions = data.draw(st.integers(1, n_lists))
    n_frames = n_lists * data.draw(st.integers(1, 5))
    catch_trials = data.draw(st.integers(0, n_frames // n_lists * n_conditions))
    stays = Counter(dict.fromkeys(range(n_conditions), 0))
    for list_ in range(n_lists):
        conditions = [c for _, c in cells(n_frames, n_conditions, n_lists, list_)]
        kept = choose_targets(conditions, n_conditions, catch_trials, list_)
        assert len(kept) == len(conditions) - catch_trials
        stays.update(conditions[index] for index in kept)
    assert max(stays.values()) - min(stays.values()) <= 1


def test_one_representative_of_two_conditions_alternates_from_list_to_list():
    conditions = [0, 1] * 5
    kept = [choose_targets(conditions, 2, 9, list_) for list_ in range(4)]
    assert [[conditions[index] for index in indices] for indices in kept] == [[0], [1], [0], [1]]


def test_more_catch_trials_than_items_are_refused():
    with pytest.raises(DesignError, match=r"5 catch trials are asked .* 4 items"):
        choose_targets([0, 1, 0, 1], 2, 5, 0)
