"""Intervals of agreement and consistency, with each thing left out by itself.

Everything is computed again from the table of answers: for each participant, frame, and what a
participant answered of a frame, the statistic without it.
"""

from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.statistics import consistency
from analysis.statistics.agreement import agreement
from analysis.statistics.consistency import error_consistency, kappas_with_people


def answers(seed: int, people: int, items: int, *, share: float = 1.0, easy: float = 0.95):
    """Answers to frames of two items; some are missing where the share is below one."""
    rng = np.random.default_rng(seed)
    person, item = (each.ravel() for each in np.indices((people, items)))
    chance = np.linspace(0.35, easy, items)[item]
    frame = pd.DataFrame(
        {
            "participant": person.astype(str),
            "item_id": item.astype(str),
            "frame": (item // 2).astype(str),
            "construction": "c",
            "condition": "any",
            "chose_good": rng.random(len(item)) < chance,
        }
    )
    return frame[rng.random(len(item)) < share].reset_index(drop=True)


def two_way(changes: list[np.ndarray]) -> float:
    people, frames, cells = (
        (len(one) - 1) / len(one) * np.sum((one - one.mean()) ** 2) for one in changes
    )
    return max(people + frames - cells, people, frames)


def ways(frame: pd.DataFrame) -> list[np.ndarray]:
    cell = frame["participant"] + "/" + frame["frame"]
    return [one.to_numpy() for one in (frame["participant"], frame["frame"], cell)]


def log_f(value, each: float):
    ratio = 1 + each * value / (1 - np.minimum(value, 1 - 1e-6))
    return np.log(np.maximum(ratio, 1e-6))


def ends_of(value, variance: float, freedom: float, each: float):
    half = student.ppf(0.975, freedom) * sqrt(variance)
    ratio = np.exp(log_f(value, each) + np.array([-half, half]))
    return (ratio - 1) / (each - 1 + ratio)


def worth(frame: pd.DataFrame, freedom: float) -> float:
    """A quarter of the effective number of items, at least five, at most the clusters' freedom."""
    counts = frame.groupby("item_id")["chose_good"].agg(["sum", "size"])
    rarer = np.minimum(counts["sum"], counts["size"] - counts["sum"])
    return min(freedom, max(rarer.sum() ** 2 / (rarer**2).sum() / 4, 5.0))


def alpha_of(frame: pd.DataFrame) -> float:
    """One minus the share of pairs within items that differ over that of any two answers.

    A pair of an item with n answers weighs 1 / (n - 1). One where nobody chose otherwise.
    """
    item, right = frame["item_id"].astype(int), frame["chose_good"].to_numpy(dtype=float)
    n, good = np.bincount(item), np.bincount(item, right)
    n, good = n[n > 1], good[n > 1]
    whole, of_good = n.sum(), good.sum()
    if not 0 < of_good < whole:
        return 1.0
    observed = np.sum(2 * good * (n - good) / (n - 1)) / whole
    by_chance = 2 * of_good * (whole - of_good) / (whole * (whole - 1))
    return float(1 - observed / by_chance)


def one_errs(people: int) -> pd.DataFrame:
    """Everybody is right but for one participant, who errs on two frames."""
    frame = answers(1, people, 12).assign(chose_good=True)
    erred = (frame["participant"] == "0") & frame["item_id"].isin(["0", "4"])
    return frame.assign(chose_good=~erred)


@pytest.mark.parametrize(
    "frame",
    [
        answers(1, 8, 12),
        answers(2, 9, 14, share=0.6),
        answers(3, 4, 40, share=0.5),  # items with two answers, or with one, which says nothing
        answers(4, 24, 40, easy=0.7),  # worth more than five degrees of freedom
        one_errs(6),
    ],
    ids=["whole", "gaps", "pairs", "many", "one errs"],
)
def test_the_interval_of_alpha(frame):
    size = frame.groupby("item_id")["item_id"].transform("size")
    paired = frame[size > 1]
    each = len(paired) / paired["item_id"].nunique()
    value = alpha_of(frame)
    changes = [
        np.array(
            [log_f(alpha_of(paired[way != one]), each) - log_f(value, each) for one in set(way)]
        )
        for way in ways(paired)
    ]
    freedom = min(len(one) for one in changes[:2]) - 1
    found = agreement(frame).iloc[0]
    assert found["alpha"] == pytest.approx(value)
    expected = ends_of(value, two_way(changes), worth(paired, freedom), each)
    assert found[["low", "high"]].tolist() == pytest.approx(expected)


def test_the_other_columns_of_agreement():
    frame = answers(1, 4, 4)
    rights = {"0": 0, "1": 1, "2": 2, "3": 4}
    right = frame["participant"].astype(int) < frame["item_id"].map(rights)
    found = agreement(frame.assign(chose_good=right)).iloc[0]
    # None, one, two, four of four: entropies 0, .8113, 1, 0.
    assert found["entropy_bits"] == pytest.approx((0.8112781 + 1) / 4)
    assert found[["share_unanimous", "n_items", "n_judgments"]].tolist() == [0.5, 4, 16]


def kappa_of(one: np.ndarray, two: np.ndarray) -> float:
    a, b = one.mean(), two.mean()
    expected = a * b + (1 - a) * (1 - b)
    return float(((one == two).mean() - expected) / (1 - expected)) if expected < 1 else np.nan


def table_of(frame: pd.DataFrame) -> np.ndarray:
    """Return who was right on which item, NaN where not judged."""
    ids = frame["item_id"].unique(), frame["participant"].unique()
    wide = frame.astype({"chose_good": float}).pivot(
        index="participant", columns="item_id", values="chose_good"
    )
    return wide.reindex(index=ids[1], columns=ids[0]).to_numpy()


def kappas(table: np.ndarray, others, which, fewest: int) -> np.ndarray:
    found = []
    for one, two in which:
        seen = np.isfinite(table[one]) & np.isfinite(others[two])
        found.append(
            kappa_of(table[one][seen], others[two][seen]) if seen.sum() >= fewest else np.nan
        )
    return np.array(found)


def changed(whole: np.ndarray, left: list[np.ndarray], place: list) -> np.ndarray:
    """Return how the mean moves where some kappas fall away or become others, summed by place."""
    lost: dict[object, np.ndarray] = {}
    for one, where in zip(left, place, strict=True):
        gone = np.nansum(whole) - np.nansum(one), np.isfinite(whole).sum() - np.isfinite(one).sum()
        lost[where] = lost.get(where, 0) + np.array(gone)
    total, number = np.nansum(whole), np.isfinite(whole).sum()
    # Without the only pair there is no mean that could change.
    return np.array(
        [(total - a) / (number - b) - total / number if number > b else 0 for a, b in lost.values()]
    )


def jackknife(table: np.ndarray, model: np.ndarray | None, frame_of: list[int]):
    """Return kappas, and how their mean changes without each person, frame, and cell."""
    people = range(len(table))
    pairs = [(p, p) for p in people] if model is not None else list(combinations(people, 2))

    def of(own: np.ndarray, fewest: int) -> np.ndarray:
        others = own if model is None else [model] * len(own)
        return kappas(own, others, pairs, fewest)

    def without(item: int, rows) -> np.ndarray:
        less = table.copy()
        less[rows, item] = np.nan
        return np.where(np.isfinite(whole), of(less, 1), np.nan)

    whole = of(table, 2)
    persons = [np.where([person in pair for pair in pairs], np.nan, whole) for person in people]
    # Among people, an item that one alone judged says nothing.
    judges = np.isfinite(table).sum(axis=0) if model is None else np.full(table.shape[1], 2)
    told = [item for item in range(table.shape[1]) if judges[item] > 1]
    items = [without(item, slice(None)) for item in told]
    seen = [(person, item) for person, item in np.argwhere(np.isfinite(table)) if item in told]
    cells = [without(item, person) for person, item in seen]
    return whole, [
        changed(whole, persons, list(people)),
        changed(whole, items, [frame_of[item] for item in told]),
        changed(whole, cells, [(person, frame_of[item]) for person, item in seen]),
    ]


def one_pair() -> pd.DataFrame:
    """Two participants of all items, and one who shares too few with them for a kappa."""
    frame = answers(9, 3, 36)
    return frame[(frame["participant"] != "2") | (frame["item_id"] == "1")].reset_index(drop=True)


RATED = {
    "whole": answers(5, 4, 32),
    "gaps": answers(6, 5, 36, share=0.6),
    "few shared": answers(7, 4, 48, share=0.4),
    "one pair": one_pair(),
}


@pytest.mark.parametrize("frame", RATED.values(), ids=RATED.keys())
def test_the_interval_of_kappa_among_people(frame):
    table, frames = table_of(frame), frame.drop_duplicates("item_id")["frame"].astype(int).tolist()
    whole, changes = jackknife(table, None, frames)
    sizes = np.isfinite(table).sum(axis=0)
    each, value = sizes[sizes > 1].mean(), np.nanmean(whole)
    scaled = [log_f(value + one, each) - log_f(value, each) for one in changes]
    freedom = worth(frame, min(len(one) for one in changes[:2]) - 1)
    expected = ends_of(value, two_way(scaled), freedom, each)
    row = error_consistency(frame, {}, np.random.default_rng(1)).iloc[0]
    assert row["kappa"] == pytest.approx(value)
    assert row["n_pairs"] - row["n_undefined"] == np.isfinite(whole).sum()
    assert row[["low", "high"]].tolist() == pytest.approx(expected, rel=1e-6)
    right, judged = consistency._make_matrices(frame)
    pairs = consistency._people_pairs(right, judged)
    parts = consistency._changes_among_people(
        right, judged, pairs, consistency._number_frames(frame)
    )
    for own, wanted in zip(parts, changes, strict=True):
        assert np.sort(own) == pytest.approx(np.sort(wanted))


def decisions(right: np.ndarray, frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"item_id": frame["item_id"].unique(), "correct": right.astype(float)})


@pytest.mark.parametrize("frame", RATED.values(), ids=RATED.keys())
def test_the_interval_of_kappa_with_a_model(frame, monkeypatch):
    monkeypatch.setattr(consistency, "_JUDGMENTS_AT_A_TIME", 7)
    table, frames = table_of(frame), frame.drop_duplicates("item_id")["frame"].astype(int).tolist()
    right = np.random.default_rng(8).random(table.shape[1]) < 0.6
    whole, changes = jackknife(table, right.astype(float), frames)
    value, error = np.nanmean(whole), sqrt(two_way(changes))
    freedom = worth(frame, min(len(one) for one in changes[:2]) - 1)
    half = student.ppf(0.975, freedom) * error
    told = {"m": decisions(right, frame)}
    row = error_consistency(frame, told, np.random.default_rng(1)).iloc[1]
    assert row["kappa"] == pytest.approx(value)
    assert row[["low", "high"]].tolist() == pytest.approx(
        [max(value - half, -1), min(value + half, 1)]
    )
    parts = consistency._changes_with_model(
        *consistency._make_matrices(frame), right.astype(float), consistency._number_frames(frame)
    )
    for own, wanted in zip(parts, changes, strict=True):
        assert np.sort(own) == pytest.approx(np.sort(wanted))
    assert row["p"] == pytest.approx(2 * student.sf(abs(value) / error, freedom))
    assert kappas_with_people(frame, told)["kappa"].tolist() == pytest.approx([value])
