import krippendorff
import numpy as np
import pandas as pd
import pytest

from analysis.statistics.agreement import agreement, entropy_bits, weighted_alpha


def items(good, n, construction="a"):
    good, n = np.array(good), np.array(n)
    return pd.DataFrame(
        {
            "item_id": [f"{construction}{number}" for number in range(len(n))],
            "construction": construction,
            "n_good": good,
            "n_judgments": n,
            "share_good": good / n,
        }
    )


def test_entropy_is_one_bit_for_an_even_split_and_none_for_unanimity():
    assert entropy_bits(np.array([0.5, 0.0, 1.0, 0.25])) == pytest.approx(
        [1, 0, 0, 0.8113], abs=1e-4
    )


def test_alpha_is_that_of_the_library_on_the_raw_choices():
    # Krippendorff (2011) as a table of coders and units, with values missing.
    raw = [[1, 0, 1, 1, None], [1, 0, 0, 1, 1], [1, 1, 0, None, 0]]
    data = np.array([[np.nan if x is None else x for x in row] for row in raw])
    found = agreement(items([3, 1, 1, 2, 1], [3, 3, 3, 2, 2]), np.random.default_rng(1), 100)
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    assert found.loc[0, "alpha"] == pytest.approx(expected)
    assert found.loc[0, "low"] <= expected <= found.loc[0, "high"]
    assert found.loc[0, "share_unanimous"] == pytest.approx(2 / 5)


def test_weighted_alpha_of_items_once_each_is_alpha():
    good, n = np.array([3.0, 1, 1, 2, 1]), np.array([3.0, 3, 3, 2, 2])
    counts = np.column_stack([good, n - good])
    expected = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
    assert weighted_alpha(good, n, np.ones((1, 5)))[0] == pytest.approx(expected)
    twice = krippendorff.alpha(
        value_counts=np.repeat(counts, 2, axis=0), level_of_measurement="nominal"
    )
    assert weighted_alpha(good, n, np.full((1, 5), 2.0))[0] == pytest.approx(twice)


@pytest.mark.parametrize(("good", "n"), [([3, 3], [3, 3]), ([0, 1], [1, 1])])
def test_without_variation_or_pairs_there_is_no_alpha(good, n):
    found = agreement(items(good, n), np.random.default_rng(1), 100)
    assert found["alpha"].isna().all()


def test_rows_are_all_items_then_each_construction():
    frame = pd.concat([items([3, 1], [4, 4], "a"), items([4, 0], [4, 4], "b")])
    found = agreement(frame, np.random.default_rng(1), 100).set_index("construction")
    assert found.index.tolist() == ["", "a", "b"]
    assert found.loc["b", "alpha"] == 1.0
    assert found.loc["", "n_judgments"] == 16
