"""Ratings: means, differences and correlations, computed again one by one."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, rankdata, t

from analysis.statistics.ratings import (
    correlate_items,
    item_differences,
    mean_ratings,
    rating_differences,
)
from analysis.statistics.variance_parts import contrast_variance
from experiment.records import Variant
from tests.analysis.statistics.dense_variance import dense

BAD = next(variant for variant in Variant if variant != Variant.GOOD)


@pytest.fixture
def ratings() -> pd.DataFrame:
    """Eighteen people rate twelve items in two conditions, each in one of two versions."""
    rng = np.random.default_rng(3)
    person, item = np.divmod(np.arange(18 * 12), 12)
    good = (person + item // 2) % 2 == 0
    value = 4 + good + 0.5 * rng.normal(size=18)[person] + rng.normal(size=12)[item]
    return pd.DataFrame(
        {
            "participant": person.astype(str),
            "item_id": item.astype(str),
            "condition": np.where(item % 2 == 0, "x", "y"),
            "version": np.where(good, Variant.GOOD, BAD),
            "rating": np.clip(np.round(value + rng.normal(size=len(item))), 1, 7),
        }
    )


def half_width(frame: pd.DataFrame, influence: pd.Series) -> float:
    """Half a two-way clustered interval, by sums over each participant and each item."""

    def variance(by: object) -> float:
        sums = influence.groupby(by).sum()
        return len(sums) / (len(sums) - 1) * (sums**2).sum()

    people, items = (float(variance(frame[name])) for name in ("participant", "item_id"))
    single = variance(np.arange(len(frame)))
    total = max(people + items - single, people, items)
    more = [max(one - single, 0) for one in (people, items)]
    n_people, n_items = frame["participant"].nunique(), frame["item_id"].nunique()
    # Satterthwaite's degrees of freedom, of the parts that add something.
    parts = [(single, len(frame))]
    parts += [(people, n_people)] * int(more[0] > 0) + [(items, n_items)] * int(more[1] > 0)
    freedom = (single + sum(more)) ** 2 / sum(part**2 / (n - 1) for part, n in parts)
    fewer = min(n_people, n_items) - 1
    return t.ppf(0.975, np.clip(freedom, fewer, len(frame) - 1)) * np.sqrt(total)


def test_the_mean_of_each_condition_and_its_interval(ratings):
    found = mean_ratings(ratings, ["condition"]).set_index("condition")
    for condition, own in ratings.groupby("condition"):
        row, values = found.loc[condition], own["rating"]
        half = half_width(own, (values - values.mean()) / len(own))
        assert row["mean"] == pytest.approx(values.mean())
        assert row["sd"] == pytest.approx(values.std(ddof=1))
        assert (row["low"], row["high"]) == pytest.approx(
            (values.mean() - half, values.mean() + half)
        )
        counts = (len(own), own["item_id"].nunique(), 18)
        assert tuple(row[["n_ratings", "n_items", "n_participants"]]) == counts


def test_how_much_higher_the_good_versions_are_rated(ratings):
    found = rating_differences(ratings, ["condition"]).set_index("condition")
    for condition, own in ratings.groupby("condition"):
        good = own["version"] == Variant.GOOD
        means = own["rating"].groupby(good).mean()
        share = np.where(good, 1 / good.sum(), -1 / (~good).sum())
        variance, freedom = dense(own["rating"], share, good, own["participant"], own["item_id"])
        half = t.ppf(0.975, freedom) * np.sqrt(variance)
        apart = means[True] - means[False]
        row = found.loc[condition]
        assert tuple(row[["mean_good", "mean_other"]]) == pytest.approx((means[True], means[False]))
        assert (row["low"], row["difference"], row["high"]) == pytest.approx(
            (apart - half, apart, apart + half)
        )
        assert row["n_ratings"] == len(own)


def test_a_condition_with_one_version_has_no_difference(ratings):
    one = ratings[(ratings["condition"] == "x") | (ratings["version"] == Variant.GOOD)]
    assert list(rating_differences(one, ["condition"])["condition"]) == ["x"]
    only_good = ratings[ratings["version"] == Variant.GOOD]
    assert rating_differences(only_good, ["condition"]).empty


def test_items_are_the_difference_of_their_means(ratings):
    found = item_differences(ratings)
    own = ratings[ratings["item_id"] == "5"]
    means = own.groupby(own["version"] == Variant.GOOD)["rating"].mean()
    assert found["5"] == pytest.approx(means[True] - means[False])
    assert len(found) == 12


def test_how_people_and_a_model_go_together():
    rng = np.random.default_rng(1)
    people = rng.normal(size=40)
    model = people + rng.normal(size=40)
    found = correlate_items(people, model)
    ranks = pearsonr(rankdata(people), rankdata(model)).statistic
    assert found["pearson"] == pytest.approx(pearsonr(people, model).statistic)
    assert found["spearman"] == pytest.approx(ranks)
    assert found["agreement"] == np.mean((people > 0) == (model > 0))
    assert found["spearman_low"] < ranks < found["spearman_high"]
    # Fisher's interval of ranks, with Bonett and Wright's error (2000), is about as wide.
    error = 1.96 * np.sqrt((1 + ranks**2 / 2) / (40 - 3))
    fishers = np.tanh(np.arctanh(ranks) + error) - np.tanh(np.arctanh(ranks) - error)
    assert found["spearman_high"] - found["spearman_low"] == pytest.approx(fishers, rel=0.3)


def test_three_items_correlate_and_a_model_that_never_varies_does_not():
    found = correlate_items(np.array([1.0, 2, 4]), np.array([3.0, 1, 2]))
    assert found["spearman"] == pytest.approx(-0.5)
    flat = correlate_items(np.array([1.0, 2, 4]), np.ones(3))
    assert np.isnan(flat["spearman"]) and flat["agreement"] == 1


def test_good_and_other_versions_of_unequal_number_have_means_of_their_own(ratings):
    uneven = ratings[(ratings["version"] == Variant.GOOD) | (ratings["participant"] < "15")]
    found = rating_differences(uneven, ["condition"]).set_index("condition")
    for condition, own in uneven.groupby("condition"):
        good = own["version"] == Variant.GOOD
        share = np.where(good, 1 / good.sum(), -1 / (~good).sum())
        row = found.loc[condition]
        assert row["difference"] == pytest.approx(np.sum(share * own["rating"]))
        cells = [own[name].to_numpy() for name in ("participant", "item_id")]
        variance, freedom = contrast_variance(
            own["rating"].to_numpy(float), share, good.to_numpy().astype(np.intp),
            [pd.factorize(one)[0] for one in cells],
        )  # fmt: skip
        half = t.ppf(0.975, freedom) * np.sqrt(variance)
        assert row["high"] - row["low"] == pytest.approx(2 * half)


@pytest.mark.parametrize("people", [np.array([]), np.array([1.0, 2.0]), np.ones(5)])
def test_too_few_items_or_no_variance_has_no_correlation(people):
    found = correlate_items(people, np.arange(len(people), dtype=float))
    assert np.isnan(found["spearman"]) and np.isnan(found["pearson"])
    assert found["n_items"] == len(people)


def test_four_items_have_a_difference_and_no_interval(ratings):
    few = ratings[ratings["item_id"].isin(["0", "1", "2", "3"])]
    many = pd.concat([few.assign(participant=few["participant"] + again) for again in "abc"])
    [row] = rating_differences(many.assign(condition="x"), ["condition"]).to_dict("records")
    assert row["n_ratings"] > 70
    assert np.isfinite(row["difference"]) and np.isnan([row["low"], row["high"]]).all()
