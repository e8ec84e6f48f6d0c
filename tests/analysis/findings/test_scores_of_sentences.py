"""A model's scores of single sentences: their differences, and what is said of scores all alike."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.report.design_words import describe_lists
from analysis.report.write import render_report
from analysis.responses.rating import _model_sentences
from experiment.studies.design import Quota
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings, compare_by
from tests.analysis.designed_studies import mixed, yes_no
from tests.analysis.rated_study import island_run, island_scores

# Whose mixed model is soon fitted: nobody looks at it here.
FEW = 10
INTERACTION = "Interaction: (nonisland: short - long) - (island: short - long)"


def compared(run, scores):
    return compare_by(("rating_models", "yes_no_models"), run, [scores])


def noisy(scores, sd: float):
    """The scores with what differs from sentence to sentence; with 0 they are all alike."""
    noise = np.random.default_rng(1).normal(0, sd, len(scores.frame))
    values = scores.frame["logprob_nats"] + noise if sd else -20.0
    return replace(scores, frame=scores.frame.assign(logprob_nats=values))


@pytest.mark.parametrize(("made", "name"), [(island_run, "rating"), (yes_no, "yes_no")])
def test_a_models_differences_are_those_of_its_scores_and_have_an_interval(made, name, tmp_path):
    run = made(n_people=FEW)
    scores = noisy(island_scores(tmp_path, run), 0.5)
    found = compared(run, scores).statistics[f"{name}_model_effects"]
    rows = found[found["measure"] == "sum"].set_index("contrast")
    cells = scores.frame.groupby("condition")["logprob_nats"].mean()
    none, island = (cells[f"{one}_short"] - cells[f"{one}_long"] for one in ("nonisland", "island"))
    assert rows.loc[INTERACTION, "estimate"] == pytest.approx(none - island)
    assert rows.loc["island: short - long", "estimate"] == pytest.approx(island)
    assert rows["n_sentences"].max() == len(run.items)
    assert (rows["low"] < rows["estimate"]).all() and rows["p"].notna().all()


@pytest.mark.parametrize(("made", "name"), [(island_run, "rating"), (yes_no, "yes_no")])
def test_scores_that_are_all_alike_have_no_interval_and_the_first_lines_say_so(
    made, name, tmp_path
):
    run = made(n_people=FEW)
    found = compared(run, noisy(island_scores(tmp_path, run), 0.0))
    effects = found.statistics[f"{name}_model_effects"]
    assert (effects["estimate"] == 0).all()
    assert effects[["low", "high", "p", "p_holm"]].isna().all(axis=None)
    said = "gives all 64 sentences" if name == "rating" else "gives all 96 sentences"
    assert sum(said in sentence for sentence in found.summary) == 1
    table = next(one for one in found.tables if one.name == f"{name}_model_effects")
    # Nothing is withheld for few answers: that would be another reason.
    assert not any("No interval with fewer" in note for note in table.notes)


@pytest.mark.parametrize(("n_items", "said"), [(1, 0), (2, 1)])
def test_one_sentence_alone_is_not_said_to_have_the_same_score_as_others(n_items, said):
    row = {"construction": "a", "judge": "m", "measure": "mean", "n_scores": 1, "spearman": np.nan}
    found = {"ratings_and_models": pd.DataFrame([row | {"n_items": n_items}])}
    assert len([*_model_sentences(found, {"a": "A"})]) == said


def test_frames_drawn_anew_that_change_nothing_are_no_interval(tmp_path):
    run = yes_no(n_people=FEW)
    expected = np.where(run.items["condition"] == "island_long", "no", "yes")
    good = run.trials["item_id"].map(dict(zip(run.items["item_id"], expected, strict=True)))
    trials = run.trials.assign(good_side=good.map({"yes": "first", "no": "second"}))
    said = run.responses["said_yes"].astype(bool)
    own = run.responses["item_id"].map(dict(zip(run.items["item_id"], expected, strict=True)))
    responses = run.responses.assign(chose_good=said == (own == "yes"))
    scores = noisy(island_scores(tmp_path, run), 0.01)
    rows = compared(replace(run, trials=trials, responses=responses), scores)
    found = rows.statistics["yes_no_models"]
    model = found[found["measure"] == "sum"].iloc[0]
    # The model's worst sentences are just these, in every frame.
    assert model["area"] == 1
    assert pd.isna(model["area_low"]) and pd.isna(model["area_high"])


def test_the_report_counts_places_by_list_and_who_was_kept_by_level():
    run = mixed(n_people=24, frames=12)
    of_careful = Quota(when={"instruction": "careful"}, participants_per_list=3)
    design = run.study.design.model_copy(update={"quotas": [of_careful]})
    run = replace(run, study=run.study.model_copy(update={"design": design}))
    verdicts = run.verdicts.assign(kept=run.verdicts["participant"] != "p001")
    run = replace(run, verdicts=verdicts.assign(rule=verdicts["rule"].where(verdicts["kept"], "x")))
    found = compare_by(("flow", "design_effects", "comparisons"), run)
    page = render_report(found, {}, {})
    several = sorted({design.places(number) for number in range(design.n_lists)})
    said = describe_lists(design)
    assert said.endswith(f"with {several[0]} to {several[-1]} participants per list.")
    assert "between participants: plain 12 of 12, careful 11 of 12." in page
    methods = render_report(found, {}, {}, "methods")
    assert "participants and frames (what repeats over conditions; else each item)" in methods
    # The effects of the design are answered once, as the comparisons that follow from it.
    assert "length x instruction" in page and "instruction at short" in page
    assert "Interaction: plain minus careful, by short minus long" not in page


def test_a_model_that_ties_on_every_pair_is_in_no_table_of_differences(tmp_path):
    export = small_run.write_export(tmp_path / "export")
    alike = [row | {"logprob_nats": -5.0, "token_logprobs_nats": [-5.0]}
             for row in small_run.score_rows()]  # fmt: skip
    tied = small_run.write_scores(tmp_path / "tied.parquet", alike, model="flat")
    other = small_run.write_scores(tmp_path / "other.parquet")
    with chosen_findings("differences"):
        alone, both = small_run.compared(export, tied), small_run.compared(export, tied, other)
    assert "people_minus_models" not in {one.name for one in alone.tables}
    assert "flat" not in set(both.statistics["people_minus_models"]["judge"])
    for found in (alone, both):
        assert any(said.startswith("flat gave both versions") for said in found.left_out)
