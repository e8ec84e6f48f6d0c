"""The item map of a report."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from analysis.data.load import load_run, load_scores
from analysis.findings.finding import ComparisonOptions
from analysis.findings.item_discrimination import _find_obstacle, compare_discriminations
from analysis.findings.item_map import _mark
from tests.analysis import small_run
from tests.analysis.chosen_findings import compare_by
from tests.analysis.statistics.test_two_parameters import judgments as lsat_judgments


def test_items_stand_out_by_the_intervals_of_their_accuracy():
    # The average person is right on an item of difficulty d with the log-odds -d; 2.944 is .95.
    rows = pd.DataFrame(
        [
            ("never", 2.0, 0.1, 3.9, 1.0, 1.0),
            ("perhaps", 2.0, -0.1, 4.1, 1.0, 1.0),
            ("always", -4.0, -5.0, -2.95, 1.0, 1.0),
            ("often", -4.0, -5.0, -2.9, 1.0, 1.0),
            ("noisy", 0.0, -0.5, 0.5, 1.8, 0.01),
            ("regular", 0.0, -0.5, 0.5, 0.4, 0.01),
        ],
        columns=["item_id", "difficulty", "low", "high", "infit", "p_holm"],
    )
    items = rows[["item_id"]].assign(construction="c", condition="a", good="a text")
    marked = _mark(rows, SimpleNamespace(run=SimpleNamespace(items=items)), 0.5)
    assert marked.set_index("item_id")["remark"].to_dict() == {
        "never": "nobody understands",
        "perhaps": "",
        "always": "everybody knows",
        "often": "",
        "noisy": "does not fit",
        "regular": "",
    }
    of_four = _mark(rows, SimpleNamespace(run=SimpleNamespace(items=items)), 0.25)
    # Chance among four is a quarter: log-odds of -1.1.
    assert of_four.query("item_id == 'never'")["remark"].item() == ""


def test_a_report_has_the_map_on_request(tmp_path: Path):
    run = load_run(small_run.write_export(tmp_path / "export"))
    scores = [load_scores(small_run.write_scores(tmp_path / "a.parquet"))]
    options = ComparisonOptions(resamples=50, item_map=True)
    result = compare_by(["item_map"], run, scores, options)
    items = result.statistics["item_map"].set_index("item_id")
    assert items["share"].to_dict() == {"s-1": 1.0, "s-2": 0.5, "p-1": 1.0, "p-2": 0.0}
    assert items["difficulty"].idxmax() == "p-2"
    models = result.statistics["item_map_models"].set_index("judge")
    # Right on s-1 and p-2; the two scores of p-1 are equal, which counts as wrong.
    assert models.loc["5-gram", "share"] == pytest.approx(0.5)
    assert {"item_map", "item_plots"} <= {drawing.name for drawing in result.drawings}
    # Only s-2 is answered rightly by one of the two people and wrongly by the other.
    assert (
        "The two-parameter model of items was left out: it needs 3 items that some people get "
        "right and some wrong, and there is 1."
    ) in result.left_out
    assert "item_map" not in compare_by(["item_map"], run, scores).statistics


def test_discriminations_need_a_hundred_answers_to_an_item():
    def judged(n: int) -> pd.DataFrame:
        rows = [(f"i{item}", answer == 0) for item in range(3) for answer in range(n)]
        return pd.DataFrame(rows, columns=["item_id", "chose_good"])

    people = SimpleNamespace(sd_people=1.0)
    assert _find_obstacle(judged(99), people) == (
        "the items have 99 answers each (the median), and it needs 100. With fewer, a "
        "discrimination is known too badly to say that items differ"
    )
    assert _find_obstacle(judged(100), people) == ""
    assert "people do not differ in ability" in _find_obstacle(
        judged(100), SimpleNamespace(sd_people=0.0)
    )


def test_the_report_says_which_model_the_data_prefer():
    judges = pd.DataFrame({"judge": ["p"], "is_model": [False], "ability": [0.0]})
    context = SimpleNamespace(table=lambda *args: args, origin=SimpleNamespace(simulated=True))
    inputs = SimpleNamespace(judged=SimpleNamespace(decisions={}), context=context)
    items = pd.DataFrame({"item_id": [f"item {n}" for n in range(5)], "good": "text", "p": 1.0})
    items["difficulty"] = 0.0
    fitted = SimpleNamespace(judges=judges, sd_people=1.0)
    found = compare_discriminations(inputs, fitted, lsat_judgments(), items)
    [table], [drawing] = found.tables, found.drawings
    assert drawing.draw().get_suptitle() == "SIMULATED PARTICIPANTS"
    # anova(rasch(LSAT), ltm(LSAT ~ z1)) of R's ltm: .57 with 4 degrees of freedom, p = .967.
    assert table[2] == (
        "One parameter is enough: no difference in discrimination was shown (likelihood ratio "
        "test, chi-squared(4) = 0.6, p = .967). Of 5 items, the discriminations of 0 lie above or "
        "below 0.76, that of all items together."
    )
