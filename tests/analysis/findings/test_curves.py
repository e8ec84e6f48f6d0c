import pandas as pd
import pytest

from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from analysis.findings.curves import curves, curves_figure, regions
from tests.analysis import small_run


def item(item_id, condition, good, bad, frame):
    return {
        "item_id": item_id, "template": "t", "construction": "simple", "condition": condition,
        "frame": frame, "context": "", "good": good, "bad": bad, "distractor": "",
        "contrast": "bad",
    }  # fmt: skip


ITEMS = pd.DataFrame(
    [
        item("a", "one", "the security guard is tall", "the security guard are tall",
             "N=security_guard V=is_tall"),
        item("b", "one", "the chefs laugh", "the chefs laughs", "N=chef V=laughs"),
    ]
)  # fmt: skip


@pytest.fixture
def scores(tmp_path):
    tokens = {
        ("a", "good"): [-1.0, -2.0, -0.5, -1.0, -1.0, -0.25],
        ("a", "bad"): [-1.0, -2.0, -0.5, -4.0, -1.0, -0.25],
        ("b", "good"): [-1.0, -3.5, -4.0, -0.25],
        ("b", "bad"): [-1.0, -3.5, -6.0, -0.25],
    }
    rows = [
        {
            **small_run.score_rows()[0], "item_id": item_id, "variant": variant, "contrast": "bad",
            "token_logprobs_nats": values, "n_tokens": len(values), "logprob_nats": sum(values),
        }
        for (item_id, variant), values in tokens.items()
    ]  # fmt: skip
    return load_scores(small_run.write_scores(tmp_path / "s.parquet", rows))


def test_the_words_of_a_slot_stand_at_one_place():
    found = regions(["the", "security", "guards", "are", "tall", "."], "N=security_guard V=is_tall")
    assert [(one.slot, one.words) for one in found] == [
        ("", "the"), ("N", "security guards"), ("V", "are tall"), ("", "."),
    ]  # fmt: skip


def test_items_of_different_length_are_averaged_slot_by_slot(scores):
    found = curves(scores, ITEMS)
    assert found["good_nats"].tolist() == [-1.0, -3.0, -3.0, -0.25]
    assert found["other_nats"].tolist() == [-1.0, -3.0, -5.5, -0.25]
    assert found["n_items"].tolist() == [2] * 4
    assert found["label"].tolist()[0] == "the"
    assert found["label"].tolist()[2] == "e.g. is tall / are tall"


def test_one_item_can_be_drawn_alone(scores):
    found = curves(scores, ITEMS, ["b"])
    assert found["good_nats"].tolist() == [-1.0, -3.5, -4.0, -0.25]
    assert found["label"].tolist() == ["the", "chefs", "laugh / laughs", "."]


def test_tokens_that_are_not_words_are_refused(scores):
    longer = ITEMS.assign(good=ITEMS["good"] + " today")
    with pytest.raises(AnalysisError, match="word-level model's scores"):
        curves(scores, longer)


def test_a_figure_has_a_panel_for_each_condition_and_shades_the_difference(scores):
    found = curves(scores, ITEMS)
    other = found.assign(condition="two")
    figure = curves_figure(pd.concat([found, other]))
    drawn = [axes for axes in figure.axes if axes.lines]
    assert [axes.get_title(loc="left") for axes in drawn] == ["one (n = 2)", "two (n = 2)"]
    assert list(drawn[0].lines[0].get_ydata()) == [-1.0, -3.0, -3.0, -0.25]


def test_an_item_that_is_not_there_is_named(scores):
    with pytest.raises(AnalysisError, match="no item to draw with these ids: z"):
        curves(scores, ITEMS, ["z"])
