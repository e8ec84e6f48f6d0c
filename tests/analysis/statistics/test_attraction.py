import numpy as np
import pandas as pd
import pytest

from analysis.statistics.attraction import (
    attraction,
    attraction_by_configuration,
    attraction_by_elicitation,
    configurations,
    feature_columns,
)
from analysis.takers.by_reading import compare_by_elicitation
from analysis.takers.conclusions import count_supporting_readings

ITEMS = pd.DataFrame(
    {
        "item_id": ["1", "2", "3", "4", "5", "6"],
        "construction": ["across"] * 4 + ["simple"] * 2,
        "features": [
            "main=singular animacy=animate embedded=singular",
            "main=singular animacy=inanimate embedded=plural",
            "main=plural animacy=animate embedded=singular",
            "main=plural animacy=inanimate embedded=plural",
            "main=singular",
            "main=plural",
        ],
    }
)


def test_features_become_columns():
    columns = feature_columns(ITEMS)
    assert columns["animacy"].tolist()[:2] == ["animate", "inanimate"]
    assert columns["embedded"].isna().tolist() == [False] * 4 + [True] * 2


def test_a_value_may_hold_the_sign_that_names_it():
    found = feature_columns(pd.DataFrame({"features": ["role=a=b case", "role=c"]}))
    assert found.to_dict("list") == {"role": ["a=b", "c"]}


def test_features_with_the_same_values_are_compared_and_others_not():
    found = configurations(ITEMS)
    assert found["item_id"].tolist() == ["1", "2", "3", "4"]
    assert found["configuration"].tolist()[:2] == ["singular / singular", "singular / plural"]
    assert found["agreement"].tolist() == ["match", "mismatch", "mismatch", "match"]


@pytest.mark.parametrize(
    "features", ["main=singular other=plural", "main=singular other=singular", "", "note"]
)
def test_features_that_do_not_vary_cannot_be_compared(features):
    assert configurations(ITEMS.assign(features=features)).empty


def test_mismatch_lowers_accuracy_by_the_effect():
    judgments = pd.DataFrame(
        {
            "participant": [f"{one}{copy}" for copy in range(10) for one in "ab" * 4],
            "item_id": [item + copy for copy in ("", "b") * 5 for item in "1234" for _ in range(2)],
            "construction": "across",
            "chose_good": [True, True, True, False, False, False, True, True] * 10,
        }
    )
    decisions = pd.DataFrame(
        {
            "item_id": ["1", "2", "3", "4", "1b", "2b", "3b", "4b", "9"],
            "construction": "across",
            "correct": [False, True, False, True, True, False, False, True, True],
            "tie": False,
        }
    )
    again = ITEMS.assign(item_id=ITEMS["item_id"] + "b")
    tables = (judgments, {"lstm": decisions}, configurations(pd.concat([ITEMS, again])))
    accuracies = attraction_by_configuration(*tables)
    effects = attraction(*tables)
    effect = effects.set_index("judge")["effect"]
    assert effect["people"] == pytest.approx(1 - 0.25)
    assert effect["lstm"] == 3 / 4 - 1 / 4
    people = accuracies[accuracies["judge"] == "people"].set_index("configuration")["accuracy"]
    assert people["singular / plural"] == 0.5
    low, high = effects.loc[0, ["low", "high"]]
    assert low <= 0.75 <= high
    # Eight judgments have no interval, nor have eighty of four items.
    of_four = judgments.assign(item_id=judgments["item_id"].str[:1])
    for few in (judgments.iloc[:8], of_four):
        found = attraction(few, *tables[1:])
        assert found.loc[0, "effect"] == pytest.approx(0.75)
        assert found.loc[0, ["low", "high"]].isna().all()


def answers(reading: str, right_where_mismatched: float, seed: int) -> pd.DataFrame:
    """A taker's answers to many items of two configurations, right in .9 of matching ones."""
    rng = np.random.default_rng(seed)
    n = 60
    return pd.DataFrame(
        {
            "model": "toy",
            "reading": reading,
            "participant": np.repeat([f"{reading}{one}" for one in range(8)], n),
            "session": np.repeat(range(8), n),
            "item_id": np.tile([f"i{one}" for one in range(n)], 8),
            "construction": "across",
            "chose_good": (
                rng.random(8 * n)
                < np.tile(np.where(np.arange(n) % 2, right_where_mismatched, 0.9), 8)
            ).astype(float),
        }
    )


def test_attraction_holds_in_the_readings_in_which_it_was_planted():
    features = ["main=singular embedded=singular", "main=singular embedded=plural"] * 30
    features[0] = "main=plural embedded=plural"
    items = pd.DataFrame(
        {"item_id": [f"i{n}" for n in range(60)], "construction": "across", "features": features}
    )
    taken = pd.concat([answers("sentence", 0.5, 1), answers("forced_choice", 0.9, 2)])
    effects = attraction_by_elicitation(taken, configurations(items))
    assert effects.set_index("reading")["effect"].to_dict() == pytest.approx(
        {"sentence": 0.4, "forced_choice": 0.0}, abs=0.1
    )
    people = answers("people", 0.8, 3).astype({"chose_good": bool})
    held = count_supporting_readings(compare_by_elicitation(people, taken, 0.1), 0.5, effects)
    row = held[held["conclusion"].str.startswith("attraction")]
    assert row[["holds", "opposite", "n_readings", "readings"]].values.tolist() == [
        [1, 0, 2, "sentence"]
    ]


def test_items_without_features_of_one_kind_show_no_attraction():
    none = configurations(ITEMS.assign(features="main=singular"))
    assert attraction_by_elicitation(answers("sentence", 0.5, 1), none).empty
