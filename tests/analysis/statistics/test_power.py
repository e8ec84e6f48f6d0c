import numpy as np
import pytest
from click.testing import CliRunner

from analysis.commands.power import power
from analysis.errors import AnalysisError
from analysis.statistics.power import (
    OVERALL,
    Assumptions,
    design_of,
    intercept,
    needed,
    simulate,
    summary,
)
from experiment.design.lists import ListEntry
from experiment.materials.read import item_from_row
from experiment.records import Kind
from experiment.studies.study import Rule
from tests.analysis import small_run

ENTRIES = [ListEntry(item_from_row(row), Kind.TARGET) for row in small_run.items()]
MANY = [ENTRIES * 10] * 2
NOBODY_GUESSES = Assumptions(sd_participants=0.6, sd_items=0, lapse=0.04, guessing=0)


def run(lists, accuracy, people, rules=(), sizes=(5, 20), n=20, difference=0.1):
    design = design_of(lists)
    return simulate(
        design, accuracy, people, list(rules), sizes, range(n), difference=difference, seed=1
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
    found = summary(run(MANY, [0.8, 0.8], NOBODY_GUESSES)).set_index(["construction", "per_list"])
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
    found = summary(run(MANY, [0.8, 0.8], NOBODY_GUESSES, n=4))
    widths = found.set_index(["construction", "per_list"])["half_width"]
    limit = widths[OVERALL, 20]
    enough = needed(found, lambda rows: rows["half_width"] <= limit).set_index("construction")
    assert enough.loc[OVERALL, "per_list"] == 20
    assert needed(found, lambda rows: rows["half_width"] < 0)["per_list"].isna().all()


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
