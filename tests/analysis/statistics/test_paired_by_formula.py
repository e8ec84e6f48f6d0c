"""Differences of accuracies: ends, p values and corrections, computed once more from formulas."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import t as student

from analysis.statistics.paired import add_adjusted_p, models_against_models, people_against_models

MARGIN = 0.1


def squares(influence: pd.Series, by: list) -> float:
    """n / (n - 1) times the sum over clusters of their squared sums."""
    sums = influence.groupby(by).sum()
    return len(sums) / (len(sums) - 1) * float((sums**2).sum())


def wilson(p: float, n: float, z: float) -> list[float]:
    """The roots of (p - x)^2 = z^2 x (1 - x) / n, or the ends where p is one of them."""
    return sorted(np.roots([1 + z**2 / n, -(2 * p + z**2 / n), p**2]).real)


def ends(p: tuple, n: tuple, r: float, z: float) -> tuple[float, float]:
    """Newcombe's interval with a correlation, as Zou and Donner (2008) write it."""
    (low1, high1), (low2, high2) = (wilson(*one, z) for one in zip(p, n, strict=True))

    def apart(one: float, two: float) -> float:
        return sqrt(max(one**2 - 2 * r * one * two + two**2, 0))

    difference = p[0] - p[1]
    return (
        difference - apart(p[0] - low1, high2 - p[1]),
        difference + apart(high1 - p[0], p[1] - low2),
    )


def p_beyond(p: tuple, n: tuple, r: float, freedom: float, value: float, side: int) -> float:
    """One-sided: Student's p of the interval whose lower (0) or upper (1) end is the value."""
    distance = (p[0] - p[1] - value) * (1 - 2 * side)
    if distance <= 0:
        return 0.5
    z = brentq(lambda z: ends(p, n, r, z)[side] - value, 1e-9, 90)
    return float(student.sf(z, freedom))


def expected(p: tuple, n: tuple, r: float, freedom: float, margin: float) -> dict[str, float]:
    low, high = ends(p, n, r, student.ppf(0.975, freedom))
    no_more, no_less = (p_beyond(p, n, r, freedom, 0, side) for side in (0, 1))
    within = (p_beyond(p, n, r, freedom, -margin, 0), p_beyond(p, n, r, freedom, margin, 1))
    return {
        "difference": p[0] - p[1],
        "low": low,
        "high": high,
        "p": min(1, 2 * min(no_more, no_less)),
        "margin": margin,
        "p_equivalence": max(within),
    }


def study(people: int, frames: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Uneven judgments of frames of two items, and a model's decisions on them."""
    rng = np.random.default_rng(seed)
    person, item = np.divmod(np.arange(people * frames * 2), frames * 2)
    kept = rng.random(len(person)) < 0.8
    person, item = person[kept], item[kept]
    level = rng.normal(0, 1, people)[person] + rng.normal(0, 1, frames)[item // 2]
    judged = pd.DataFrame(
        {
            "participant": person.astype(str),
            "item_id": item.astype(str),
            "frame": item // 2,
            "construction": np.where(item // 2 % 2, "b", "a"),
            "condition": np.where(item % 2, "odd", "even"),
            "chose_good": level + rng.normal(1, 1, len(person)) > 0,
        }
    )
    items = np.arange(frames * 2)
    right = (rng.random(frames * 2) < 0.55).astype(float)
    return judged, pd.DataFrame({"item_id": items.astype(str), "correct": right})


def of_people(rows: pd.DataFrame, model: pd.DataFrame, known: bool) -> dict[str, float]:
    own = rows["chose_good"].astype(float)
    theirs = rows["item_id"].map(model.set_index("item_id")["correct"])
    p = own.mean(), theirs.mean()
    influence = [(one - one.mean()) / len(rows) for one in (own, theirs)]
    people, units = rows["participant"], rows["frame"]
    n_people, n_units = people.nunique(), units.nunique()
    of_items = squares(influence[0], [units])
    if known:
        by_person, cells = squares(influence[0], [people]), squares(influence[0], [people, units])
        own_variance = max(by_person + of_items - cells, by_person, of_items)
    else:
        own_variance = of_items
    variance = own_variance, squares(influence[1], [units])
    n = tuple(share * (1 - share) / one for share, one in zip(p, variance, strict=True))
    sums = [one.groupby(units).sum() for one in influence]
    covariance = float((sums[0] * sums[1]).sum()) * n_units / (n_units - 1)
    fewer = min(n_people, n_units) if known else n_units
    margin = float(np.clip(1 - max(p), MARGIN / 5, MARGIN))
    return expected(p, n, covariance / sqrt(variance[0] * variance[1]), fewer - 1, margin)


@pytest.mark.parametrize(
    ("people", "frames", "known"), [(30, 8, True), (7, 20, True), (12, 12, True), (9, 14, False)]
)
def test_people_minus_a_model_is_what_the_formulas_give(people, frames, known):
    judged, model = study(people, frames, 4)
    asked = judged if known else judged.assign(participant=None)
    found = people_against_models(asked, {"m": model}, ["construction"], MARGIN)
    found = found.set_index("construction")
    for name in ("", "a", "b"):
        rows = judged[judged["construction"].str.startswith(name)]
        own = found.loc[name]
        for key, value in of_people(rows, model, known).items():
            if frames // 2 >= 5 or name == "" or key in ("difference", "margin"):
                assert own[key] == pytest.approx(value, rel=1e-6, abs=1e-9), (name, key)
        assert own["n_judgments"] == len(rows)
        assert own["n_frames"] == rows["frame"].nunique()
        assert own["n_participants"] == (rows["participant"].nunique() if known else 0)


def test_a_frame_in_two_conditions_counts_in_each():
    judged, model = study(30, 8, 4)
    found = people_against_models(judged, {"m": model}, ["condition"], MARGIN)
    for name in ("odd", "even"):
        [row] = found[found["condition"] == name].to_dict("records")
        for key, value in of_people(judged[judged["condition"] == name], model, True).items():
            assert row[key] == pytest.approx(value, rel=1e-6, abs=1e-9), (name, key)
        assert (row["n_frames"], row["n_items"]) == (8, 8)


def test_where_everybody_is_always_right_clusters_count_as_judgments():
    judged, model = study(9, 12, 5)
    right, always = judged.assign(chose_good=True), model.assign(correct=1.0)
    found = people_against_models(right, {"m": always}, ["construction"], MARGIN).iloc[0]
    wanted = expected((1.0, 1.0), (9, 12), 0.0, 8, MARGIN / 5)
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value, rel=1e-5, abs=1e-6), key


def of_models(one: np.ndarray, two: np.ndarray, unit: np.ndarray) -> dict[str, float]:
    p = one.mean(), two.mean()
    influence = [pd.Series((own - own.mean()) / len(own)) for own in (one, two)]
    variance = [squares(own, [unit]) for own in influence]
    n = tuple(share * (1 - share) / v for share, v in zip(p, variance, strict=True))
    sums = [own.groupby(unit).sum() for own in influence]
    clusters = len(sums[0])
    covariance = float((sums[0] * sums[1]).sum()) * clusters / (clusters - 1)
    margin = float(np.clip(1 - max(p), MARGIN / 5, MARGIN))
    return expected(p, n, covariance / sqrt(variance[0] * variance[1]), clusters - 1, margin)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("unit", ["item", "frame", "paradigm"])
def test_two_models_are_what_the_formulas_give(unit, turned):
    rng = np.random.default_rng(6)
    items = np.arange(96)
    rows = pd.DataFrame({"item_id": items.astype(str), "paradigm": (items // 12).astype(str)})
    easy = rng.normal(0, 1, 32)[items // 3]
    right = [(easy + rng.normal(at, 1, 96) > 0).astype(float) for at in (1, 0.4)]
    right = right[::-1] if turned else right
    models = {name: rows.assign(correct=one) for name, one in zip("xy", right, strict=True)}
    if unit == "frame":
        models = {name: one.assign(frame=items // 3) for name, one in models.items()}
    found = models_against_models(models, "paradigm", MARGIN, clustered=unit == "paradigm")
    of = {"item": items, "frame": items // 3, "paradigm": items // 12}[unit]
    for key, value in of_models(*right, of).items():
        assert found.loc[0, key] == pytest.approx(value, rel=1e-6, abs=1e-9), key
    assert found.loc[0, "only_first"] == (right[0] > right[1]).sum()
    assert found.loc[0, "only_second"] == (right[1] > right[0]).sum()
    # A paradigm of its own is compared over its items.
    of_one = {name: one[items // 12 == 3] for name, one in models.items()}
    alone = models_against_models(of_one, "paradigm", MARGIN, clustered=True)
    named = found[found["paradigm"] == "3"]
    for frame in (alone[alone["paradigm"] == ""], alone[alone["paradigm"] == "3"]):
        keys = ["difference", "low", "high", "p", "p_equivalence", "n_items"]
        assert frame[keys].to_numpy() == pytest.approx(named[keys].to_numpy(), nan_ok=True)


def test_five_paradigms_have_four_degrees_of_freedom():
    shares = np.array([0.9, 0.6, 0.75, 0.75, 0.75])
    right = [(np.tile(np.arange(20), 5) < np.repeat(20 * shares, 20)).astype(float),
             np.resize([1.0, 0.0], 100)]  # fmt: skip
    rows = pd.DataFrame(
        {"item_id": np.arange(100).astype(str), "paradigm": np.repeat([*"abcde"], 20)}
    )
    models = {name: rows.assign(correct=one) for name, one in zip("xy", right, strict=True)}
    found = models_against_models(models, "paradigm", MARGIN, clustered=True).iloc[0]
    # The second one's accuracy is .5 in each.
    p, freedom = (0.75, 0.5), 4
    by_paradigm = 5 / 4 * np.sum((20 / 100 * (shares - 0.75)) ** 2)
    wanted = expected(p, (0.75 * 0.25 / by_paradigm, n_of_alike(right[1])), 0.0, freedom, MARGIN)
    for key in ("difference", "low", "high", "p", "p_equivalence"):
        assert found[key] == pytest.approx(wanted[key], rel=1e-6), key


def n_of_alike(one: np.ndarray) -> float:
    """Judgments where clusters are all alike though judgments differ: independent ones."""
    alone = len(one) / (len(one) - 1) * float(np.sum(((one - one.mean()) / len(one)) ** 2))
    return one.mean() * (1 - one.mean()) / alone


def test_of_one_item_nothing_is_said():
    one = pd.DataFrame({"item_id": ["1"], "construction": ["a"], "correct": [1]})
    found = models_against_models({"x": one, "y": one}, "construction")
    assert found["difference"].tolist() == [0, 0]
    said = found[["low", "high", "p", "p_equivalence", "p_holm", "p_fdr"]]
    assert said.isna().all(axis=None)


def test_holm_and_benjamini_hochberg_by_hand():
    p = [0.04, np.nan, 0.01, 0.011, 0.9, 0.6]
    found = add_adjusted_p(pd.DataFrame({"p": p}))
    # Sorted: .01 x 5, .011 x 4 (less, so it stays at .05), .04 x 3, .6 x 2 (at most 1), then 1.
    assert found["p_holm"].tolist() == pytest.approx([0.12, np.nan, 0.05, 0.05, 1, 1], nan_ok=True)
    # .01 x 5 / 1 and .011 x 5 / 2 = .0275: the lesser; .04 x 5 / 3; .6 x 5 / 4; .9.
    wanted = [0.04 * 5 / 3, np.nan, 0.0275, 0.0275, 0.9, 0.75]
    assert found["p_fdr"].tolist() == pytest.approx(wanted, nan_ok=True)
    nothing = add_adjusted_p(pd.DataFrame({"p": [np.nan]}))
    assert nothing[["p_holm", "p_fdr"]].isna().all(axis=None)
