"""The report's first sentences are true of the numbers, whether a model is better or worse."""

import pandas as pd
import pytest

from analysis.report.summary import summary
from experiment.studies.load import load_study
from experiment.studies.study import Construction
from tests.analysis import small_run

NAMES = ("a", "b", "c", "d", "e")
PEOPLE = dict(zip(NAMES, (0.95, 0.90, 0.80, 0.60, 0.75), strict=True))


@pytest.fixture
def study(tmp_path):
    loaded = load_study(str(small_run.write_study(tmp_path / "study")))
    constructions = [Construction(name=name, title=name.upper()) for name in NAMES]
    return loaded.model_copy(update={"constructions": constructions})


def long_form(people, **models):
    """Accuracies by construction, ten judgments and two items in each."""
    rows = [("people", False, name, value) for name, value in people.items()]
    rows += [
        (model, True, name, value) for model, own in models.items() for name, value in own.items()
    ]
    frame = pd.DataFrame(rows, columns=["judge", "is_model", "construction", "accuracy"])
    return frame.assign(items="judged", n_judgments=10, n_items=2)


def constant(value, names=NAMES):
    return dict.fromkeys(names, value)


def furthest(sentence):
    """The constructions that a sentence names as those on which judges lie furthest apart."""
    return [part.split(" ")[0] for part in sentence.partition("furthest apart on ")[2].split("; ")]


def test_a_model_that_is_always_right_differs_most_where_people_err_most(study):
    _, sentence = summary(long_form(PEOPLE, lstm=constant(1.0)), study, {})
    assert furthest(sentence) == ["D", "E", "C"]
    assert "D (0.60 and 1.00)" in sentence


def test_a_model_that_is_always_wrong_differs_most_where_people_err_least(study):
    _, sentence = summary(long_form(PEOPLE, lstm=constant(0.0)), study, {})
    assert furthest(sentence) == ["A", "B", "C"]


def test_a_model_better_here_and_worse_there_is_compared_by_size_alone(study):
    model = {"a": 0.90, "b": 0.40, "c": 0.85, "d": 1.0, "e": 0.45}
    _, sentence = summary(long_form(PEOPLE, lstm=model), study, {})
    assert furthest(sentence) == ["B", "D", "E"]


@pytest.mark.parametrize("seed", range(20))
def test_no_construction_left_unnamed_is_further_apart_than_one_that_is_named(study, seed):
    shares = pd.Series(range(1, 11)).sample(10, random_state=seed).div(10).tolist()
    people, model = (dict(zip(NAMES, own, strict=True)) for own in (shares[:5], shares[5:]))
    _, sentence = summary(long_form(people, lstm=model), study, {})
    apart = {name.upper(): abs(people[name] - model[name]) for name in NAMES}
    named = [name for name in furthest(sentence) if name in apart]
    unnamed = apart.keys() - set(named)
    assert min(apart[name] for name in named) >= max(apart[name] for name in unnamed) - 1e-9


def test_ties_stand_in_the_studys_order_and_those_left_out_are_counted(study):
    _, sentence = summary(long_form(constant(1.0), lstm=constant(0.0)), study, {})
    assert furthest(sentence)[:3] == ["A", "B", "C"]
    assert sentence.endswith("; 2 more are as far apart as the last of these.")


def test_where_nothing_differs_no_construction_is_named(study):
    _, sentence = summary(long_form(PEOPLE, lstm=PEOPLE), study, {})
    assert sentence.endswith("People and lstm are equally accurate on every construction.")
    one = PEOPLE | {"d": 0.5}
    _, sentence = summary(long_form(PEOPLE, lstm=one), study, {})
    assert furthest(sentence) == ["D"]


def test_constructions_that_only_one_side_knows_are_not_compared(study):
    people, model = constant(0.9, ("a", "b")), {"b": 0.8, "c": 0.0}
    _, sentence = summary(long_form(people, lstm=model), study, {})
    assert furthest(sentence) == ["B"]
    _, sentence = summary(long_form(constant(0.9, ("a",)), lstm=constant(0.1, ("c",))), study, {})
    assert "apart" not in sentence
    assert "equally" not in sentence


def test_a_construction_that_the_study_does_not_describe_goes_by_its_name(study):
    _, sentence = summary(long_form({"x": 0.9}, lstm={"x": 0.1}), study, {})
    assert "furthest apart on x (0.90 and 0.10)." in sentence


def test_means_weigh_every_judgment_and_every_item_alike(study):
    frame = long_form({"a": 1.0, "b": 0.0}, lstm={"a": 1.0, "b": 0.0})
    frame["n_judgments"] = [30, 10, 0, 0]
    frame["n_items"] = [0, 0, 1, 4]
    people, model = summary(frame, study, {})
    assert people == "People chose the expected version in 75.0% of all judgments."
    assert model.startswith("lstm gave it the higher score on 20.0% of the judged items.")


def test_a_model_has_its_difference_with_an_interval_and_its_correlation_with_the_ceiling(study):
    statistics = {
        "people_minus_models": pd.DataFrame(
            {"judge": ["lstm"], "construction": [""], "difference": [-0.031],
             "low": [-0.08], "high": [0.02]}
        ),
        "correlations": pd.DataFrame(
            {"judge": ["lstm"], "construction": [""], "spearman": [0.43],
             "spearman_low": [0.38], "spearman_high": [0.47]}
        ),
        "ceiling": pd.DataFrame({"spearman_ceiling": [0.8]}),
    }  # fmt: skip
    _, sentence = summary(long_form(PEOPLE, lstm=constant(1.0)), study, statistics)
    assert "people minus lstm is \N{MINUS SIGN}3.1 percentage points" in sentence
    assert "(95% interval \N{MINUS SIGN}8.0 to +2.0)" in sentence
    assert "correlate by 0.43 (Spearman; 95% interval 0.38 to 0.47)" in sentence
    assert "the noise ceiling is 0.80." in sentence


def test_without_a_correlation_nothing_is_said_of_one(study):
    nothing = pd.DataFrame({"judge": ["lstm"], "construction": [""], "spearman": [float("nan")]})
    _, sentence = summary(long_form(PEOPLE, lstm=constant(1.0)), study, {"correlations": nothing})
    assert "correlate" not in sentence
