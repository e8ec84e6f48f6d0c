import pandas as pd

from analysis.data.join import decisions, judgments
from analysis.data.load import load_run, load_scores
from analysis.statistics.mixed_rows import choices, clusters, design_levels


def test_choices_hold_people_and_models_on_the_judged_items(export, scores):
    chosen = {"5-gram": decisions(load_scores(scores))}
    rows = choices(judgments(load_run(export)), chosen)
    assert rows.groupby("judge", observed=True).size().to_dict() == {"people": 8, "5-gram": 4}
    assert rows["judge"].cat.categories.tolist() == ["people", "5-gram"]
    assert clusters(rows).to_dict("records") == [{"participants": 2, "items": 4}]


def test_levels_are_those_that_occur_in_the_order_of_a_design():
    assert design_levels(pd.Series(["b", "a", "b"])) == ["a", "b"]
    column = pd.Series(pd.Categorical(["b", "a"], ["c", "b", "a"]))
    assert design_levels(column) == ["b", "a"]
