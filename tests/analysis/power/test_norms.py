"""The people that a norm of typed answers needs, by hand."""

from math import sqrt
from pathlib import Path

import click
import pytest

from analysis.power.base import PowerOptions
from analysis.power.choices import expected_accuracies
from analysis.power.comparisons import power_of_comparisons
from analysis.power.norms import (
    ClozeSpread,
    expected_half_width,
    people_for_width,
    plan_norm,
)
from analysis.power.simulated_choices import Assumptions
from experiment.coding.categories import Category, Coding
from experiment.design.lists import build_lists
from experiment.materials.read import load_items
from experiment.studies.analysis_plan import Comparison
from experiment.studies.load import load_study
from tests.analysis.power.planned_studies import Planned

TYPED = Path(__file__).parents[3] / "docs" / "examples" / "typed"
Z2 = 1.959964**2


def options(**changes) -> PowerOptions:
    keys = {
        "people": Assumptions(guessing=0.0), "sizes": (6, 12), "simulations": 2, "seed": 1,
        "difference": None, "width": None, "sd_effects": 0.2, "means": None, "scale": None,
        "accuracy": None, "like": None, "slowdown_percent": None, "log_sds": "", "cost": None,
    }  # fmt: skip
    return PowerOptions(**(keys | changes))


def test_the_expected_interval_averages_those_of_each_possible_number() -> None:
    """Of 1 person, 0 or 1 give the word: both intervals have the width z2 / (1 + z2)."""
    assert expected_half_width(0.5, 1) == pytest.approx(Z2 / (1 + Z2) / 2, abs=1e-5)
    # Of 2, half of the time one does.
    one_of_two = sqrt(Z2) / (1 + Z2 / 2) * sqrt(0.25 / 2 + Z2 / 16)
    expected = 0.5 * Z2 / (2 + Z2) / 2 + 0.5 * one_of_two
    assert expected_half_width(0.5, 2) == pytest.approx(expected, abs=1e-5)


def test_the_fewest_people_are_those_from_which_on_the_interval_is_narrow_enough() -> None:
    width = expected_half_width(0.5, 2)
    assert people_for_width(0.5, width + 1e-9) == 2
    assert people_for_width(0.5, width - 1e-9) == 3
    assert people_for_width(0.5, 1e-4) is None


def test_two_norms_correlate_by_the_share_of_variance_between_texts() -> None:
    """Of texts with .25 and .75: .0625 between them, .25 of one person's answers in all."""
    spread = ClozeSpread.parse("0.5,0.25")
    assert spread.reliability(1) == pytest.approx(0.0625 / 0.25)
    # 27 / (27 + 3)
    assert spread.reliability(27) == pytest.approx(0.9)
    assert spread.people_for(0.9) == 27


@pytest.mark.parametrize("text", ["x", "0.5", "1.2,0.1", "0.1,0.5", "0.5,0", "0.5,0.5", "nan,nan"])
def test_numbers_that_shares_cannot_have_are_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a mean and a standard deviation of cloze"):
        ClozeSpread.parse(text)


def test_each_text_is_seen_by_the_people_of_its_lists() -> None:
    """Two lists have each text in one condition: 6 and 12 people of 12 and 24."""
    study = load_study(str(TYPED))
    built = build_lists(study, load_items(study), 1)
    outcome = plan_norm(study, built, options(cloze="0.5,0.25", width=0.2, cost=2.0))
    assert outcome is not None
    frame = outcome.table.frame
    assert frame["n"].tolist() == [6, 12]
    assert frame["participants"].tolist() == [12, 24]
    assert frame["cost"].tolist() == [24.0, 48.0]
    assert frame["halves"].tolist() == pytest.approx([0.5, 2 / 3])
    assert frame["whole"].tolist() == pytest.approx([2 / 3, 0.8])
    _, of_reliability = outcome.sentences
    assert of_reliability.endswith("27 people for each text, 54 participants (27 per list).")


def test_other_answers_have_no_norm(tmp_path: Path) -> None:
    study = Planned("yes_no", "yes", {"a": ("a1", "a2")}, 4, 2, 0.1, 0.5).write(tmp_path)
    assert plan_norm(study, build_lists(study, load_items(study), 1), options()) is None


def test_accepted_words_have_the_mean_cloze_probability_unless_an_accuracy_is_given() -> None:
    study = load_study(str(TYPED))
    built = build_lists(study, load_items(study), 1)
    asked = options(cloze="0.4,0.2")
    assert expected_accuracies(study, built.lists, asked) == {"typed": 0.4, "catch": 0.95}
    given = options(cloze="0.4,0.2", accuracy=0.3)
    assert expected_accuracies(study, built.lists, given) == {"typed": 0.3, "catch": 0.95}


def test_the_share_of_a_category_is_planned_like_other_shares() -> None:
    compared = Comparison(
        name="living", compare="condition: strong - weak", of="share of alive", smallest_effect=0.2
    )
    categories = [Category(name="alive", title="A"), Category(name="thing", title="B")]
    study = load_study(str(TYPED)).model_copy(
        update={"comparisons": [compared], "coding": Coding(question="?", categories=categories)}
    )
    built = build_lists(study, load_items(study), 1)
    [outcome] = power_of_comparisons(study, built, options())
    frame = outcome.table.frame
    assert frame["truth"].tolist() == pytest.approx([0.2, 0.2])
    assert frame["kept"].tolist() == [12, 24]
    assert "Expected means: 0.4 to 0.6." in outcome.table.origin[0]
