"""Cells' means, contrasts and a third way of clustering, computed once more from their formulas."""

from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.statistics.contrasts import add_z_scores, cell_means, contrasts
from tests.analysis.statistics.dense_variance import dense


def rated(people: int = 12, frames: int = 8, groups: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    person, frame = np.divmod(np.arange(people * frames), frames)
    cell = np.where((person + frame) % 2, "a", "b")
    value = rng.normal(size=people)[person] + rng.normal(size=frames)[frame]
    rows = pd.DataFrame(
        {
            "participant": person.astype(str),
            "unit": frame.astype(str),
            "also": (frame // 2).astype(str),
            "group": (person % groups).astype(str),
            "cell": cell,
        }
    )
    return rows.assign(rating=3 + (cell == "a") + value + rng.normal(size=len(person)))


def squares(influence: pd.Series, by: list) -> float:
    sums = influence.groupby(by).sum()
    return len(sums) / (len(sums) - 1) * float((sums**2).sum())


def test_z_scores_by_hand_and_none_of_whoever_gives_one_point():
    ratings = [1, 2, 6, 4, 4, 4, 3, 3, 4, 4]
    rows = pd.DataFrame({"participant": [*"aaabbbcccc"], "rating": ratings})
    # The mean of 1, 2 and 6 is 3, their variance (4 + 1 + 9) / 2 = 7; of 3, 3, 4, 4 it is 1 / 3.
    wanted = [-2 / sqrt(7), -1 / sqrt(7), 3 / sqrt(7), np.nan, np.nan, np.nan]
    wanted += [-sqrt(3) / 2, -sqrt(3) / 2, sqrt(3) / 2, sqrt(3) / 2]
    assert add_z_scores(rows)["z"].tolist() == pytest.approx(wanted, nan_ok=True)


def test_the_interval_of_a_cells_mean_is_two_way_clustered():
    rows = rated()
    rows.loc[[3, 40], "rating"] = np.nan
    found = cell_means(rows, "rating", ["cell"]).set_index("cell")
    for name, own in rows.dropna().groupby("cell"):
        influence = (own["rating"] - own["rating"].mean()) / len(own)
        people, units = own["participant"], own["unit"]
        v = [squares(influence, by) for by in ([people], [units], [people, units])]
        total = max(v[0] + v[1] - v[2], v[0], v[1])
        # Satterthwaite's degrees of freedom, of the parts that add something.
        more = [max(one - v[2], 0) for one in v[:2]]
        clusters = [own[one].nunique() - 1 for one in ("participant", "unit")]
        parts = [(v[2], len(own) - 1)]
        parts += [(one, n) for one, n, add in zip(v[:2], clusters, more, strict=True) if add > 0]
        free = (v[2] + sum(more)) ** 2 / sum(one**2 / n for one, n in parts)
        half = student.ppf(0.975, np.clip(free, min(clusters), len(own) - 1)) * sqrt(total)
        row, mean = found.loc[name], own["rating"].mean()
        assert tuple(row[["low", "mean", "high"]]) == pytest.approx(
            (mean - half, mean, mean + half)
        )
        assert row["sd"] == pytest.approx(own["rating"].std(ddof=1))
        assert tuple(row[["n_observations", "n_units", "n_participants"]]) == (len(own), 8, 12)


WEIGHTS = {"a": 1.0, "b": -1.0}


def test_a_difference_is_that_of_the_means_with_students_p():
    rows = rated()
    a = (rows["cell"] == "a").to_numpy()
    weight = np.where(a, 1 / a.sum(), -1 / (~a).sum())
    cells = [rows[name].to_numpy() for name in ("cell", "participant", "unit")]
    variance, freedom = dense(rows["rating"].to_numpy(), weight, *cells)
    # Groups cost a degree of freedom with a third way alone.
    two_ways = rows.drop(columns="also").assign(group=rows["participant"])
    found = contrasts(two_ways, "rating", {"x": WEIGHTS, "y": {"a": -1.0, "b": 1.0}})
    estimate = rows.loc[a, "rating"].mean() - rows.loc[~a, "rating"].mean()
    half = student.ppf(0.975, freedom) * sqrt(variance)
    p = 2 * student.sf(abs(estimate) / sqrt(variance), freedom)
    for row, sign in zip(found.to_dict("records"), (1, -1), strict=True):
        assert row["estimate"] == pytest.approx(sign * estimate)
        assert row["low"] == pytest.approx(sign * estimate - half, rel=1e-4)
        assert row["high"] == pytest.approx(sign * estimate + half, rel=1e-4)
        assert row["p"] == pytest.approx(p, rel=1e-3)
        assert row["p_holm"] == pytest.approx(min(2 * p, 1), rel=1e-3)
        assert (row["n_observations"], row["n_participants"], row["n_frames"]) == (96, 12, 8)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_with_a_third_way_all_sets_of_ways_add_up_and_groups_cost_freedom(groups):
    rows = rated(groups=groups)
    a = rows["cell"] == "a"
    means = rows.groupby("cell")["rating"].transform("mean")
    influence = (rows["rating"] - means) * np.where(a, 1 / a.sum(), -1 / (~a).sum())
    ways, total = ["participant", "unit", "also"], 0.0
    for size in (1, 2, 3):
        for chosen in combinations(ways, size):
            total += squares(influence, [rows[one] for one in chosen]) * (-1) ** (size + 1)
    total = max(total, *(squares(influence, [rows[one]]) for one in ways))
    # Twelve people less one; each further group takes one more. The fewest clusters are four.
    total *= 11 / (12 - groups)
    half = student.ppf(0.975, min(3, 12 - groups)) * sqrt(total)
    [found] = contrasts(rows, "rating", {"x": WEIGHTS}).to_dict("records")
    estimate = rows.loc[a, "rating"].mean() - rows.loc[~a, "rating"].mean()
    assert found["estimate"] == pytest.approx(estimate)
    assert (found["low"], found["high"]) == pytest.approx((estimate - half, estimate + half))


def test_as_many_groups_as_people_leave_no_degree_of_freedom_and_no_interval():
    rows = rated(people=8, groups=8)
    [found] = contrasts(rows, "rating", {"x": WEIGHTS}).to_dict("records")
    assert np.isfinite(found["estimate"])
    assert np.isnan([found["low"], found["high"], found["p"]]).all()
    [alone] = contrasts(rows.drop(columns="group"), "rating", {"x": WEIGHTS}).to_dict("records")
    # One or two fewer leave as many: fewer than the four clusters of the third way less one.
    for left in (1, 2):
        group = (rows["participant"].astype(int) % (8 - left)).astype(str)
        [some] = contrasts(rows.assign(group=group), "rating", {"x": WEIGHTS}).to_dict("records")
        quantiles = student.ppf(0.975, left) / student.ppf(0.975, 3)
        ratio = (some["high"] - some["low"]) / (alone["high"] - alone["low"])
        assert ratio == pytest.approx(quantiles * sqrt(7 / left))
        error = (some["high"] - some["low"]) / 2 / student.ppf(0.975, left)
        assert some["p"] == pytest.approx(2 * student.sf(abs(some["estimate"]) / error, left))


def test_what_is_the_same_in_every_unit_is_said_without_errors_of_rounding():
    rows = rated().drop(columns=["also", "group"])
    alike = rows.assign(rating=np.where(rows["cell"] == "a", 0.3, 0.1))
    [people] = contrasts(alike, "rating", {"x": WEIGHTS}).to_dict("records")
    assert people["low"] == people["estimate"] == people["high"] == pytest.approx(0.2)
    assert np.isnan(people["p"])
    # A model's scores that are all alike tell nothing.
    of_model = alike.assign(participant=None).drop_duplicates(["unit", "cell"])
    [model] = contrasts(of_model, "rating", {"x": WEIGHTS}, people=False).to_dict("records")
    assert model["estimate"] == pytest.approx(0.2)
    assert np.isnan([model["low"], model["high"], model["p"]]).all()
    none = rows.assign(rating=0.1 + 1e-13 * (rows["cell"] == "a"))
    assert contrasts(none, "rating", {"x": WEIGHTS})["estimate"].tolist() == [0]


def test_what_differs_a_little_is_no_error_of_rounding():
    rows = rated().drop(columns=["also", "group"])
    noise = np.random.default_rng(1).normal(size=len(rows))
    small = rows.assign(rating=100 + 1e-3 * (noise + 3 * (rows["cell"] == "a")))
    [found] = contrasts(small, "rating", {"x": WEIGHTS}).to_dict("records")
    large = rows.assign(rating=noise + 3 * (rows["cell"] == "a"))
    [same] = contrasts(large, "rating", {"x": WEIGHTS}).to_dict("records")
    for name in ("estimate", "low", "high"):
        assert found[name] == pytest.approx(1e-3 * same[name], rel=1e-4)
    # Nor is a small number, or a large one, where all values are of its size.
    for scale in (1e-9, 1e9):
        sized = large.assign(rating=scale * large["rating"])
        [found] = contrasts(sized, "rating", {"x": WEIGHTS}).to_dict("records")
        for name in ("estimate", "low", "high"):
            assert found[name] == pytest.approx(scale * same[name], rel=1e-6)
        assert found["p"] == pytest.approx(same["p"], rel=1e-3)


def test_fifty_answers_of_five_people_on_five_frames_are_enough():
    rows = rated(10, 5).drop(columns=["also", "group"])
    fewer = rows[1:]
    for own, known in ((rows, True), (fewer, False)):
        [found] = contrasts(own, "rating", {"x": WEIGHTS}).to_dict("records")
        assert np.isfinite([found["low"], found["high"], found["p"]]).all() == known


def test_a_cell_without_ratings_has_no_contrast_and_others_cells_take_no_part():
    rows = rated().drop(columns=["also", "group"])
    other = rows.assign(cell="c", rating=99.0)
    both = pd.concat([rows, other])
    found = contrasts(both, "rating", {"x": WEIGHTS, "y": {"a": 1.0, "d": -1.0}})
    [alone] = contrasts(rows, "rating", {"x": WEIGHTS}).to_dict("records")
    for name in ("estimate", "low", "high", "n_observations"):
        assert found.loc[0, name] == pytest.approx(alone[name])
    assert found.loc[1, ["estimate", "low", "high", "p"]].isna().all()
    assert found.loc[1, "n_observations"] == 48
    assert contrasts(rows, "rating", {}).empty
