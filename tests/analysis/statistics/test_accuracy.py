import numpy as np
import pandas as pd
import pytest

from analysis.data.join import decisions, judgments
from analysis.data.load import load_run, load_scores
from analysis.statistics.accuracy import (
    accuracy_difference,
    accuracy_interval,
    bootstrap_accuracy,
    model_accuracy,
    people_accuracy,
)
from analysis.statistics.resample import Interval, count_cells, crossed_bootstrap

JUDGED = ["s-1", "s-2", "p-1", "p-2"]


def people(frame, *by):
    found = people_accuracy(frame, by)
    return found.set_index(list(by))


def test_peoples_accuracy_is_the_share_of_right_judgments(export):
    found = people(judgments(load_run(export)), "construction")
    assert found.loc["simple", "accuracy"] == 0.75
    assert found.loc["polarity", "accuracy"] == 0.5
    wilson = found.loc["simple", ["wilson_low", "wilson_high"]].to_list()
    assert wilson == pytest.approx([0.3006, 0.9544], abs=5e-5)  # three of four
    assert found.loc["simple", ["n_items", "n_judgments", "n_participants"]].to_list() == [2, 4, 2]
    assert set(found["judge"]) == {"people"}
    # With four judgments no interval covers what it says: there is none.
    assert found[["low", "high"]].isna().all(axis=None)


def test_peoples_accuracy_by_condition(export):
    found = people(judgments(load_run(export)), "construction", "condition")
    assert found.loc[("simple", "singular"), "accuracy"] == 1.0
    assert found.loc[("simple", "plural"), "accuracy"] == 0.5


@pytest.mark.parametrize(("right", "ends"), [(True, (0.61, 1.0)), (False, (0.0, 0.39))])
def test_where_all_judgments_agree_wilsons_interval_stands_in(right, ends):
    frame = pd.DataFrame(
        {
            "participant": [person for person in range(10) for _ in range(6)],
            "item_id": [item for _ in range(10) for item in range(6)],
            "construction": "simple",
            "chose_good": right,
        }
    )
    found = people(frame, "construction").loc["simple"]
    assert found["interval"] == "wilson"
    # Six of six (or none): the six items are fewer than the ten participants.
    assert (round(found["low"], 2), round(found["high"], 2)) == ends


@pytest.mark.parametrize(("n_people", "printed"), [(1, False), (14, False), (15, True)])
def test_fewer_than_sixty_judgments_have_no_interval(n_people, printed):
    person, item = np.divmod(np.arange(n_people * 4), 4)
    frame = pd.DataFrame({"participant": person, "item_id": item, "construction": "c"})
    found = people(frame.assign(chose_good=(person + item) % 3 > 0), "construction").loc["c"]
    assert found["n_judgments"] == 4 * n_people
    assert np.isfinite(found["accuracy"])
    assert np.isfinite([found["low"], found["high"]]).tolist() == [printed, printed]


def test_a_model_is_measured_on_the_judged_items_and_on_all(scores):
    found = model_accuracy(decisions(load_scores(scores)), "5-gram", ["construction"], JUDGED)
    found = found.set_index(["items", "construction"])
    assert found.loc[("judged", "simple"), "accuracy"] == 0.5
    assert found.loc[("all", "simple"), "accuracy"] == pytest.approx(2 / 3)
    assert found.loc[("all", "simple"), "n_items"] == 3
    assert found.loc[("judged", "polarity"), ["accuracy", "n_ties"]].to_list() == [0.5, 1]


def test_an_interval_is_wilsons_only_where_all_or_none_are_right():
    # All of n: n / (n + z^2) with z = 1.959964.
    every = accuracy_interval(np.nan, np.nan, 9, 9, 4)
    assert (every.low, every.high) == (pytest.approx(4 / (4 + 3.841459)), 1.0)
    none = accuracy_interval(np.nan, np.nan, 0, 9, 4)
    assert (none.low, none.high) == (pytest.approx(0), pytest.approx(3.841459 / (4 + 3.841459)))
    for right in (1, 8):
        assert accuracy_interval(0.2, 0.6, right, 9, 4) == Interval(0.2, 0.6, "clustered")


@pytest.mark.parametrize(("known", "clusters"), [(12, 6), (4, 4), (0, 6), (1, 1)])
def test_of_all_right_the_fewer_of_known_participants_and_frames_count(known, clusters):
    person, item = (each.ravel() for each in np.indices((12, 12)))
    rows = pd.DataFrame({"item_id": item, "frame": item // 2, "construction": "c"})
    rows = rows.assign(participant=person % known if known else np.nan, chose_good=True)
    found = people(rows, "construction").loc["c"]
    assert (found["n_participants"], found["n_frames"]) == (known, 6)
    assert found["low"] == pytest.approx(clusters / (clusters + 3.841459))


def test_items_that_weigh_alike_are_averaged_whatever_their_judgments():
    item = np.repeat([0, 1, 2], [40, 20, 10])
    rows = pd.DataFrame({"participant": np.arange(70) % 20, "item_id": item, "construction": "c"})
    rows["chose_good"] = np.arange(70) % np.array([2, 4, 5])[item] > 0
    rows["construction"] = np.arange(70) % 7  # more groups than items
    found = people_accuracy(rows, ["construction"], "items").set_index("construction")["accuracy"]
    of_items = rows.groupby(["construction", "item_id"])["chose_good"].mean()
    assert found.to_dict() == pytest.approx(of_items.groupby("construction").mean().to_dict())


def test_a_difference_is_within_one_and_needs_both_sides():
    person, item = (each.ravel() for each in np.indices((6, 12)))
    rows = pd.DataFrame({"participant": person, "item_id": item})
    first = item % 2 == 0
    for sign, side in ((first, "high"), (~first, "low")):
        chose = np.where(sign, person + item > 1, person + item < 2)
        found = accuracy_difference(rows.assign(chose_good=chose), first).iloc[0]
        assert abs(found[side]) == 1.0 and abs(found["difference"]) > 0.8
        assert np.sign(found["difference"]) == np.sign(found[side])
    for none in (first & False, first | True):
        found = accuracy_difference(rows.assign(chose_good=chose), none).iloc[0]
        assert found[["difference", "low", "high"]].isna().all() and found["n_judgments"] == 72


@pytest.mark.parametrize(("items", "printed"), [(10, True), (9, False)])
def test_a_difference_needs_fifty_judgments(items, printed):
    person, item = (each.ravel() for each in np.indices((5, items)))
    rows = pd.DataFrame({"participant": person, "item_id": item})
    rows["chose_good"] = np.random.default_rng(1).random(len(rows)) < 0.7
    found = accuracy_difference(rows, item % 2 == 0).iloc[0]
    assert np.isfinite(found[["low", "high"]].astype(float)).tolist() == [printed, printed]


def test_the_bootstraps_ends_are_the_middle_of_what_is_drawn():
    person, item = (each.ravel() for each in np.indices((6, 8)))
    rows = pd.DataFrame({"participant": person, "item_id": item, "construction": "c"})
    rows["chose_good"] = np.random.default_rng(1).random(48) < 0.7
    [found] = bootstrap_accuracy(rows, ["construction"], np.random.default_rng(2), 400).to_dict(
        "records"
    )
    counted = count_cells(rows["chose_good"], person, item, np.zeros(48, int))
    drawn = crossed_bootstrap(counted, np.random.default_rng(2), 400)
    expected = np.nanquantile(drawn, [0.025, 0.975])
    assert [found["bootstrap_low"], found["bootstrap_high"]] == pytest.approx(expected)
