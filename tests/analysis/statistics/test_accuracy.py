import numpy as np
import pandas as pd
import pytest

from analysis.data.join import decisions, judgments
from analysis.data.load import load_run, load_scores
from analysis.statistics.accuracy import model_accuracy, people_accuracy

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
