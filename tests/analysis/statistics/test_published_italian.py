"""The Italian judgments of Gulordava et al. (2018): the paper's numbers from the same code."""

import pandas as pd
import pytest

from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.agreement import add_model_preferences, preferences
from analysis.statistics.correlation import correlation_rows
from tests import published_data

TABLE = published_data.COLORLESS_GREEN / "italian" / "best_model_mturk.tab"
MODEL = "hidden650_batch64_dropout0.2_lr10.0"

pytestmark = published_data.needs(TABLE)

# Table 3, people: original, nonce.
TABLE_3 = {
    "DET_ADJ_NOUN": (98.7, 98.1),
    "NOUN_VERB_PRON_VERB": (93.1, 95.4),
    "NOUN_VERB_VERB": (97.0, 92.3),
    "ADJ_ADJ_CCONJ_ADJ": (98.5, 98.0),
    "NOUN_ADJ_PUNCT_PRON_VERB": (95.9, 89.5),
    "NOUN_NOUN_ADV_ADJ": (91.5, 79.4),
    "NOUN_NOUN_VERB": (87.1, 73.4),
    "VERB_NOUN_CCONJ_VERB": (94.0, 86.8),
}
# Figure 2, people, by number of attractors: original, nonce.
FIGURE_2 = {0: (96.2, 92.5), 1: (93.3, 82.3), 2: (85.2, 70.0)}


@pytest.fixture(scope="module")
def table():
    frame = pd.read_csv(TABLE, sep="\t")
    return frame.assign(
        item_id=frame["constr_id"].astype(str)
        + "-"
        + frame["sent_id"].astype(str)
        + "-"
        + frame["pattern"],
        construction=frame["pattern"].str.split("__").str[1],
        condition=frame["type"].map({"original": "original", "generated": "nonce"}),
    )


@pytest.fixture(scope="module")
def judged(table):
    """One row per judgment: the table counts them, and names no participants."""
    rows = table.loc[table.index.repeat(table["mturk_count"].astype(int))]
    return pd.DataFrame(
        {
            "participant": None,
            "list": None,
            "item_id": rows["item_id"],
            "construction": rows["construction"],
            "condition": rows["condition"],
            "n_attr": rows["n_attr"],
            "chose_good": rows["class"] == "correct",
        }
    ).reset_index(drop=True)


def accuracy(judged, *by):
    return people_accuracy(judged, by, weigh="items").set_index(list(by))


def test_the_table_holds_the_judgments_that_the_paper_reports(judged):
    assert len(judged) == 11_276
    assert judged["item_id"].nunique() == 1190
    assert judged.groupby("item_id").size().agg(["min", "max"]).tolist() == [5, 13]


def test_accuracy_within_sentences_is_averaged_as_in_the_paper(judged):
    found = accuracy(judged, "condition")
    assert round(100 * found.loc["original", "accuracy"], 1) == 94.5
    assert round(100 * found.loc["nonce", "accuracy"], 1) == 88.4
    for condition in ("original", "nonce"):
        row = found.loc[condition]
        assert row["low"] < row["accuracy"] < row["high"]
    assert found.loc["nonce", ["n_items", "n_participants"]].tolist() == [1071, 0]


def test_judgments_weighing_alike_are_not_the_papers_number(judged):
    found = people_accuracy(judged, ["condition"])
    shares = found.set_index("condition")["accuracy"]
    assert round(100 * shares["original"], 2) == 94.34
    assert round(100 * shares["nonce"], 2) == 88.30


@pytest.mark.parametrize("construction", TABLE_3)
def test_table_3_people(judged, construction):
    found = accuracy(judged, "construction", "condition")
    for condition, printed in zip(("original", "nonce"), TABLE_3[construction], strict=True):
        assert 100 * found.loc[(construction, condition), "accuracy"] == pytest.approx(
            printed, abs=0.0501
        )


@pytest.mark.parametrize("attractors", FIGURE_2)
def test_figure_2_people_by_number_of_attractors(judged, attractors):
    found = accuracy(judged, "n_attr", "condition")
    for condition, printed in zip(("original", "nonce"), FIGURE_2[attractors], strict=True):
        assert 100 * found.loc[(attractors, condition), "accuracy"] == pytest.approx(
            printed, abs=0.0501
        )


@pytest.mark.parametrize(
    ("condition", "rho", "p"), [("original", 0.232, 0.05), ("nonce", 0.426, 0.001)]
)
def test_the_models_difference_goes_with_peoples_counts(table, judged, condition, rho, p):
    wide = table.pivot_table(index="item_id", columns="class", values=MODEL)
    decisions = pd.DataFrame(
        {
            "item_id": wide.index,
            "logprob_good_nats": wide["correct"].to_numpy(),
            "logprob_contrast_nats": wide["wrong"].to_numpy(),
            "correct": (wide["correct"] > wide["wrong"]).to_numpy(),
        }
    )
    preferred = preferences(judged[judged["condition"] == condition])
    rows = correlation_rows(add_model_preferences(preferred, decisions), "lstm")
    overall = rows.iloc[0]
    assert overall["spearman_counts"] == pytest.approx(rho, abs=0.0005)
    assert overall["spearman_p"] < p
    assert overall["spearman_low"] < overall["spearman"] < overall["spearman_high"]
