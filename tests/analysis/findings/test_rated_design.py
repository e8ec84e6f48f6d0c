"""A study of single sentences rated in a 2 x 2 design, from its answers to its report."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from analysis.comparison import compare
from analysis.findings.finding import ComparisonOptions
from analysis.report.write import render_report
from analysis.statistics.contrasts import add_z_scores, contrasts
from analysis.tables.section import Section
from tests.analysis.chosen_findings import compare_by
from tests.analysis.rated_study import LENGTH, STRUCTURE, island_run, island_scores

MEASURED = "Interaction: (nonisland: short - long) - (island: short - long)"


@pytest.fixture(scope="module")
def run():
    return island_run()


@pytest.fixture(scope="module")
def found(run, tmp_path_factory):
    scores = island_scores(tmp_path_factory.mktemp("scores"), run)
    return compare(run, [scores], ComparisonOptions(resamples=200), code_version="v9")


def table(found, name):
    return next(one.frame for one in found.tables if one.name == name)


def test_differences_and_interaction_are_those_of_the_cells_means(run, found):
    means = run.responses.merge(run.items, on="item_id").groupby("condition")["rating"].mean()
    short, long_ = ({one: means[f"{one}_{length}"] for one in STRUCTURE} for length in LENGTH)
    rows = table(found, "rating_effects").set_index("label")
    own = {one: short[one] - long_[one] for one in STRUCTURE}
    assert rows.loc["island: short - long", "points"] == pytest.approx(own["island"])
    assert rows.loc[MEASURED, "points"] == pytest.approx(own["nonisland"] - own["island"])
    assert rows.loc["length: short - long", "points"] == pytest.approx(sum(own.values()) / 2)
    assert (rows["points_low"] < rows["points"]).all()
    assert (rows["p_holm"] >= rows["p"]).all()


def test_z_scores_have_no_mean_and_one_standard_deviation_within_each_participant(run):
    rated = add_z_scores(run.responses)
    of_person = rated.groupby("participant")["z"]
    assert of_person.mean().to_numpy() == pytest.approx(np.zeros(32), abs=1e-12)
    assert of_person.std().to_numpy() == pytest.approx(np.ones(32))
    same = rated.assign(rating=np.where(rated["participant"] == "p000", 4, rated["rating"]))
    assert add_z_scores(same).groupby("participant")["z"].count()["p000"] == 0


def test_the_report_of_single_sentences_says_no_word_of_accuracy_or_other_versions(found):
    page = render_report(found, {}, {})
    assert found.by_construction.empty
    assert "Version" not in {column.title for one in found.tables for column in one.columns}
    assert found.tables[0].section == Section.COMPARISONS
    for wrong in ("counted as wrong", "nan", "expected one", "which version"):
        assert wrong not in page
    # The one sentence that says there is none.
    assert page.lower().count("accuracy") == page.count("analyses of accuracy")


def test_a_first_sentence_tells_the_interaction_that_the_table_has(found):
    [row] = table(found, "rating_effects").set_index("label").loc[[MEASURED]].to_dict("records")
    [sentence] = [text for text in found.summary if text.startswith("structure x length: ")]
    assert f"{row['points']:+.2f} scale points" in sentence.replace("\N{MINUS SIGN}", "-")
    assert ("is inconclusive" in sentence) is (min(1, 3 * row["p"]) >= 0.05)


def test_a_models_scores_meet_the_ratings_item_by_item_and_condition_by_condition(found):
    overall = table(found, "ratings_and_models")
    assert set(overall["label"]) == {"log-probability", "per token"}
    assert (overall["n_items"] == 64).all()
    assert (overall["ceiling"] < 1).all()
    effects = table(found, "rating_model_effects").set_index(["measure", "label"])
    assert effects.loc[("sum", "structure: nonisland - island"), "estimate"] == pytest.approx(2)
    assert effects.loc[("mean", "length: short - long"), "estimate"] == pytest.approx(0.2)
    assert effects.loc[("mean", MEASURED), "estimate"] == 0


def test_with_a_unigram_model_slor_and_morcela_stand_beside_the_others(run, tmp_path):
    scores = island_scores(tmp_path, run)
    options = ComparisonOptions(resamples=50, unigram=scores)
    found = compare_by(("rating_models",), run, [scores], options)
    overall = table(found, "ratings_and_models")
    shown = overall.set_index("label")
    assert set(shown.index) == {"log-probability", "per token", "SLOR", "MORCELA, out of sample"}
    assert shown.loc["MORCELA, out of sample", "n_items"] == 64
    assert np.isfinite(shown.loc["MORCELA, out of sample", "spearman"])


def test_the_cumulative_model_is_in_the_report_and_agrees_in_sign(found):
    model = table(found, "rating_model").set_index("label")["estimate"]
    effects = table(found, "rating_effects").set_index("label")["points"]
    assert len(model) == 3
    assert model["length: short - long"] * effects["length: short - long"] > 0


@pytest.mark.parametrize("studies", [40, pytest.param(200, marks=pytest.mark.campaign)])
def test_the_interval_of_an_interaction_covers_the_truth_in_a_latin_square(studies):
    """Points are a linear scale here: studies of 24 people and 16 frames that vary."""
    covered, truth = 0, 0.7
    people, frames = 24, 16
    person, frame = np.divmod(np.arange(people * frames), frames)
    cell = (person + frame) % 4
    weights = {"0": 1.0, "1": -1.0, "2": -1.0, "3": 1.0}
    named = {"participant": person.astype(str), "unit": frame.astype(str), "cell": cell.astype(str)}
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        slopes = rng.normal(0, 0.5, (frames, 4))[frame, cell]
        value = truth * (cell == 3) + rng.normal(0, 1, people)[person] + slopes
        rows = pd.DataFrame(named | {"rating": value + rng.normal(0, 1.0, len(cell))})
        [one] = contrasts(rows, "rating", {"interaction": weights}).to_dict("records")
        covered += one["low"] <= truth <= one["high"]
    low, high = binom.interval(0.99, studies, 0.95)
    assert low <= covered <= high


def test_the_script_for_r_has_the_random_effects_that_the_rule_left(found, tmp_path):
    answers, script = found.folders["rating_model"](tmp_path)
    random = found.statistics["rating_model_random"]
    assert not random["correlation"].notna().any()
    columns = {"structure: nonisland - island": 1, "length: short - long": 2}
    terms = [
        f"(1 | {unit})" if effect == "1" else f"(0 + effect_{columns.get(effect, 3)} | {unit})"
        for unit, effect in zip(random["unit"], random["effect"], strict=True)
    ]
    formula = ["effect_1", "effect_2", "effect_3", *terms]
    text = script.read_text("utf-8")
    assert "factor(answer) ~ " + " +\n    ".join(formula) + ",\n" in text
    assert "# effect_2: length: short - long\nlibrary(ordinal)" not in text
    rows = pd.read_csv(answers)
    assert rows["answer"].between(1, 7).all() and set(rows["effect_1"]) == {-0.5, 0.5}
