"""Texts held as codes are looked up, compared and spelled out as the texts they stand for."""

import pandas as pd
import pytest

from analysis.data.categorical import decode_texts, find_codes, have_equal_text, take_values

TEXTS = ["b", "a", None, "c", "b"]


@pytest.mark.parametrize("dtype", ["str", "category", object])
def test_values_are_found_in_an_index_whatever_holds_them(dtype):
    values = pd.Series(TEXTS, dtype=dtype)
    assert find_codes(values, pd.Index(["a", "b"])).tolist() == [1, 0, -1, -1, 1]
    assert find_codes(values, pd.Index(["a", None, "b"])).tolist() == [2, 0, 1, -1, 2]


def test_columns_of_different_categories_are_compared_by_their_texts():
    one = pd.Series(["x", "y", "x"], dtype="category")
    other = pd.Series(["x", "z", "y"], dtype=pd.CategoricalDtype(["z", "y", "x"]))
    assert have_equal_text(one, other).tolist() == [True, False, False]
    assert have_equal_text(one, other.astype(str)).tolist() == [True, False, False]


def test_named_values_stand_at_their_places_and_are_spelled_out():
    found = take_values(
        pd.Series(["p", "q", "p"]), find_codes(pd.Series(["k1", "k0"]), pd.Index(["k0", "k1"]))
    )
    assert list(found) == ["q", "p"]
    frame = decode_texts(pd.DataFrame({"name": found, "n": [1, 2]}))
    assert not isinstance(frame["name"].dtype, pd.CategoricalDtype)
    assert frame["name"].tolist() == ["q", "p"]
