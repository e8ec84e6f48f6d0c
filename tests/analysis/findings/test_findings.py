"""The statistics of a comparison, on a small run and on one large enough for all of them."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.data.join import Joined
from analysis.findings.differences import difference_findings
from analysis.findings.finding import Context
from analysis.findings.human_model_agreement import human_model_agreement
from analysis.findings.mixed_model import mixed_findings
from analysis.findings.people import people_findings
from analysis.statistics.paired import models_against_models
from analysis.tables.render import FORMATS
from analysis.tables.section import Section
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings
from tests.analysis.known_choices import known_choices


@pytest.fixture
def context(small_comparison):
    provenance = replace(small_comparison.provenance, resamples=5000)
    return Context(small_comparison.study, provenance)


def crossed(known=True):
    """Forty people and sixty items of two numbers, with sides, positions and times."""
    rows = known_choices(np.random.default_rng(3))
    people = rows[rows["judge"] == "people"].reset_index(drop=True)
    number = np.arange(len(people))
    people = people.assign(
        list=0,
        position=number % 60 + 1,
        kind="target",
        good_side=np.where(number % 2, "first", "second"),
        chosen_side=np.where((number % 2) == people["chose_good"], "first", "second"),
        chose_good=people["chose_good"] == 1,
        rt_ms=1000.0 + number % 7,
        input_method="key",
    )
    model = rows[rows["judge"] == "lstm"]
    chosen = model[["item_id", "construction", "condition"]].assign(
        logprob_good_nats=-10.0,
        logprob_contrast_nats=-10
        - np.where(model["chose_good"] == 1, 1.0, -1.0) * np.arange(1, 61),
        correct=model["chose_good"] == 1,
        tie=False,
    )
    items = model[["item_id", "construction"]].assign(
        features=[f"main={one} other={two}" for one in "sp" for two in "sp" for _ in range(15)]
    )
    if not known:
        people = people.assign(participant=None, list=None)
    return Joined(people.drop(columns="judge"), {"lstm": chosen}, items)


@pytest.mark.parametrize(("frames", "withheld"), [(4, True), (20, False)])
def test_two_models_are_compared_over_the_frames_of_the_judgments(context, frames, withheld):
    data = crossed()
    frame = data.judgments["item_id"].astype(int) % frames
    models = {"a": data.decisions["lstm"]}
    models["b"] = models["a"].assign(correct=models["a"]["item_id"].astype(int) % frames > 2)
    given = Joined(data.judgments.assign(frame=frame), models, data.items)
    of_frames = {
        name: one.assign(frame=one["item_id"].astype(int) % frames) for name, one in models.items()
    }
    found = difference_findings(given, context, 0.1)
    wanted = models_against_models(of_frames, "construction", 0.1)
    pd.testing.assert_frame_equal(found.statistics["models_compared"], wanted)
    assert wanted["low"].isna().all() == withheld
    table = next(one for one in found.tables if one.name == "models_compared")
    assert ("fewer than 5 frames" in " ".join(table.notes)) is withheld


def test_a_small_run_gets_every_table_that_it_can_fill(small_comparison):
    names = [table.name for table in small_comparison.tables]
    assert names[:4] == ["comparisons", "table_1", "table_2", "conditions"]
    assert {"correlations", "calibration", "error_consistency", "agreement", "intervals"} <= {
        *names
    }
    # Two people are too few for a mixed model, and nothing is to be attracted.
    assert not {"mixed_model", "attraction"} & {*names}
    assert len(names) == len(set(names))


def test_a_formula_is_tried_however_few_the_people(export, scores):
    with chosen_findings("mixed"):
        found = small_run.compared(export, scores, formula="judge")
    table = next(table for table in found.tables if table.name == "mixed_model")
    assert table.frame["label"].tolist() == ["Intercept", "judge 5-gram"]
    assert "judge + (1 | participant) + " in table.caption


def test_every_table_has_every_format_and_every_frame_can_be_read_by_programs(small_comparison):
    for table in small_comparison.tables:
        for render in FORMATS.values():
            assert render(table)
        assert {"group", *(column.key for column in table.columns)} <= {*table.frame.columns}
    for frame in small_comparison.statistics.values():
        json.loads(frame.to_json(orient="records"))


def test_errors_are_compared_in_five_ways(context):
    found = human_model_agreement(crossed(), context)
    names = [table.name for table in found.tables]
    assert names == [
        "correlations",
        "correlations_by_construction",
        "calibration",
        "error_consistency",
        "attraction",
        "attraction_by_configuration",
    ]
    row = found.tables[0].frame.set_index("judge").loc["lstm"]
    assert row["of_ceiling"] == pytest.approx(row["spearman"] / row["ceiling"])
    assert row["spearman_low"] <= row["spearman"] <= row["spearman_high"]
    assert found.statistics["items"]["lstm_difference_nats"].abs().max() == 60


def test_judgments_without_participants_lose_only_what_needs_them(context):
    data = crossed(known=False)
    found = human_model_agreement(data, context)
    assert "error_consistency" not in [table.name for table in found.tables]
    assert found.tables[0].frame["ceiling"].notna().all()
    assert mixed_findings(data, context).tables == ()
    assert [table.name for table in people_findings(data, context).tables] == ["agreement"]


def test_the_mixed_model_says_why_it_was_left_out(context, monkeypatch):
    data = crossed()
    nine = data.judgments["participant"].isin(data.judgments["participant"].unique()[:9])
    few = replace(data, judgments=data.judgments[nine])
    [reason] = mixed_findings(few, context).left_out
    assert reason.endswith("fewer than 10 participants or items are too few to estimate variances.")
    monkeypatch.setattr("analysis.findings.mixed_model.MOST_ROWS", 100)
    found = mixed_findings(data, context)
    n = len(data.judgments) + len(data.decisions["lstm"])
    assert found.tables == () and f"fitting {n:,} choices" in found.left_out[0]
    assert mixed_findings(data, context, "judge").left_out == ()


def test_the_mixed_model_says_what_only_a_penalty_bounds(context):
    data = crossed()
    always = data.decisions["lstm"]["construction"] == "b"
    data.decisions["lstm"]["correct"] |= always
    table, scales = mixed_findings(data, context).tables
    assert table.section == scales.section == Section.MIXED_MODEL
    assert any("log-F(2,2)" in note and "construction b, judge lstm" in note
               for note in table.notes)  # fmt: skip
    assert "Standard deviations in logits: participant 0." in table.notes[0]
    assert scales.frame["label"].tolist() == ["All constructions", "a", "b"]
    assert scales.frame.loc[2, "model"] > scales.frame.loc[2, "people"]


def test_a_fit_that_did_not_converge_says_so_in_a_note_and_prints_nothing(
    context, monkeypatch, capfd
):
    def notes():
        return " ".join(mixed_findings(crossed(), context, "construction + judge").tables[0].notes)

    assert "did not converge" not in notes()
    monkeypatch.setattr("analysis.statistics.mixed_model._OPTIMISER", {"maxit": 1})
    assert "The fit did not converge, so estimates, intervals and p are inexact" in notes()
    assert capfd.readouterr() == ("", "")


def test_a_model_that_ties_on_every_pair_is_no_judge_of_the_mixed_model(context):
    data = crossed()
    tied = data.decisions["lstm"].assign(correct=False, tie=True)
    both = replace(data, decisions={**data.decisions, "flat": tied})
    found = mixed_findings(both, context)
    terms = found.statistics["mixed_model"]["term"]
    assert any("lstm" in term for term in terms) and not any("flat" in term for term in terms)
    assert set(found.statistics["mixed_model_one_scale"]["judge"]) == {"lstm"}
    assert found.left_out == (
        "flat gave both versions of every item the same score: it is not part of the mixed model.",
    )


def test_the_mixed_models_terms_bear_titles_not_names(context):
    data = crossed()
    renamed = {"a": "simple", "b": "polarity"}
    people, model = (
        frame.assign(construction=frame["construction"].map(renamed))
        for frame in (data.judgments, data.decisions["lstm"])
    )
    found = mixed_findings(Joined(people, {"lstm": model}, data.items), context)
    labels = found.tables[0].frame["label"].tolist()
    assert "Agreement: Simple & short" in labels[1]
    assert not any("polarity" in label or "simple" in label for label in labels)


def test_constructions_stand_in_the_studys_order_under_its_headings(context):
    frame = pd.DataFrame({"construction": ["polarity", "other", "", "simple"]})
    found = context.by_construction(frame)
    assert found["construction"].tolist() == ["", "simple", "polarity", "other"]
    assert found["label"].tolist()[:2] == ["All constructions", "Simple & short"]
    assert found["group"].tolist() == ["", "Agreement", "Polarity_items", ""]
