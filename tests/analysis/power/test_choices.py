from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from analysis.errors import AnalysisError
from analysis.power.base import sizes_needed, summarise
from analysis.power.command import power
from analysis.power.simulated_choices import (
    OVERALL,
    Assumptions,
    Expected,
    design_of,
    expect_from_items,
    intercept,
    relative_decision_time,
    simulate,
)
from experiment.errors import ParallaxError
from experiment.materials.item_rows import item_from_row
from experiment.records import Kind, ListEntry
from experiment.studies.study import Rule
from tests.analysis import small_run

ENTRIES = [ListEntry(item_from_row(row), Kind.TARGET) for row in small_run.items()]
MANY = [ENTRIES * 10] * 2
NOBODY_GUESSES = Assumptions(sd_participants=0.6, sd_items=0, lapse=0.04, guessing=0)


def run(lists, accuracy, people, rules=(), sizes=(5, 20), n=20, difference=0.1):
    design = design_of(lists)
    return simulate(
        design,
        accuracy if isinstance(accuracy, Expected) else Expected(accuracy),
        people,
        list(rules),
        sizes,
        range(n),
        difference=difference,
        seed=1,
    )


@pytest.mark.parametrize("accuracy", [0.55, 0.8, 0.97])
def test_the_model_averages_to_the_accuracy_asked_for(accuracy):
    people = Assumptions(sd_participants=1.2, sd_items=0.7, lapse=0.05)
    rng = np.random.default_rng(1)
    logit = intercept(accuracy, people) + rng.normal(0, np.hypot(1.2, 0.7), 400_000)
    right = people.lapse / 2 + (1 - people.lapse) / (1 + np.exp(-logit))
    assert right.mean() == pytest.approx(accuracy, abs=0.002)


def test_an_accuracy_that_lapses_forbid_is_named():
    with pytest.raises(AnalysisError, match=r"0\.01 cannot be reached with a lapse rate of 0\.50"):
        intercept(0.01, Assumptions(lapse=0.5))


def test_simulated_people_are_as_accurate_as_expected():
    found = run(MANY, [0.9, 0.7], NOBODY_GUESSES)
    means = found[found["per_list"] == 20].groupby("construction")["accuracy"].mean()
    assert means["simple"] == pytest.approx(0.9, abs=0.02)
    assert means["polarity"] == pytest.approx(0.7, abs=0.02)


def test_more_participants_give_narrower_intervals_and_more_power():
    found = summarise(run(MANY, [0.8, 0.8], NOBODY_GUESSES)).set_index(["construction", "per_list"])
    assert found["half_width"][OVERALL, 20] < found["half_width"][OVERALL, 5]
    assert found["power"][OVERALL, 20] >= found["power"][OVERALL, 5]
    # Participants differ, so it is wider than 1.96 standard errors of 1,600 independent judgments.
    independent = 1.96 * np.sqrt(0.8 * 0.2 / 1_600)
    assert independent < found["half_width"][OVERALL, 20] < 3 * independent


def test_the_studys_own_rules_exclude():
    rule = Rule.model_validate({"rule": "max_errors", "construction": "simple", "max_errors": 2})
    people = Assumptions(sd_participants=0, sd_items=0, lapse=0, guessing=0.5)
    found = run(MANY, [1.0, 0.8], people, [rule], sizes=(20,))
    # Whoever tosses a coin errs more than twice in twenty trials, nobody else ever errs.
    assert found["kept"].mean() == pytest.approx(20, abs=2.5)
    assert found.loc[found["construction"] == "simple", "accuracy"].min() > 0.99


def test_the_same_seed_simulates_the_same_studies():
    one, two = (run(MANY, [0.9, 0.7], NOBODY_GUESSES, n=2) for _ in range(2))
    assert one.equals(two)


def test_the_fewest_participants_that_are_enough_are_found():
    found = summarise(run(MANY, [0.8, 0.8], NOBODY_GUESSES, n=4))
    widths = found.set_index(["construction", "per_list"])["half_width"]
    limit = widths[OVERALL, 20]
    enough = sizes_needed(found, lambda rows: rows["half_width"] <= limit).set_index("construction")
    assert enough.loc[OVERALL, "per_list"] == 20
    assert sizes_needed(found, lambda rows: rows["half_width"] < 0)["per_list"].isna().all()


def test_the_command_prints_the_answer_with_cost_and_writes_table_and_figure(tmp_path):
    out = tmp_path / "power"
    done = CliRunner().invoke(
        power,
        ["minimal", "--per-list", "4,8", "--simulations", "3", "--accuracy", "0.9",
         "--reward", "1.00", "--fee-percent", "50", "--out", str(out)],
        catch_exceptions=False,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "For an interval of at most +/- 0.05:" in done.output
    assert "cost" in done.output
    suffixes = {path.suffix for path in out.iterdir()}
    assert suffixes == {".csv", ".md", ".tex", ".txt", ".svg", ".pdf", ".png"}


def test_how_hard_items_are_is_said_once():
    done = CliRunner().invoke(power, ["minimal", "--like", "taken", "--accuracy", "0.9"])
    assert "Give either --like or --accuracy: both define" in done.output


def test_without_published_accuracies_the_options_that_give_them_are_named():
    study = str(Path(__file__).parents[3] / "docs" / "examples" / "latin_square")
    done = CliRunner().invoke(power, [study])
    assert isinstance(done.exception, ParallaxError)
    assert "Give it with --accuracy, or for each condition with --means." in str(done.exception)


@pytest.mark.parametrize("sizes", ["ten", "0,5"])
def test_sizes_that_are_none_are_refused(sizes):
    done = CliRunner().invoke(power, ["minimal", "--per-list", sizes])
    assert done.exit_code == 2


@pytest.mark.parametrize("bound", [{"max_share": 0.8}, {"max_run": 12}])
def test_people_who_are_always_right_take_both_sides(bound):
    rule = Rule.model_validate({"rule": "same_side"} | bound)
    people = Assumptions(sd_participants=0, sd_items=0, lapse=0, guessing=0)
    assert run(MANY, [1.0, 1.0], people, [rule], sizes=(20,))["kept"].min() == 40
    nobody = Rule.model_validate({"rule": "same_side", "max_run": 1})
    assert run(MANY, [1.0, 1.0], people, [nobody], sizes=(20,)).empty


def test_items_are_as_hard_as_for_the_model_that_is_named():
    design = design_of(MANY)
    p_good = dict(zip(design.item_ids, (0.95, 0.6, 0.9, 0.5), strict=True))
    expected = expect_from_items(design, p_good, NOBODY_GUESSES, 3000.0)
    means = dict(zip(design.constructions, expected.constructions, strict=True))
    for name, mean in means.items():
        own = [p_good[one.item.item_id] for one in ENTRIES if one.item.construction == name]
        assert mean == pytest.approx(np.mean(own))
    found = run(MANY, expected, NOBODY_GUESSES, sizes=(40,), n=10)
    seen = found.groupby("construction")["accuracy"].mean()
    for name, mean in means.items():
        assert seen[name] == pytest.approx(mean, abs=0.02)


def test_an_item_without_a_probability_is_named():
    design = design_of(MANY)
    with pytest.raises(AnalysisError, match=f'such as "{design.item_ids[1]}"'):
        expect_from_items(design, {design.item_ids[0]: 0.9}, NOBODY_GUESSES, 3000.0)


def test_harder_items_take_longer_by_the_law_of_the_diffusion_model():
    # The ratio of mean decision times at 90 % and at 60 % is that of the closed form.
    logit = np.log(np.array([0.5 / 0.5, 0.6 / 0.4, 0.9 / 0.1]))
    chance, easy, easiest = relative_decision_time(logit)
    assert chance == 1
    assert easy == pytest.approx((0.2 / logit[1]) * 2)
    assert easiest == pytest.approx((0.8 / logit[2]) * 2)


def test_whoever_is_too_fast_is_excluded_where_times_are_known():
    rule = Rule.model_validate({"rule": "too_fast", "min_median_ms": 3000})
    design = design_of(MANY)
    p_good = dict.fromkeys(design.item_ids, 0.9)
    slow = expect_from_items(design, p_good, NOBODY_GUESSES, 9000.0)
    fast = expect_from_items(design, p_good, NOBODY_GUESSES, 1000.0)
    assert run(MANY, slow, NOBODY_GUESSES, [rule], sizes=(5,), n=2)["kept"].min() == 10
    assert run(MANY, fast, NOBODY_GUESSES, [rule], sizes=(5,), n=2).empty
