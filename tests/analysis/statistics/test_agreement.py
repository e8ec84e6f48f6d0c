import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.statistics.agreement import agreement, entropy_bits


def items(good, n, construction="a"):
    """Return judgments of items of which some of their participants chose the expected version."""
    return pd.DataFrame(
        [
            {
                "item_id": f"{construction}{number}",
                "construction": construction,
                "condition": "any",
                "participant": str(person),
                "chose_good": person < right,
            }
            for number, (right, size) in enumerate(zip(good, n, strict=True))
            for person in range(size)
        ]
    )


def test_entropy_is_one_bit_for_an_even_split_and_none_for_unanimity():
    assert entropy_bits(np.array([0.5, 0.0, 1.0, 0.25])) == pytest.approx(
        [1, 0, 0, 0.8113], abs=1e-4
    )


def test_alpha_is_that_of_the_library_on_the_raw_choices():
    # Krippendorff (2011) as a table of coders and units, with values missing.
    raw = [[1, 0, 1, 1, None], [1, 0, 0, 1, 1], [1, 1, 0, None, 0]]
    data = np.array([[np.nan if x is None else x for x in row] for row in raw])
    found = agreement(items([3, 1, 1, 2, 1], [3, 3, 3, 2, 2]))
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    assert found.loc[0, "alpha"] == pytest.approx(expected)
    assert found.loc[0, "low"] <= expected <= found.loc[0, "high"]
    assert found.loc[0, "share_unanimous"] == pytest.approx(2 / 5)


def test_the_interval_is_that_of_alphas_recomputed_without_each_person_item_and_judgment():
    rng = np.random.default_rng(4)
    frame = items([0] * 6, [5] * 6).assign(chose_good=rng.random(30) < 0.7)

    def log_f(rows):
        table = rows.pivot(index="participant", columns="item_id", values="chose_good")
        alpha = krippendorff.alpha(
            reliability_data=table.to_numpy(dtype=float), level_of_measurement="nominal"
        )
        return np.log(1 + 5 * alpha / (1 - alpha))

    def changes(names):
        return np.array([log_f(frame[names != one]) for one in pd.unique(names)])

    def variance(values):
        return (len(values) - 1) * values.var()

    of_each = (frame["participant"], frame["item_id"], frame.index.to_numpy())
    parts = [variance(changes(one)) for one in of_each]
    total = max(parts[0] + parts[1] - parts[2], *parts[:2])
    half = student.ppf(0.975, 4) * np.sqrt(total)
    ends = np.exp(log_f(frame) + np.array([-half, half]))
    found = agreement(frame).iloc[0]
    assert found[["low", "high"]].tolist() == pytest.approx((ends - 1) / (4 + ends), rel=1e-4)


@pytest.mark.parametrize(("good", "n"), [([3, 3], [3, 3]), ([0, 1], [1, 1])])
def test_without_variation_or_pairs_there_is_no_alpha(good, n):
    found = agreement(items(good, n))
    assert found["alpha"].isna().all()


def test_rows_are_all_items_then_each_construction():
    frame = pd.concat([items([3, 1], [4, 4], "a"), items([4, 0], [4, 4], "b")])
    found = agreement(frame).set_index("construction")
    assert found.index.tolist() == ["", "a", "b"]
    assert found.loc["b", "alpha"] == 1.0
    assert found.loc["", "n_judgments"] == 16
