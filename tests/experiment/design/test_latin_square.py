"""The one function behind every Latin square."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.design.latin_square import cells
from experiment.errors import DesignError


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, int, int]:
    n_lists = draw(st.integers(1, 12))
    n_conditions = draw(st.integers(1, n_lists))
    return draw(st.integers(1, 4)) * n_lists, n_conditions, n_lists


@given(shapes())
def test_each_list_has_each_condition_equally_often(shape: tuple[int, int, int]):
    n_frames, n_conditions, n_lists = shape
    for list_ in range(n_lists):
        counts = Counter(condition for _, condition in cells(*shape, list_))
        assert counts == dict.fromkeys(range(n_conditions), n_frames // n_lists)


@given(shapes())
def test_a_list_has_no_frame_twice(shape: tuple[int, int, int]):
    for list_ in range(shape[2]):
        frames = [frame for frame, _ in cells(*shape, list_)]
        assert len(frames) == len(set(frames))


@given(shapes())
def test_over_the_lists_each_frame_stands_once_in_each_condition(shape: tuple[int, int, int]):
    n_frames, n_conditions, n_lists = shape
    shown = Counter(cell for list_ in range(n_lists) for cell in cells(*shape, list_))
    assert shown == {(f, c): 1 for f in range(n_frames) for c in range(n_conditions)}


@given(shapes())
def test_the_cells_are_those_of_the_formula(shape: tuple[int, int, int]):
    n_frames, n_conditions, n_lists = shape
    for list_ in range(n_lists):
        assert set(cells(*shape, list_)) == {
            (f, c)
            for f in range(n_frames)
            for c in range(n_conditions)
            if (f - c) % n_lists == list_
        }


@given(st.integers(1, 12))
def test_as_many_lists_as_conditions_make_the_classical_square(order: int):
    rows = [[condition for _, condition in cells(order, order, order, row)] for row in range(order)]
    for line in [*rows, *zip(*rows, strict=True)]:
        assert sorted(line) == list(range(order))


def test_fifty_frames_in_two_conditions_give_each_of_ten_lists_five_of_each():
    for list_ in range(10):
        assert Counter(c for _, c in cells(50, 2, 10, list_)) == {0: 5, 1: 5}


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((15, 2, 10), "15 frames cannot be balanced over 10 lists.*Use 10 or 20 frames"),
        ((5, 2, 10), "5 frames cannot be balanced over 10 lists.*Use 10 frames"),
        ((10, 11, 10), "11 conditions do not fit 10 lists.*Set design.lists to 11"),
        ((0, 1, 1), "0 frames, 1 conditions and 1 lists cannot make a Latin square"),
    ],
)
def test_a_shape_that_cannot_be_balanced_is_refused(shape: tuple[int, int, int], message: str):
    with pytest.raises(DesignError, match=message):
        list(cells(*shape, 0))
