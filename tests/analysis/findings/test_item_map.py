"""The item map of a report."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from analysis.data.load import load_run, load_scores
from analysis.findings.finding import ComparisonOptions
from analysis.findings.item_map import _mark
from tests.analysis import small_run
from tests.analysis.chosen_findings import compare_by


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
    assert [drawing.name for drawing in result.drawings if drawing.name == "item_map"]
    assert "item_map" not in compare_by(["item_map"], run, scores).statistics
