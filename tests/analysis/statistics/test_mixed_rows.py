import pandas as pd

from analysis.data.join import decisions, judgments
from analysis.data.load import load_run, load_scores
from analysis.statistics.mixed_model_rows import choice_rows, clusters, design_levels


def test_choices_hold_people_and_models_on_the_judged_items(export, scores):
    chosen = {"5-gram": decisions(load_scores(scores))}
    rows = choice_rows(judgments(load_run(export)), chosen)
    assert rows.groupby("judge", observed=True).size().to_dict() == {"people": 8, "5-gram": 4}
    assert rows["judge"].cat.categories.tolist() == ["people", "5-gram"]
    assert clusters(rows).to_dict("records") == [{"participants": 2, "items": 2}]


def test_levels_are_those_that_occur_in_the_order_of_a_design():
    assert design_levels(pd.Series(["b", "a", "b"])) == ["a", "b"]
    column = pd.Series(pd.Categorical(["b", "a"], ["c", "b", "a"]))
    assert design_levels(column) == ["b", "a"]


def test_choices_have_the_items_own_columns_by_their_headers_where_these_are_free(export, scores):
    judged = judgments(load_run(export))
    judged = judged.assign(own_length=judged["item_id"].cat.codes, own_position="late")
    rows = choice_rows(judged, {"5-gram": decisions(load_scores(scores))})
    assert (rows["length"] == rows["own_length"]).all()
    assert rows.groupby("item_id")["length"].nunique().eq(1).all()
    assert set(rows["own_position"]) == {"late"}
    assert set(rows["position"].dropna()) == {1, 2, 3, 4}
