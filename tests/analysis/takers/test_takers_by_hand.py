"""What takers' answers depend on, counted by hand or computed once more from the formulas."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from analysis.statistics.paired import add_adjusted_p, people_against_models
from analysis.takers.by_reading import (
    compare_by_elicitation,
    estimate_first_place_shares,
    estimate_history_effects,
    measure_consistency,
    measure_first_place_bias,
)
from analysis.takers.conclusions import count_supporting_readings

KEYS = {"model": "m", "reading": "choice", "context": "zero_shot", "labels": "letters"}


def squares(influence: pd.Series, by: list) -> float:
    sums = influence.groupby(by).sum()
    return len(sums) / (len(sums) - 1) * float((sums**2).sum()) if len(sums) > 1 else 0.0


def two_way(influence: pd.Series, person: pd.Series, unit: pd.Series) -> tuple[float, float]:
    """The variance, no less than the lesser of both ways, and the fewer clusters less one."""
    of = [squares(influence, by) for by in ([person], [unit], [person, unit])]
    several = [one.nunique() for one in (person, unit) if one.nunique() > 1]
    return max(of[0] + of[1] - of[2], min(of[:2])), min(several) - 1


def wilson(p: float, n: float, z: float) -> list[float]:
    return sorted(np.roots([1 + z**2 / n, -(2 * p + z**2 / n), p**2]).real)


def trials(sessions: int, items: int, chance: float, seed: int = 1, **more: str) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    session, item = np.divmod(np.arange(sessions * items), items)
    rows = pd.DataFrame({"session": session, "item_id": item.astype(str), "frame": item // 2})
    rows = rows.assign(order="listed", construction="x", **(KEYS | more))
    easy = rng.normal(0, 0.3, items)[item] + rng.normal(0, 0.2, sessions)[session]
    return rows.assign(chose_good=(rng.random(len(rows)) < chance + easy).astype(float))


@pytest.mark.parametrize(("sessions", "items"), [(6, 24), (15, 12), (2, 24)])
def test_a_context_minus_none_has_the_clustered_interval_of_its_changes(sessions, items):
    plain = trials(sessions, items, 0.5)
    told = trials(sessions, items, 0.7, 2, context="history")
    other = trials(sessions, items, 0.9, 3, context="", labels="numbers")
    unread = plain.assign(chose_good=np.nan)
    [row] = estimate_history_effects(pd.concat([plain, told, other, unread])).to_dict("records")
    changes = told["chose_good"] - plain["chose_good"]
    influence = (changes - changes.mean()) / len(changes)
    variance, freedom = two_way(influence, plain["session"], plain["frame"])
    half = student.ppf(0.975, freedom) * sqrt(variance)
    mean = changes.mean()
    assert row["difference"] == pytest.approx(mean)
    ends = max(mean - half, -1), min(mean + half, 1)
    assert (row["low"], row["high"]) == pytest.approx(ends)
    assert row["p"] == pytest.approx(2 * student.sf(abs(mean) / sqrt(variance), freedom))
    assert row["n_items"] == items
    [back] = estimate_history_effects(
        pd.concat([plain.assign(context="history"), told.assign(context="zero_shot")])
    ).to_dict("records")
    assert (back["low"], back["high"]) == pytest.approx((-row["high"], -row["low"]))


def test_where_a_context_changes_nothing_the_interval_is_that_of_all_items():
    plain = trials(6, 24, 0.5)
    plain["construction"] = np.where(plain["frame"] % 3, "x", "y")
    [row] = estimate_history_effects(pd.concat([plain, plain.assign(context="history")])).to_dict(
        "records"
    )
    model = plain.groupby("item_id", sort=False)["chose_good"].mean().rename("correct")
    judged_ = plain.assign(participant=plain["session"].astype(str))
    whole = people_against_models(judged_, {"m": model.reset_index()}, ["construction"]).iloc[0]
    for name in ("difference", "low", "high", "p"):
        assert row[name] == pytest.approx(whole[name])
    assert whole["construction"] == "" and row["low"] < 0 < row["high"]


def places(seed: int, bias: float, sessions: int = 7, items: int = 20) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    session, item = np.divmod(np.arange(sessions * items), items)
    good_first = (session + item) % 2 == 0
    first = rng.random(len(item)) < np.where(good_first, 0.5 + bias, 0.1 + bias)
    rows = pd.DataFrame({"participant": session, "item_id": item, "frame": item // 2})
    return rows.assign(first=first, good_first=good_first, **KEYS)


def leans(rows: pd.DataFrame) -> tuple[float, float, float]:
    means = rows.groupby("good_first")["first"].mean()
    sizes = rows.groupby("good_first")["first"].size()
    estimate = means.mean()
    distance = rows["first"] - rows["good_first"].map(means)
    influence = distance / (rows["good_first"].map(sizes) * len(means))
    variance, freedom = two_way(influence.astype(float), rows["participant"], rows["frame"])
    low, high = wilson(estimate, estimate * (1 - estimate) / variance, student.ppf(0.975, freedom))
    return estimate, low, high


def test_a_share_of_first_places_is_a_mean_of_sides_with_clusters():
    groups = {
        "letters": places(1, 0.2).drop(index=range(9)),
        "numbers": places(2, 0.1),
        "one side": places(3, 0.3)[lambda rows: ~rows["good_first"]],
    }
    together = pd.concat([own.assign(labels=name) for name, own in groups.items()])
    found = estimate_first_place_shares(together).set_index("labels")
    for name, own in groups.items():
        row = found.loc[name]
        assert tuple(row[["estimate", "low", "high"]]) == pytest.approx(leans(own)), name
        assert row["n"] == len(own)


@pytest.mark.parametrize("always", ["first", "good"])
def test_where_nothing_varies_each_sides_fewer_clusters_were_asked_once(always):
    rows = places(1, 0.2, 5, 24)
    # On one side five people saw two frames, on the other twelve frames.
    rows = rows[rows["good_first"] | (rows["frame"] < 2)]
    rows = rows.assign(first=True if always == "first" else rows["good_first"])
    row = estimate_first_place_shares(rows).iloc[0]
    z = 1.959964
    of_good, of_other = (wilson(1.0, 5, z), wilson(1.0, 2, z))
    if always == "good":
        of_other = wilson(0.0, 2, z)
    share = 1.0 if always == "first" else 0.5
    other = 1.0 if always == "first" else 0.0
    below = sqrt((1 - of_good[0]) ** 2 + (other - of_other[0]) ** 2) / 2
    above = sqrt((of_good[1] - 1) ** 2 + (of_other[1] - other) ** 2) / 2
    assert row["estimate"] == share
    assert (row["low"], row["high"]) == pytest.approx((share - below, share + above), abs=1e-6)
    one = estimate_first_place_shares(rows[rows["good_first"]]).iloc[0]
    assert (one["low"], one["high"]) == pytest.approx(tuple(of_good), abs=1e-6)


def test_places_are_those_that_the_taker_saw_and_all_labels_come_together():
    rows = pd.DataFrame(
        {
            "order": ["listed", "swapped", "swapped", "listed", "listed"],
            "labels": ["letters", "letters", "numbers", "", "letters"],
            "good_side": ["first", "first", "second", "first", "first"],
            "chosen_side": ["first", "first", "second", "second", None],
            "session": [0, 0, 1, 1, 1],
            "item_id": [*"abcde"],
        }
    ).assign(model="m", reading="r", context="c")
    nobody = rows.iloc[:2].assign(participant=["p", "q"], chosen_side=["first", "first"])
    nobody = nobody.drop(columns=["model", "reading", "context", "labels", "order", "session"])
    found = measure_first_place_bias(rows, nobody).set_index("labels")
    # letters: listed first stays first, swapped first is seen second; numbers: second, so first.
    assert found.loc["letters", "estimate"] == 0.5
    assert found.loc["numbers", "estimate"] == 1
    assert found.loc["letters", "n"] == 2 and found.loc["all", "n"] == 3
    assert found["judge"].tolist() == ["m", "m", "m", "m", "people"]
    assert found["estimate"].iloc[-1] == 1


def taken(rights: dict[str, list[float]], reading: str = "r") -> pd.DataFrame:
    rows = [
        {"model": "m", "reading": reading, "participant": f"s{n}", "session": n, "item_id": item,
         "construction": "x", "chose_good": right, "context": "", "labels": "l", "order": "o"}
        for item, own in rights.items()
        for n, right in enumerate(own)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_pairs_of_answers_that_agree_are_counted():
    answers = taken({"a": [1, 1, 0, 1], "b": [0, 0, 0, np.nan], "c": [1]})
    more = taken({"a": [0, 0], "b": [0]}, "t")
    people = pd.DataFrame({"item_id": [*"aaabb"], "chose_good": [True, True, False, True, True]})
    found = measure_consistency(pd.concat([answers, more]), people).set_index(
        ["reading", "between"]
    )
    # Sessions of r: of a six pairs, three alike; of b three, all alike; of t one of a.
    assert found.loc[("r", "sessions"), ["agreement", "n_pairs"]].tolist() == [6 / 9, 9]
    assert found.loc[("t", "sessions"), ["agreement", "n_pairs"]].tolist() == [1, 1]
    # Readings by their majorities: a 1 against 0, b 0 and 0.
    assert found.loc[("", "readings"), ["agreement", "n_pairs"]].tolist() == [0.5, 2]
    # People: of a one pair of three, of b one of one.
    assert found.loc[("", "people"), ["agreement", "n_pairs"]].tolist() == [0.5, 4]
    # One answer in each order and with each set of labels makes no pair.
    assert {name for _, name in found.index} == {"sessions", "readings", "people"}


def judged(seed: int, people: int = 9, items: int = 40) -> pd.DataFrame:
    person, item = np.divmod(np.arange(people * items), items)
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"participant": person.astype(str), "item_id": item.astype(str), "construction": "x",
         "chose_good": rng.random(len(item)) < 0.8}
    )  # fmt: skip


def test_people_minus_a_model_in_each_reading_are_corrected_together():
    people, rng = judged(1), np.random.default_rng(2)

    def answers(reading: str, chance: float, items: int) -> pd.DataFrame:
        rights = {str(n): list((rng.random(4) < chance).astype(float)) for n in range(items)}
        rights["0"][1] = np.nan
        return taken(rights, reading)

    good, poor = answers("one", 0.7, 40), answers("two", 0.4, 30)
    none = good.assign(reading="none", chose_good=np.nan)
    found = compare_by_elicitation(people, pd.concat([good, poor, none]), 0.1)
    assert found["reading"].tolist() == ["one", "one", "two", "two"]
    for reading, own, items in (("one", good, 40), ("two", poor, 30)):
        means = own.groupby("item_id", sort=False)["chose_good"].mean().rename("correct")
        both = people[people["item_id"].astype(int) < items]
        alone = people_against_models(both, {"m": means.reset_index()}, ["construction"], 0.1)
        rows = found[found["reading"] == reading]
        for name in ("difference", "low", "high", "p"):
            assert rows[name].tolist() == pytest.approx(alone[name].tolist())
        assert rows["n_left_out"].tolist() == [40 - items] * 2
        assert rows["unread"].tolist() == [1 / (4 * items)] * 2
        assert rows["n_sittings"].tolist() == [4, 4]
        assert (rows["model_low"] < rows["accuracy"]).all()
    holm = add_adjusted_p(found.drop(columns=["p_holm", "p_fdr"]))["p_holm"]
    assert found["p_holm"].tolist() == pytest.approx(holm.tolist())


def test_conclusions_count_readings_on_either_side():
    found = pd.DataFrame(
        {
            "model": ["m"] * 4 + ["n"] * 2,
            "construction": "x",
            "reading": ["a", "b", "c", "d", "a", "b"],
            "accuracy": [0.9, 0.6, 0.5, 0.2, 0.8, 0.6],
            "model_low": [0.8, 0.5, 0.4, 0.1, 0.7, 0.51],
            "model_high": [0.95, 0.7, 0.5, 0.3, 0.9, 0.7],
            "low": [-0.3, 0.0, 0.1, 0.2, -0.1, -0.1],
            "high": [-0.1, 0.2, 0.3, 0.6, 0.0, 0.2],
            "p_holm": [0.05, 1.0, 0.05, 0.01, 1.0, 1.0],
        }
    )
    attraction = pd.DataFrame(
        {"model": "m", "construction": "x", "reading": [*"abcd"], "low": [0.1, 0.0, -0.2, -0.2],
         "high": [0.3, 0.2, -0.1, 0.0]}
    )  # fmt: skip
    told = count_supporting_readings(found, 0.5, attraction).set_index(["model", "conclusion"])

    def counts(name: str, model: str = "m") -> list:
        return told.loc[(model, name), ["holds", "opposite", "n_readings", "readings"]].tolist()

    assert counts("better than chance") == [1, 1, 4, "a"]
    assert counts("better than chance", "n") == [2, 0, 2, "a, b"]
    assert counts("people better") == [2, 1, 4, "c, d"]
    assert counts("people better", "n") == [0, 0, 2, ""]
    assert counts("people better, Holm") == [1, 0, 4, "d"]
    assert counts("attraction: fewer right where features differ") == [1, 1, 4, "a"]
    # Of two readings that both have, one is equal.
    assert counts("more accurate than n") == [1, 0, 2, "a"]
    turned = count_supporting_readings(found.iloc[::-1], 0.5).set_index(["model", "conclusion"])
    row = turned.loc[("n", "more accurate than m")]
    assert row[["holds", "opposite", "n_readings"]].tolist() == [0, 1, 2]


def test_one_pair_of_answers_has_an_agreement_and_a_single_answer_has_none():
    answers = pd.DataFrame(
        [
            {**KEYS, "reading": reading, "order": "listed", "session": 1, "item_id": "i",
             "chose_good": right}
            for reading, right in (("one", 1.0), ("two", 0.0))
        ]
    )  # fmt: skip
    people = pd.DataFrame({"item_id": ["i"], "chose_good": [True]})
    [row] = measure_consistency(answers, people).to_dict("records")
    assert (row["between"], row["agreement"], row["n_pairs"]) == ("readings", 0.0, 1)
