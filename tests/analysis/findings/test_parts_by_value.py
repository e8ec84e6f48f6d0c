"""Parts of findings that choose rows, columns and models, on tables of a few rows."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.data import scored_readings
from analysis.errors import AnalysisError
from analysis.findings import (
    comparison_table,
    comparisons,
    design_model,
    detection,
    effects,
    human_model_agreement,
    metrics_table,
    mixed_model,
    ratings,
    surprisal,
    yes_no,
)
from analysis.findings.design import CONDITION, VERSION, _missing_conditions, cross_conditions
from analysis.findings.finding import MARGIN, Context, FindingInputs
from analysis.findings.measures import Choices
from analysis.tables.accuracy_table import Column
from experiment.comparisons.contrast import MODELS, JudgeDifference, LevelDifference

# A context whose tables are their rows, in the order in which they come.
CONTEXT = SimpleNamespace(by_construction=lambda frame: frame, table=lambda *given: given[3])
DECISIONS = {name: pd.DataFrame({"tie": tie}) for name, tie in
             {"a": [True, False], "tied": [True, True], "b": [False, False]}.items()}  # fmt: skip


@pytest.mark.parametrize(("second", "expected"), [(MODELS, ["a", "b"]), ("b", ["b"]), (None, [""])])
def test_a_comparison_with_models_is_answered_for_each_that_chooses(second, expected):
    compared = JudgeDifference("people", second) if second else object()
    inputs = SimpleNamespace(data=SimpleNamespace(decisions=DECISIONS))
    assert comparisons._list_judges(inputs, SimpleNamespace(compared=compared)) == expected


@pytest.mark.parametrize(
    ("constructions", "shown"),
    [
        (["", "x"], ["x"]),
        (["", "x", "y"], ["", "x", "y"]),
        (["x", "y"], ["x", "y"]),
        (["x"], ["x"]),
    ],
)
def test_a_row_of_all_items_is_shown_unless_it_repeats_the_only_construction(constructions, shown):
    context = SimpleNamespace(
        by_construction=lambda frame: frame, table=lambda *given: given[3]["construction"].tolist()
    )
    frame = pd.DataFrame({"construction": constructions})
    assert detection._detection_table(frame, pd.DataFrame(), context, caught=False) == shown


def test_conditions_without_judgments_are_named_in_judged_constructions_alone():
    items = pd.DataFrame(
        [("target", "x", "p"), ("target", "x", "q"), ("target", "y", "p"), ("target", "y", "q"),
         ("target", "z", "p"), ("filler", "x", "r")],
        columns=["kind", "construction", "condition"],
    )  # fmt: skip
    judged = pd.DataFrame(
        [("x", "p"), ("x", "p"), ("y", "p"), ("y", "q")], columns=["construction", "condition"]
    )
    inputs = SimpleNamespace(
        run=SimpleNamespace(items=items),
        data=SimpleNamespace(judgments=judged),
        context=SimpleNamespace(conditions={}),
    )
    assert list(_missing_conditions(inputs, {"x": "Extraction"})) == [
        "Extraction: no judgments are left in q."
    ]


def test_a_models_mean_of_a_condition_is_over_items_however_often_each_was_rated():
    rated = pd.DataFrame(
        {"construction": "x", "condition": ["p", "p", "p", "q"], "item_id": ["1", "1", "2", "3"]}
    )
    differences = pd.Series({"1": 1.0, "2": 4.0, "3": -1.0})
    means = ratings._mean_by_condition(differences, rated, "m").set_index("condition")
    assert means["model m"].to_dict() == {"p": 2.5, "q": -1.0}


def test_measures_of_sentences_are_those_of_the_good_version(monkeypatch):
    frame = pd.DataFrame({"variant": ["good", "bad", "good"], "item_id": [1, 1, 2]})
    monkeypatch.setattr(ratings, "compute_sentence_metric", lambda *_: np.array([-1.0, -2.0, -3.0]))
    scores = SimpleNamespace(frame=frame)
    for unigram, slor in ((None, False), (scores, True)):
        measures = dict(ratings._item_measures(scores, unigram))
        assert ("slor" in measures) is slor
        assert all(values.to_dict() == {"1": -1.0, "2": -3.0} for values in measures.values())


def test_gains_are_given_in_nats_per_thousand_words():
    row = {"model": "m", "delta_loglik": 0.002, "delta_low": -0.001, "delta_high": 0.005}
    [shown] = surprisal.scale_to_thousand_words(pd.DataFrame([row])).to_dict("records")
    gains = [shown[name] for name in ("gain", "gain_low", "gain_high")]
    assert (gains, shown["label"]) == (pytest.approx([2.0, -1.0, 5.0]), "m")


READ = pd.DataFrame({"text_id": "1:good", "position": [1, 2, 3], "read": ["The", "dog", "barks."]})
SCORED = pd.DataFrame(
    {"text_id": "1:good", "position": [1, 2, 3], "text": ["the", "dog", "barks"],
     "surprisal_bits": [1.0, 2.0, 3.0]}
)  # fmt: skip


def test_readings_are_joined_with_the_surprisal_of_the_same_words():
    joined = scored_readings._join_surprisals(READ, SCORED, "m")
    assert joined["surprisal_bits"].tolist() == [1.0, 2.0, 3.0]
    # The first word of a sentence has no word before it to predict from.
    kept = scored_readings._keep_same_words({"m": joined})
    assert kept.by_model["m"]["surprisal_bits"].tolist() == [2.0, 3.0] and not kept.note
    with pytest.raises(AnalysisError, match=r"1 reading times have no surprisal.*1:good, step 3"):
        scored_readings._join_surprisals(READ, SCORED[:2], "m")
    with pytest.raises(AnalysisError, match='"dog" was read and "cat" was scored: 1:good, step 2'):
        scored_readings._join_surprisals(READ, SCORED.replace("dog", "cat"), "m")


@pytest.mark.parametrize(
    ("option", "of_study", "margin"),
    [(None, None, MARGIN), (None, 0.2, 0.2), (0.1, 0.2, 0.1), (0.0, 0.2, 0.0)],
)
def test_the_margin_is_the_options_else_the_studys_else_the_default(option, of_study, margin):
    run = SimpleNamespace(study=SimpleNamespace(analysis=SimpleNamespace(margin=of_study)))
    inputs = FindingInputs(run, [], [], None, SimpleNamespace(margin=option), None)
    assert inputs.margin == margin


def test_an_interval_over_drawn_frames_is_their_middle_95_per_cent():
    drawn = [n / 100 for n in range(101)]
    ends = yes_no._interval_columns("area", [*drawn, float("nan")])
    assert ends == pytest.approx({"area_low": 0.025, "area_high": 0.975})
    for no_interval in ([0.5] * 9, [float("nan")] * 3, []):
        assert all(np.isnan(end) for end in yes_no._interval_columns("x", no_interval).values())


@pytest.mark.parametrize(("resamples", "splits"), [(100, 100), (1000, 1000), (5000, 1000)])
def test_participants_are_split_a_thousand_times_at_most(resamples, splits):
    assert ratings._count_splits(SimpleNamespace(resamples=resamples)) == splits


@pytest.mark.parametrize(
    ("factor", "sides"),
    [
        (CONDITION, ("short", "the mean of long and longer")),
        (VERSION, ("short", "the mean of long and longer")),
        ("length", ("length short", "the mean of long and longer")),
    ],
)
def test_a_factors_name_is_said_unless_it_is_the_condition_or_the_version(factor, sides):
    assert (
        comparison_table._describe_sides(LevelDifference(factor, "short", ("long", "longer")))
        == sides
    )


@pytest.mark.parametrize(
    ("choices", "never"),
    [
        ({"x": [0, 0], "y": [1, 1]}, True),
        ({"x": [0, 0], "y": [0, 0]}, True),
        ({"x": [0, 0], "y": [0, 1]}, False),
    ],
)
def test_a_mixed_model_needs_choices_that_vary_in_a_construction(choices, never):
    rows = [(name, bool(one)) for name, chosen in choices.items() for one in chosen]
    judgments = pd.DataFrame(rows, columns=["construction", "chose_good"])
    assert mixed_model._choices_never_vary(judgments) is never


def test_a_tie_by_a_metric_is_neither_right_nor_the_decision_that_the_sum_makes(monkeypatch):
    # Both versions of three items, the good one first.
    values = {
        "sum": [-1.0, -2.0, -3.0, -4.0, -6.0, -5.0],
        "mean": [-1.0, -2.0, -2.0, -2.0, -3.0, -2.0],
    }
    monkeypatch.setattr(
        metrics_table, "compute_metric", lambda _, metric, __: np.array(values[metric])
    )
    tokens = SimpleNamespace(rows=pd.DataFrame({"item_id": ["1", "1", "2", "2", "3", "3"]}))
    people = pd.Series({"1": 0.9, "2": 0.5, "3": 0.1})
    of_sum, of_mean = metrics_table._compute_each_metric(
        tokens, None, ["sum", "mean"], people
    ).to_dict("records")
    assert (of_sum["accuracy"], of_sum["same"]) == (pytest.approx(2 / 3), 1)
    # The mean ties on the second item, which the sum has right; both have the third one wrong.
    assert (of_mean["accuracy"], of_mean["same"]) == pytest.approx((1 / 3, 2 / 3))


def test_correlations_are_a_share_of_the_ceiling_and_people_are_named():
    rows = pd.DataFrame(
        {"construction": ["", "", "x"], "judge": ["people", "m", "m"], "spearman": [0.4, 0.3, 0.1]}
    )
    alone = pd.DataFrame({"judge": ["people", "m"], "pearson": [0.35, 0.25]})
    for highest, shares in ((0.8, [0.5, 0.375]), (0.0, [np.nan, np.nan])):
        ceiling = pd.DataFrame({"spearman_ceiling": [highest], "spearman": [np.nan]})
        shown = human_model_agreement._correlation_table(rows, ceiling, alone, 100, CONTEXT)
        assert shown["label"].tolist() == ["People", "m"]
        assert shown["seat"].tolist() == [0.35, 0.25]
        assert shown["of_ceiling"].to_numpy() == pytest.approx(np.array(shares), nan_ok=True)


def test_attraction_of_people_and_of_each_model_stand_in_one_row():
    effects = pd.DataFrame(
        [
            ("people", "x", 0.2, 0.1, 0.3),
            ("m", "x", 0.5, 0.4, 0.6),
            ("people", "y", 0.0, -0.1, 0.1),
        ],
        columns=["judge", "construction", "effect", "low", "high"],
    )
    shown = human_model_agreement._effects_table(effects, ["m"], CONTEXT).set_index("construction")
    assert shown.loc["x", ["people", "people_low", "people_high", "m"]].tolist() == [
        0.2, 0.1, 0.3, 0.5,
    ]  # fmt: skip
    assert shown.loc["y", "people"] == 0 and np.isnan(shown.loc["y", "m"])


@pytest.mark.parametrize(("n_thresholds", "call"), [(1, "glmer("), (2, "clmm("), (6, "clmm(")])
def test_a_scale_of_three_points_and_more_is_fitted_as_ordinal_in_r(tmp_path, n_thresholds, call):
    model = SimpleNamespace(
        thresholds=[0.0] * n_thresholds,
        random=pd.DataFrame({"unit": ["participant"], "effect": ["1"], "correlation": [np.nan]}),
    )
    fit = SimpleNamespace(
        model=model, fixed=pd.DataFrame({"a": [0.5, -0.5]}), answers=pd.Series([0, 1]),
        units=pd.DataFrame({"participant": ["p", "q"]}),
    )  # fmt: skip
    _, script = design_model.write_scripts(tmp_path, {"x": fit})
    assert (call in script.read_text("utf-8")) and (
        ("library(ordinal)" in script.read_text("utf-8")) == (call == "clmm(")
    )
    family = "bernoulli()" if n_thresholds == 1 else "cumulative()"
    bayesian = "brm(\n  answer ~ effect_1 +\n    (1 | participant),\n  data = answers, family = "
    assert f"{bayesian}{family}, seed = 1" in script.read_text("utf-8")


def test_a_script_in_r_has_the_levels_of_every_factor_in_their_order():
    rows = pd.DataFrame(
        {
            "judge": pd.Categorical(["people", "m"], ["people", "m", "unused"]),
            "construction": ["y", "x"],
            "condition": ['the "long"', "short"],
        }
    )
    _, *levels = mixed_model._read(rows)
    assert levels == [
        'choices$judge <- factor(choices$judge, levels = c("people", "m"))',
        'choices$construction <- factor(choices$construction, levels = c("x", "y"))',
        'choices$condition <- factor(choices$condition, levels = c("short", "the \\"long\\""))',
    ]


@pytest.mark.parametrize("simulated", [True, False])
def test_a_figure_of_cells_is_told_whether_its_people_are_programs(monkeypatch, simulated):
    monkeypatch.setattr(effects, "cells_figure", lambda *_, **told: told)
    context = SimpleNamespace(
        study=SimpleNamespace(constructions=[]), origin=SimpleNamespace(simulated=simulated)
    )
    told = Choices().draw(pd.DataFrame(), [], SimpleNamespace(context=context))
    assert told["simulated"] is simulated


def test_a_construction_of_one_condition_is_compared_between_the_groups_of_people():
    """The only condition's name says nothing, so the cells have the groups' names alone."""
    columns = {"item_id": ["1", "2"], "construction": "x", "condition": "only", "frame": "f"}
    items = pd.DataFrame(columns | {"features": "", "kind": "target"})
    rows = pd.DataFrame(
        columns
        | {
            "cell": "only",
            "version": "good",
            "own_age": ["old", "young"],
            "participant": ["p", "q"],
        }
    )
    study = SimpleNamespace(
        analysis=SimpleNamespace(factors={}),
        design=SimpleNamespace(factors={"age": ["young", "old"]}),
    )
    answers, cross = cross_conditions(rows, items, study)
    assert answers["cell"].tolist() == answers["group"].tolist() == ["old", "young"]
    assert cross.factors == {"age": ("young", "old")}
    assert cross.cells == {"old": ("old",), "young": ("young",)}


def test_an_estimate_without_ends_of_its_own_has_those_of_the_row():
    origin = SimpleNamespace(warning="", sentences=())
    rows = pd.DataFrame({"a": [1.0], "low": [0.5], "high": [1.5], "b": 7, "b_low": 6, "b_high": 8})
    columns = [Column(name, name, "estimate") for name in ("b", "a")]
    frame = Context(None, origin).table("name", "Title", "Caption.", rows, columns).frame
    shown = ["a_low", "a", "a_high", "b_low", "b", "b_high", "group"]
    assert frame[shown].to_numpy().tolist() == [[0.5, 1.0, 1.5, 6, 7, 8, ""]]
    assert {"low", "high"}.isdisjoint(frame.columns)
