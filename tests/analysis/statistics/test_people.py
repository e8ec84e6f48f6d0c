import numpy as np
import pandas as pd
import pytest

from analysis.statistics import people


def session(n_people=10, n_trials=12, seed=1):
    """Everybody is right when the expected option stands first, and on every other trial else."""
    rng = np.random.default_rng(seed)
    person, trial = np.divmod(np.arange(n_people * n_trials), n_trials)
    good_first = rng.random(len(person)) < 0.5
    right = good_first | (trial % 2 == 0)
    sides = np.array(["first", "second"])
    good = np.where(good_first, 0, 1)
    return pd.DataFrame(
        {
            "participant": person.astype(str),
            "list": 0,
            "position": trial + 1,
            "item_id": trial.astype(str),
            "good_side": sides[good],
            "chosen_side": sides[np.where(right, good, 1 - good)],
            "chose_good": right,
            "rt_ms": 1000.0 + 10 * trial,
            "input_method": np.where(person % 2 == 0, "key", "touch"),
        }
    )


def rng():
    return np.random.default_rng(1)


def test_each_participant_has_accuracy_speed_and_leaning():
    frame = session()
    found = people.participants(frame).set_index("participant")
    mine = frame[frame["participant"] == "3"]
    assert found.loc["3", "accuracy"] == mine["chose_good"].mean()
    assert found.loc["3", "rt_median_ms"] == mine["rt_ms"].median()
    assert found.loc["3", "share_first"] == (mine["chosen_side"] == "first").mean()
    assert found.loc["3", "n_judgments"] == 12


def test_distributions_over_participants():
    found = people.distributions(people.participants(session())).set_index("measure")
    assert found.loc["rt_median_ms", ["n", "median", "sd"]].tolist() == [10, 1055.0, 0.0]
    assert found.loc["accuracy", "min"] <= found.loc["accuracy", "q25"]


def test_leaning_to_the_first_side_shows():
    found = people.summarise_side_bias(session(n_people=40)).set_index("measure")
    assert found.loc["accuracy_first", "estimate"] == 1.0
    assert found.loc["share_first", "low"] > 0.5
    difference = found.loc["accuracy_first", "estimate"] - found.loc["accuracy_second", "estimate"]
    assert found.loc["difference", "estimate"] == pytest.approx(difference)
    assert found.loc["difference", "low"] > 0


def test_a_study_that_always_shows_the_expected_option_first_has_no_difference():
    frame = session().assign(good_side="first")
    found = people.summarise_side_bias(frame).set_index("measure")
    assert "accuracy_second" not in found.index
    assert np.isnan(found["estimate"].get("difference", np.nan))


def test_blocks_cover_the_session_in_order():
    found = people.learning(session())
    assert found["first"].tolist() == [1, 3, 5, 7, 9, 11]
    assert found["last"].tolist() == [2, 4, 6, 8, 10, 12]
    assert found["rt_median_ms"].is_monotonic_increasing
    assert found["n_judgments"].sum() == 120


def test_learning_is_the_second_half_minus_the_first():
    frame = session().assign(chose_good=lambda rows: rows["position"] > 3)
    [found] = people.learning_effect(frame).to_dict("records")
    assert found["difference"] == pytest.approx(0.5)
    assert found["low"] <= found["difference"] <= found["high"]


def test_fifths_are_of_each_participants_own_times():
    frame = session(n_trials=10)
    slow = frame["participant"] == "0"
    found = people.speed_accuracy(frame.assign(rt_ms=frame["rt_ms"] + 9000 * slow))
    assert found["quintile"].tolist() == [1, 2, 3, 4, 5]
    assert found["n_judgments"].tolist() == [20] * 5


def test_without_times_or_ways_nothing_is_claimed():
    frame = session().assign(rt_ms=np.nan, input_method=None)
    assert people.speed_accuracy(frame).empty
    assert people.ways_of_answering(frame).empty
    of_people = people.participants(frame)
    assert people.speed_across_people(of_people)["spearman"].isna().all()


def test_ways_of_answering_are_counted_apart():
    found = people.ways_of_answering(session()).set_index("input_method")
    assert found["n_judgments"].to_dict() == {"key": 60, "touch": 60}
