import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.statistics.agreement import agreement, entropy_bits, krippendorff_alpha


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


# Each line is an observer, each column a unit, a dot no judgment. The first three are examples of
# Krippendorff, K. (2011), "Computing Krippendorff's alpha-reliability", sections A, B and C; the
# last is one that many introductions share.
BINARY = ("0100000010", "1110010000")
TWO_OBSERVERS = ("aabbdcccedda", "babbbccceddd")
FOUR_OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
THREE_OBSERVERS = (".....34121133.3", "1.213343.......", "..21344.21133.4")


def counts_of(observers):
    """Return the values that were given, in order, and how often each unit got each."""
    values = sorted(set("".join(observers)) - {"."})
    units = zip(*observers, strict=True)
    return values, np.array([[unit.count(value) for value in values] for unit in units])


def unlike(level, values, counts):
    """Return Krippendorff's squared differences between values at a level of measurement."""
    if level == "nominal":
        return None
    a, b = np.meshgrid(*[np.array([float(value) for value in values])] * 2)
    if level == "interval":
        return (a - b) ** 2
    if level == "ratio":
        return ((a - b) / (a + b)) ** 2
    n, ranks = counts[counts.sum(axis=1) > 1].sum(axis=0), range(len(values))
    between = [
        [n[min(c, k) : max(c, k) + 1].sum() - (n[c] + n[k]) / 2 for c in ranks] for k in ranks
    ]
    return np.array(between) ** 2


@pytest.mark.parametrize(
    ("observers", "level", "published"),
    [
        (BINARY, "nominal", 0.095),
        (TWO_OBSERVERS, "nominal", 0.692),
        (FOUR_OBSERVERS, "nominal", 0.743),
        (FOUR_OBSERVERS, "ordinal", 0.815),
        (FOUR_OBSERVERS, "interval", 0.849),
        (FOUR_OBSERVERS, "ratio", 0.797),
        (THREE_OBSERVERS, "nominal", 0.691),
        (THREE_OBSERVERS, "interval", 0.811),
    ],
)
def test_alpha_is_the_published_one(observers, level, published):
    values, counts = counts_of(observers)
    found = krippendorff_alpha(counts, unlike(level, values, counts))
    assert found == pytest.approx(published, abs=0.0005)


@pytest.mark.parametrize("counts", [[[3, 0], [2, 0]], [[1, 0], [0, 1]]])
def test_there_is_no_alpha_of_one_value_or_of_single_judgments(counts):
    assert np.isnan(krippendorff_alpha(np.array(counts)))


def test_agreement_gives_the_alpha_of_all_choices():
    found = agreement(items([3, 1, 1, 2, 1], [3, 3, 3, 2, 2])).iloc[0]
    expected = krippendorff_alpha(np.array([[3, 0], [1, 2], [1, 2], [2, 0], [1, 1]]))
    assert found["alpha"] == pytest.approx(expected)
    assert found["low"] <= expected <= found["high"]
    assert found["share_unanimous"] == pytest.approx(2 / 5)


def test_the_interval_is_that_of_alphas_recomputed_without_each_person_item_and_judgment():
    rng = np.random.default_rng(4)
    frame = items([0] * 6, [5] * 6).assign(chose_good=rng.random(30) < 0.7)

    def log_f(rows):
        table = rows.pivot(index="participant", columns="item_id", values="chose_good")
        right = table.sum().to_numpy(dtype=float)
        alpha = krippendorff_alpha(np.column_stack([right, table.count().to_numpy() - right]))
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
    assert found.loc["b", ["low", "high"]].isna().all()
    assert found.loc["", "n_judgments"] == 16


def test_one_answer_that_differs_is_enough_for_an_alpha():
    found = agreement(items([1, 0], [3, 3])).iloc[0]
    assert found["alpha"] == pytest.approx(krippendorff_alpha(np.array([[1, 2], [0, 3]])))
