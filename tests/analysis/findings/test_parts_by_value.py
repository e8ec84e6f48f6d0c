"""Parts of findings that choose rows, columns and models, on tables of a few rows."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.findings import comparisons, ratings, surprisal, yes_no
from analysis.findings.design import _missing_conditions
from experiment.comparisons.contrast import MODELS, JudgeDifference

DECISIONS = {name: pd.DataFrame({"tie": tie}) for name, tie in
             {"a": [True, False], "tied": [True, True], "b": [False, False]}.items()}  # fmt: skip


@pytest.mark.parametrize(("second", "expected"), [(MODELS, ["a", "b"]), ("b", ["b"]), (None, [""])])
def test_a_comparison_with_models_is_answered_for_each_that_chooses(second, expected):
    compared = JudgeDifference("people", second) if second else object()
    inputs = SimpleNamespace(data=SimpleNamespace(decisions=DECISIONS))
    assert comparisons._judges(inputs, SimpleNamespace(compared=compared)) == expected


@pytest.mark.parametrize(
    ("constructions", "shown"),
    [
        (["", "x"], ["x"]),
        (["", "x", "y"], ["", "x", "y"]),
        (["x", "y"], ["x", "y"]),
        (["x"], ["x"]),
    ],
)
def test_a_row_of_all_items_is_shown_unless_it_repeats_the_only_construction(constructions, shown):
    context = SimpleNamespace(
        by_construction=lambda frame: frame, table=lambda *given: given[3]["construction"].tolist()
    )
    frame = pd.DataFrame({"construction": constructions})
    assert yes_no._detection_table(frame, context, caught=False) == shown


def test_conditions_without_judgments_are_named_in_judged_constructions_alone():
    items = pd.DataFrame(
        [("target", "x", "p"), ("target", "x", "q"), ("target", "y", "p"), ("target", "y", "q"),
         ("target", "z", "p"), ("filler", "x", "r")],
        columns=["kind", "construction", "condition"],
    )  # fmt: skip
    judged = pd.DataFrame(
        [("x", "p"), ("x", "p"), ("y", "p"), ("y", "q")], columns=["construction", "condition"]
    )
    inputs = SimpleNamespace(
        run=SimpleNamespace(items=items), data=SimpleNamespace(judgments=judged)
    )
    assert list(_missing_conditions(inputs, {"x": "Extraction"})) == [
        "Extraction: no judgments are left in q."
    ]


def test_a_models_mean_of_a_condition_is_over_items_however_often_each_was_rated():
    rated = pd.DataFrame(
        {"construction": "x", "condition": ["p", "p", "p", "q"], "item_id": ["1", "1", "2", "3"]}
    )
    differences = pd.Series({"1": 1.0, "2": 4.0, "3": -1.0})
    means = ratings._mean_by_condition(differences, rated, "m").set_index("condition")
    assert means["model m"].to_dict() == {"p": 2.5, "q": -1.0}


def test_measures_of_sentences_are_those_of_the_good_version(monkeypatch):
    frame = pd.DataFrame({"variant": ["good", "bad", "good"], "item_id": [1, 1, 2]})
    monkeypatch.setattr(ratings, "compute_sentence_metric", lambda *_: np.array([-1.0, -2.0, -3.0]))
    scores = SimpleNamespace(frame=frame)
    for unigram, slor in ((None, False), (scores, True)):
        measures = dict(ratings._item_measures(scores, unigram))
        assert ("slor" in measures) is slor
        assert all(values.to_dict() == {"1": -1.0, "2": -3.0} for values in measures.values())


def test_gains_are_given_in_nats_per_thousand_words():
    row = {"model": "m", "delta_loglik": 0.002, "delta_low": -0.001, "delta_high": 0.005}
    [shown] = surprisal.by_thousand_words(pd.DataFrame([row])).to_dict("records")
    gains = [shown[name] for name in ("gain", "gain_low", "gain_high")]
    assert (gains, shown["label"]) == (pytest.approx([2.0, -1.0, 5.0]), "m")


READ = pd.DataFrame({"text_id": "1:good", "position": [1, 2, 3], "read": ["The", "dog", "barks."]})
SCORED = pd.DataFrame(
    {"text_id": "1:good", "position": [1, 2, 3], "text": ["the", "dog", "barks"],
     "surprisal_bits": [1.0, 2.0, 3.0]}
)  # fmt: skip


def test_readings_are_joined_with_the_surprisal_of_the_same_words():
    joined = surprisal._join_surprisals(READ, SCORED, "m")
    # The first word of a sentence has no word before it to predict from.
    assert joined["surprisal_bits"].tolist() == [2.0, 3.0]
    with pytest.raises(AnalysisError, match=r"1 readings have no surprisal.*1:good, step 3"):
        surprisal._join_surprisals(READ, SCORED[:2], "m")
    with pytest.raises(AnalysisError, match='"dog" was read and "cat" was scored: 1:good, step 2'):
        surprisal._join_surprisals(READ, SCORED.replace("dog", "cat"), "m")
