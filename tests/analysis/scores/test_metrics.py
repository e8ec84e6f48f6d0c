import pytest

from analysis.data.join import decisions
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from analysis.scores.metrics import METRICS, NEED_UNIGRAM, apply_metric, compute_metric, read_tokens
from experiment.errors import UnknownNameError
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings

GOOD, BAD = [-1.0, -2.0, -3.0, -1.0], [-1.0, -2.5, -2.0]
UNIGRAM_GOOD, UNIGRAM_BAD = [-1.0, -3.0, -3.0, -1.0], [-1.0, -3.0, -1.0]


def rows(good, bad, difference_at=1, choice_at=2):
    found = []
    for item in ("s-1", "s-2", "p-1", "p-2"):
        described = next(row for row in small_run.score_rows() if row["item_id"] == item)
        against = described["contrast"]
        for variant, tokens in (("good", good), (against, bad)):
            found.append(
                {
                    **described,
                    "variant": variant,
                    "logprob_nats": sum(tokens),
                    "n_tokens": len(tokens),
                    "token_logprobs_nats": tokens,
                    "difference_at": difference_at,
                    "choice_at": choice_at,
                }
            )
    return found


def scores_of(path, good, bad, **changed):
    return load_scores(small_run.write_scores(path, rows(good, bad, **changed)))


@pytest.fixture
def model(tmp_path):
    return scores_of(tmp_path / "m.parquet", GOOD, BAD)


@pytest.fixture
def unigram(tmp_path):
    return scores_of(tmp_path / "u.parquet", UNIGRAM_GOOD, UNIGRAM_BAD)


PENALTY = [((5 + n) / 6) ** 0.8 for n in (4, 3)]


@pytest.mark.parametrize(
    ("metric", "good", "bad"),
    [
        ("sum", -7, -5.5),
        ("mean", -7 / 4, -5.5 / 3),
        ("unigram", -7 + 8, -5.5 + 5),
        ("slor", 1 / 4, -0.5 / 3),
        ("penlp", -7 / PENALTY[0], -5.5 / PENALTY[1]),
        ("word", -2, -2.5),
        ("word_unigram", 1, 0.5),
        ("completion", -6, -4.5),
        ("completion_mean", -2, -2.25),
        ("choice", -4, -2),
        ("choice_mean", -2, -2),
    ],
)
def test_each_metric_is_its_formula(model, unigram, metric, good, bad):
    found = compute_metric(read_tokens(model), metric, read_tokens(unigram))
    assert found[:2] == pytest.approx([good, bad])
    assert set(METRICS) >= {metric}


@pytest.mark.parametrize("metric", ["choice", "choice_mean"])
def test_a_choice_whose_place_is_unknown_has_no_metric(tmp_path, metric):
    unknown = scores_of(tmp_path / "a.parquet", GOOD, BAD, choice_at=None)
    with pytest.raises(AnalysisError, match=r"needs the place of each choice after its context, "
                       r"which the scores do not name.*Score the items again"):  # fmt: skip
        compute_metric(read_tokens(unknown), metric)


def test_every_metric_is_tried_by_the_tests_of_formulas():
    [mark] = test_each_metric_is_its_formula.pytestmark
    assert {row[0] for row in mark.args[1]} == set(METRICS)


def test_without_a_recorded_point_of_difference_the_log_probabilities_show_it(tmp_path):
    recorded = read_tokens(scores_of(tmp_path / "a.parquet", GOOD, BAD))
    unrecorded = read_tokens(scores_of(tmp_path / "b.parquet", GOOD, BAD, difference_at=None))
    assert recorded.start.tolist() == unrecorded.start.tolist() == [1] * 8


def test_a_metric_changes_the_decision_and_leaves_the_file_alone(model):
    by_sum, by_mean = decisions(model), decisions(apply_metric(model, "mean"))
    assert by_sum["correct"].tolist() == [False] * 4
    assert by_mean["correct"].tolist() == [True] * 4
    assert apply_metric(model, "sum") is model


@pytest.mark.parametrize("metric", sorted(NEED_UNIGRAM))
def test_a_metric_that_needs_a_unigram_model_says_how_to_get_one(model, metric):
    with pytest.raises(AnalysisError, match=r"needs .* unigram model.*--order 1.*--unigram"):
        apply_metric(model, metric)


def test_a_unigram_model_of_other_tokens_is_refused(model, tmp_path):
    other = scores_of(tmp_path / "o.parquet", [-1.0], [-2.0], difference_at=0)
    with pytest.raises(AnalysisError, match="not of the same items, cut into the same tokens"):
        apply_metric(model, "slor", other)


def test_an_unknown_metric_is_answered_with_the_known_ones(model):
    with pytest.raises(UnknownNameError, match=r'there is no metric "slur".*Did you mean "slor"'):
        apply_metric(model, "slur")


def test_the_table_of_metrics_has_a_row_for_each_metric_that_can_be_computed(
    export, model, unigram
):
    with chosen_findings("metrics"):
        without, complete = (
            small_run.compared(export, model.path).table("metrics"),
            small_run.compared(export, model.path, unigram=unigram).table("metrics"),
        )
    assert set(complete.frame["label"]) == {name.replace("_", " ") for name in METRICS}
    known = set(METRICS) - NEED_UNIGRAM
    assert set(without.frame["label"]) == {name.replace("_", " ") for name in known}
    by_metric = complete.frame.set_index("label")
    assert by_metric.loc["sum", "5-gram_accuracy"] == 0
    assert by_metric.loc["slor", "5-gram_accuracy"] == 1
    assert by_metric.loc["slor", "5-gram_same"] == 0


def test_the_metric_stands_under_every_table(export, model):
    # Every table takes its origin from the comparison (tables/test_accuracy_tables.py).
    with chosen_findings("differences"):
        tables = small_run.compared(export, model.path, metric="mean").tables
    assert len(tables) > 2
    for table in tables:
        assert "Metric of the models: mean, log p of the whole sentence / tokens." in table.origin
