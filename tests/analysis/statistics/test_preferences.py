import numpy as np
import pandas as pd

from analysis.data.join import decisions, judgments
from analysis.data.load import load_run, load_scores
from analysis.statistics.agreement import add_model_preferences, preferences


def test_people_are_counted_item_by_item(export):
    found = preferences(judgments(load_run(export))).set_index("item_id")
    assert found.loc["s-2", ["n_good", "n_judgments", "share_good"]].tolist() == [1, 2, 0.5]
    assert found["count_difference"].to_dict() == {"s-1": 2, "s-2": 0, "p-1": 2, "p-2": -2}


def test_the_models_difference_is_against_what_people_saw(export, scores):
    preferred = preferences(judgments(load_run(export)))
    found = add_model_preferences(preferred, decisions(load_scores(scores))).set_index("item_id")
    # p-2 was shown against the distractor (-5), not the bad version (-1).
    assert found["difference_nats"].to_dict() == {"s-1": 1.0, "s-2": -1.0, "p-1": 0.0, "p-2": 3.0}
    assert len(found) == 4


def test_impossible_versions_stay_within_the_finite_differences():
    preferred = pd.DataFrame({"item_id": list("abcd"), "share_good": 1.0})
    model = pd.DataFrame(
        {
            "item_id": list("abcd"),
            "logprob_good_nats": [-1.0, -np.inf, -1.0, -np.inf],
            "logprob_contrast_nats": [-3.0, -1.0, -np.inf, -np.inf],
            "correct": True,
        }
    )
    found = add_model_preferences(preferred, model)
    assert found["difference_nats"].tolist() == [2.0, 0.0, 2.0, 0.0]
    # The second and third items alone: nothing is finite.
    infinite = add_model_preferences(preferred[1:3], model[1:3])
    assert infinite["difference_nats"].tolist() == [0.0, 0.0]
