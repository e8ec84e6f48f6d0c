"""Of one known participant no difference has an interval; of unknown ones, frames count."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics import withheld
from analysis.statistics.accuracy import accuracy_difference
from analysis.statistics.contrasts import contrasts
from analysis.statistics.paired import people_against_models
from analysis.statistics.ratings import rating_differences
from analysis.statistics.withheld import SHARE, WITHHELD_NOTE, withheld_notes
from tests.analysis.known_choices import crossed, decided

ITEMS = 120
KNOWN = [(1, True), (4, True), (5, False)]


def judged(people: int) -> pd.DataFrame:
    rng = np.random.default_rng(people)
    return crossed(rng.random((people, ITEMS)) < 0.7)


def rated(people: int) -> pd.DataFrame:
    rows = judged(people)
    rng = np.random.default_rng(people)
    halves = np.where(rows["construction"] == "a", "good", "bad")
    return rows.assign(
        rating=rng.integers(1, 8, len(rows)),
        version=halves,
        cell=rows["construction"],
        unit=rows["item_id"],
        construction="all",
    )


@pytest.mark.parametrize(("people", "few"), KNOWN)
def test_a_difference_of_accuracies_of_too_few_people_has_no_interval(people: int, few: bool):
    rows = judged(people)
    found = accuracy_difference(rows, (rows["construction"] == "a").to_numpy()).iloc[0]
    assert np.isfinite(found["difference"])
    assert found[["low", "high"]].isna().all() == few


@pytest.mark.parametrize(("people", "few"), KNOWN)
def test_differences_of_ratings_of_too_few_people_have_no_interval(people: int, few: bool):
    rows = rated(people)
    of_design = contrasts(rows, "rating", {"a - b": {"a": 1.0, "b": -1.0}}).iloc[0]
    of_versions = rating_differences(rows, ["construction"]).iloc[0]
    for found in (of_design, of_versions):
        assert found[["low", "high"]].isna().all() == few


def test_of_unknown_people_and_of_models_frames_alone_are_counted():
    rows = judged(3).assign(participant=None)
    found = accuracy_difference(rows, (rows["construction"] == "a").to_numpy()).iloc[0]
    assert found[["low", "high"]].notna().all()
    wanted = {"a - b": {"a": 1.0, "b": -1.0}}
    of_model = rated(1).assign(participant=None)
    found = contrasts(of_model, "rating", wanted, people=False).iloc[0]
    assert found["n_participants"] == 0 and found[["low", "high", "p"]].notna().all()


@pytest.mark.parametrize(("frames", "few"), [(4, True), (5, False)])
def test_ratings_of_unknown_people_have_the_floor_of_frames(frames: int, few: bool):
    wanted = {"a - b": {"a": 1.0, "b": -1.0}}
    rows = rated(20).assign(participant=None)
    rows["unit"] = [str(number % frames) for number in range(len(rows))]
    found = contrasts(rows, "rating", wanted).iloc[0]
    assert np.isfinite(found["estimate"])
    assert found[["low", "high", "p"]].isna().all() == few
    # A model's scores of as few sentences have one: see few_items.
    assert contrasts(rows, "rating", wanted, people=False).iloc[0][["low", "p"]].notna().all()


@pytest.mark.parametrize(("number", "said"), [(SHARE - 1, [WITHHELD_NOTE]), (SHARE, [])])
def test_the_note_below_accuracies_says_why_few_judgments_have_no_interval(number, said):
    row = {"people": 0.9, "people_low": np.nan, "n_judgments": number}
    assert withheld_notes(pd.DataFrame([row]), ["people"]) == said


def test_frames_without_a_count_of_people_give_no_reason():
    row = {"people": 0.9, "people_low": np.nan, "n_judgments": SHARE, "n_frames": 1}
    assert withheld_notes(pd.DataFrame([row]), ["people"]) == []


def test_the_note_below_the_table_says_why_one_person_has_no_interval():
    models = {"m": decided(np.arange(ITEMS) % 3 > 0)}
    one, unknown = judged(1), judged(1).assign(participant=None)
    rows = people_against_models(one, models, ["construction"])
    named = rows.rename(columns={"low": "difference_low", "high": "difference_high"})
    assert withheld_notes(named[named["construction"] == ""], ["difference"]) == [WITHHELD_NOTE]
    rows = people_against_models(unknown, models, ["construction"])
    assert rows["n_participants"].eq(0).all() and rows["low"].notna().all()


def test_what_too_few_answers_or_units_tell_is_withheld():
    low, high = withheld.withhold_ends(
        [0.1, 0.2, 0.3], [0.7, 0.8, 0.9], [59, 60, 61], withheld.SHARE
    )
    assert low.tolist() == pytest.approx([np.nan, 0.2, 0.3], nan_ok=True)
    assert high.tolist() == pytest.approx([np.nan, 0.8, 0.9], nan_ok=True)
    few = withheld.too_few_units([0, 1, 4, 5, 5, 0], [5, 5, 5, 5, 4, 4])
    assert few.tolist() == [False, True, True, False, True, True]
    assert (withheld.MEAN, withheld.CONTRAST, withheld.UNITS, withheld.PEOPLE) == (25, 50, 5, 8)
