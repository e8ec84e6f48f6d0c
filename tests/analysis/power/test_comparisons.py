"""Planned power is the share of simulated reports that show the effect, and other known values."""

from dataclasses import replace
from math import erf, log, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from analysis.errors import AnalysisError
from analysis.power import simulated_comparisons as planning
from analysis.power.cells import Coded, RandomSds, ScaleModel, TimesModel
from analysis.power.comparisons import power_of_comparisons
from analysis.power.simulated_choices import Assumptions
from experiment.design.lists import build_lists
from experiment.materials.read import load_items
from experiment.studies.analysis_plan import Comparison
from experiment.studies.study import Study
from tests.analysis.power.planned_studies import Planned, options, shown

A, B, C = ("a1", "a2"), ("b1", "b2"), ("c1", "c2")
DESIGNS = {
    "one factor, choices": Planned("sentence_pair", "accuracy", {"a": A}, 16, 12, 0.12, 0.75),
    "2 x 2, choices": Planned("sentence_pair", "accuracy", {"a": A, "b": B}, 24, 8, 0.1, 0.7),
    "2 x 2 x 2, choices": Planned(
        "sentence_pair", "accuracy", {"a": A, "b": B, "c": C}, 24, 5, 0.12, 0.65
    ),
    "2 x 2, ratings": Planned("rating", "rating", {"a": A, "b": B}, 16, 8, 0.3, 3.0),
    "yes or no": Planned("yes_no", "yes", {"a": A}, 16, 14, 0.13, 0.5),
    "self-paced reading": Planned("self_paced", "log_rt", {"a": A}, 20, 12, 0.07, 6.0),
}

# How many studies are planned, and how many reports of others are looked at.
N_STUDIES, N_FEW = (60, 40), (30, 20)


def planned_power(plan: Planned, study: Study, n: int = N_FEW[0], **changes) -> pd.DataFrame:
    """The table of power, by the name of the comparison."""
    built = build_lists(study, load_items(study), 1)
    [outcome] = power_of_comparisons(study, built, replace(options(plan, n), **changes))
    return outcome.table.frame.set_index("construction")


# One of the designs of choices, and one of a scale.
_SAMPLE = ("one factor, choices", "2 x 2, ratings")


@pytest.mark.parametrize(
    ("name", "studies"),
    [
        *((name, N_FEW) for name in _SAMPLE),
        *(pytest.param(name, N_STUDIES, marks=pytest.mark.campaign) for name in DESIGNS),
    ],
)
def test_planned_power_is_the_share_of_simulated_reports_that_show_the_effect(
    name: str, studies: tuple[int, int], tmp_path: Path
) -> None:
    plan = DESIGNS[name]
    study = plan.write(tmp_path)
    n_planned, n_reports = studies
    power = planned_power(plan, study, n_planned)["power"]
    reports = shown(plan, study, n_reports)
    assert set(power.index) == set(reports.index)
    # Three standard errors of the mean over the comparisons, which share the data sets, and 3
    # points; a single comparison may be further off by chance.
    mean = float(reports.mean())
    error = sqrt(mean * (1 - mean) * (1 / n_planned + 1 / n_reports))
    assert float(power.mean()) == pytest.approx(mean, abs=0.03 + 2 * error)
    for comparison, share in reports.items():
        error = sqrt(max(share * (1 - share), 0.04) * (1 / n_planned + 1 / n_reports))
        assert power[comparison] == pytest.approx(share, abs=0.03 + 3 * error)


def test_more_primary_comparisons_cost_power(tmp_path: Path) -> None:
    plan = DESIGNS["2 x 2, choices"]
    study = plan.write(tmp_path)
    alone = study.model_copy(update={"comparisons": [Comparison(name="a", compare="a")]})
    assert planned_power(plan, alone)["power"]["a"] > planned_power(plan, study)["power"]["a"]


def test_a_comparison_of_d_prime_has_no_planned_power(tmp_path: Path) -> None:
    plan = DESIGNS["yes or no"]
    declared = [Comparison(name="sensitivity", compare="condition", of="d_prime")]
    study = plan.write(tmp_path).model_copy(update={"comparisons": declared})
    with pytest.raises(AnalysisError, match="Parallax cannot compute power for sensitivity"):
        planned_power(plan, study, 2)


def test_the_effect_is_the_smallest_effect_unless_an_option_names_one(tmp_path: Path) -> None:
    plan = DESIGNS["2 x 2, choices"]
    declared = Comparison(name="a", compare="a", smallest_effect=0.2, predicted="negative")
    study = plan.write(tmp_path).model_copy(update={"comparisons": [declared]})
    assert planned_power(plan, study, 2, difference=None)["truth"]["a"] == -0.2
    assert planned_power(plan, study, 2, difference=0.1)["truth"]["a"] == -0.1
    usual = study.model_copy(update={"comparisons": [Comparison(name="a", compare="a")]})
    assert planned_power(plan, usual, 2, difference=None)["truth"]["a"] == 0.05


def test_people_minus_a_model_has_the_power_of_the_difference(tmp_path: Path) -> None:
    plan = DESIGNS["2 x 2, choices"]
    declared = Comparison(name="people", compare="people - models")
    study = plan.write(tmp_path).model_copy(update={"comparisons": [declared]})
    few, many = (
        planned_power(plan, study, 30, difference=size)["power"]["people"] for size in (0.05, 0.3)
    )
    assert few < 0.5 < 0.9 < many


def test_a_one_sided_test_has_more_power_than_a_two_sided_one(tmp_path: Path) -> None:
    plan = DESIGNS["one factor, choices"]
    two = Comparison(name="a", compare="condition", predicted="positive")
    one = two.model_copy(update={"one_sided": True})
    study = plan.write(tmp_path)
    powers = [
        planned_power(plan, study.model_copy(update={"comparisons": [declared]}))["power"]["a"]
        for declared in (two, one)
    ]
    assert powers[0] < powers[1]


def effect_of(name: str, weights: dict[str, float], effect: float) -> planning.Tested:
    cells = [*weights]
    return planning.Tested(name, "rating", effect, 0.95, pd.DataFrame({"cell": cells}), weights)


def test_effects_that_cannot_hold_at_once_are_simulated_apart() -> None:
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    three = [effect_of(f"{x} - {y}", {x: 1.0, y: -1.0}, 0.5) for x, y in pairs]
    assert [[one.name for one in group] for group in planning.group_compatible(three)] == [
        ["a - b", "a - c"],
        ["b - c"],
    ]


def test_cells_have_the_nearest_means_with_the_effects() -> None:
    """Of 2 x 2 cells around 3: .4 of one factor, .2 of the other, .8 of the interaction."""
    cells = ["11", "12", "21", "22"]
    rows = pd.DataFrame({"cell": cells, "mean": 3.0})
    weights = [(0.5, 0.5, -0.5, -0.5), (0.5, -0.5, 0.5, -0.5), (1.0, -1.0, -1.0, 1.0)]
    group = [
        replace(
            effect_of(str(n), dict(zip(cells, row, strict=True)), effect), answers=rows[["cell"]]
        )
        for n, (row, effect) in enumerate(zip(weights, (0.4, 0.2, 0.8), strict=True))
    ]
    means, truths = planning.cell_means(group, rows, ScaleModel(7, Assumptions(), 0.2))
    assert means == pytest.approx([3.5, 2.9, 2.7, 2.9])
    assert truths == {"0": 0.4, "1": 0.2, "2": 0.8}
    near_the_end = rows.assign(mean=6.8)
    moved, _ = planning.cell_means(group, near_the_end, ScaleModel(7, Assumptions(lapse=0.0), 0.2))
    assert moved.max() == pytest.approx(7 - 0.03, abs=1e-6)
    assert moved - moved[1] == pytest.approx(means - means[1])


@pytest.mark.parametrize("part", ["participants", "their_effect", "frames", "frames_effect"])
def test_each_random_effect_is_as_large_as_it_says(part: str) -> None:
    person, frame = (axis.ravel() for axis in np.meshgrid(np.arange(120), np.arange(80)))
    cell = (person + frame) % 2
    sds = dict.fromkeys(("participants", "their_effect", "frames", "frames_effect"), 0.0)
    spread = RandomSds(**(sds | {part: 0.5}))
    drawn = spread.draw(np.zeros(len(cell)), Coded(person, frame, cell), np.random.default_rng(7))
    of = person if part in ("participants", "their_effect") else frame
    by = [of, cell] if part.endswith("effect") else [of]
    values = pd.Series(drawn).groupby(by)
    assert values.std().max() < 1e-12
    n = values.ngroups
    assert values.mean().std() == pytest.approx(0.5, abs=3 * 0.5 / sqrt(2 * n))


def test_log_reading_times_have_a_normal_residual_and_effects_of_a_difference() -> None:
    n = np.zeros(20_000, np.intp)
    times = TimesModel.of_differences((0.0, 0.2, 0.0, 0.1, 0.4))
    assert times.spread.their_effect == pytest.approx(0.2 / sqrt(2))
    assert times.spread.frames_effect == pytest.approx(0.1 / sqrt(2))
    alone = TimesModel(RandomSds(0.0, 0.0, 0.0, 0.0), 0.4)
    drawn = alone.draw(np.full(len(n), log(500)), Coded(n, n, n), np.random.default_rng(2))
    assert drawn.mean() == pytest.approx(log(500), abs=4 * 0.4 / sqrt(len(n)))
    assert np.mean(np.abs(drawn - log(500)) < 0.4) == pytest.approx(erf(1 / sqrt(2)), abs=0.015)


def test_power_of_reading_is_that_of_the_variance_of_its_difference(tmp_path: Path) -> None:
    """The z test with the variance of the design's parts, worked out by hand."""
    plan = DESIGNS["self-paced reading"]
    study = plan.write(tmp_path)
    people, frames = 2 * plan.per_list, plan.frames
    variance = 2 * 0.35**2 / (people * frames / 2) + 0.06**2 / people + 0.04**2 / frames
    expected = norm.sf(2.03 - plan.effect / sqrt(variance))
    assert planned_power(plan, study, 200)["power"].iloc[0] == pytest.approx(expected, abs=0.1)
