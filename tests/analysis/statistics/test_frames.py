"""Items that share a frame are not independent: intervals hold what they say all the same."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import binom, norm

from analysis.statistics.accuracy import accuracy_difference, people_accuracy
from analysis.statistics.agreement import agreement
from analysis.statistics.paired import models_against_models, people_against_models

_STUDIES = 400
# Of 400 studies, what a right interval covers stays within this in 99.7 of 100 tests.
_LEAST, _MOST = 0.95 - 0.03, 0.95 + 0.03


@dataclass(frozen=True)
class Frames:
    """A study whose frames repeat: each participant sees ``each`` of a frame's items."""

    people: int
    frames: int
    items: int
    each: int
    spread: float


LATIN_SQUARE = Frames(people=40, frames=16, items=4, each=1, spread=0.6)
STRONG_FRAMES = Frames(people=40, frames=16, items=4, each=1, spread=1.0)
ALL_ITEMS = Frames(people=40, frames=12, items=5, each=5, spread=0.8)
STUDIES = [LATIN_SQUARE, STRONG_FRAMES, ALL_ITEMS]
BASE, SHIFT, OF_PEOPLE = 1.0, 0.8, 0.5


def simulated(study: Frames, rng: np.random.Generator, studies: int = 1) -> pd.DataFrame:
    number, person, frame, nth = (
        one.ravel() for one in np.indices((studies, study.people, study.frames, study.each))
    )
    item = (person + frame + nth) % study.items
    logit = (
        BASE
        + SHIFT * (item >= study.items / 2)
        + rng.normal(0, OF_PEOPLE, (studies, study.people))[number, person]
        + rng.normal(0, study.spread, (studies, study.frames))[number, frame]
    )
    return pd.DataFrame(
        {
            "study": number,
            "participant": person,
            "item_id": frame * study.items + item,
            "frame": frame,
            "construction": "a",
            "condition": "any",
            "late": item >= study.items / 2,
            "chose_good": rng.random(len(logit)) < expit(logit),
        }
    )


def truth(study: Frames) -> tuple[float, float]:
    """The true accuracy of each half of the conditions, over participants and frames."""
    at = norm.ppf((np.arange(2000) + 0.5) / 2000) * np.hypot(OF_PEOPLE, study.spread)
    early, late = (float(expit(BASE + shift + at).mean()) for shift in (0.0, SHIFT))
    return early, late


def share_of_late(study: Frames) -> float:
    return sum(item >= study.items / 2 for item in range(study.items)) / study.items


@pytest.mark.parametrize("study", STUDIES)
def test_intervals_of_accuracies_hold_the_truth_where_frames_repeat(study):
    judged = simulated(study, np.random.default_rng(5), _STUDIES)
    early, late = truth(study)
    share = share_of_late(study)
    whole = share * late + (1 - share) * early
    by_frame, by_item = (
        people_accuracy(one, ["study"]) for one in (judged, judged.drop(columns="frame"))
    )
    covered = {
        name: float(((found["low"] <= whole) & (whole <= found["high"])).mean())
        for name, found in (("by frame", by_frame), ("by item", by_item))
    }
    assert _LEAST < covered["by frame"] < _MOST, covered
    # What this test guards: an interval that takes each item for one of its own is too narrow.
    assert covered["by item"] < _LEAST, covered


@pytest.mark.parametrize("n", [40, pytest.param(100, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("study", STUDIES)
def test_intervals_of_differences_hold_the_truth_where_frames_repeat(study, n):
    rng = np.random.default_rng(7)
    early, late = truth(study)
    held = 0
    for _ in range(n):
        judged = simulated(study, rng)
        apart = accuracy_difference(judged, judged["late"].to_numpy()).iloc[0]
        held += apart["low"] <= late - early <= apart["high"]
    # As many of 100 true 95% intervals, that is 89, as fail to hold it once in two hundred times.
    assert held >= binom.ppf(0.005, n, 0.95)


# Fewer of so many true 95% intervals hold the truth twice in a hundred times.
@pytest.mark.parametrize(
    ("n", "least"), [(20, 17), pytest.param(60, 53, marks=pytest.mark.campaign)]
)
def test_people_minus_a_model_holds_the_truth_where_frames_repeat(n, least):
    study, rng = STRONG_FRAMES, np.random.default_rng(6)
    early, late = truth(study)
    share = share_of_late(study)
    held = 0
    for _ in range(n):
        judged = simulated(study, rng)
        items = judged.drop_duplicates("item_id")[["item_id", "frame", "construction", "late"]]
        # A model that goes by the frame alone, as models err on words.
        right = rng.random(study.frames) < 0.7
        model = items.assign(correct=right[items["frame"]])
        found = people_against_models(judged, {"m": model}, ["construction"]).iloc[0]
        held += found["low"] <= share * late + (1 - share) * early - 0.7 <= found["high"]
    assert held >= least


def two_models(rng: np.random.Generator, frames: int, items: int, studies: int) -> dict:
    """Two models of one accuracy, each of which goes by its own frames; a construction a study."""
    study, frame, _ = (one.ravel() for one in np.indices((studies, frames, items)))
    rows = pd.DataFrame(
        {
            "item_id": np.arange(len(study)).astype(str),
            "frame": study * frames + frame,
            "construction": np.char.add("s", study.astype(str)),
        }
    )
    chances = expit(1 + rng.normal(0, 1, (2, studies * frames)))
    return {
        name: rows.assign(correct=rng.random(len(rows)) < chance[rows["frame"]])
        for name, chance in zip("ab", chances, strict=True)
    }


@pytest.mark.parametrize("frames", [8, 32])
def test_two_models_intervals_hold_the_truth_where_frames_repeat(frames):
    models = two_models(np.random.default_rng(8), frames, 8, _STUDIES)
    of_items = {name: one.drop(columns="frame") for name, one in models.items()}
    by_frame, by_item = (
        models_against_models(one, "construction")[1:] for one in (models, of_items)
    )
    covered = [
        float(((one["low"] <= 0) & (one["high"] >= 0)).mean()) for one in (by_frame, by_item)
    ]
    assert _LEAST < covered[0] < _MOST, covered
    assert covered[1] < 0.88, covered


def test_two_models_over_all_items_differ_by_what_a_frames_items_add_up_to():
    # By hand: in ten frames of two items, differences 1, 0, 0 ... in whole frames; both items of a
    # frame always fall alike, so that frames count as ten items would.
    right = {"a": [1, 1, 1, 1, 1, 1, 1, 1, 0, 0], "b": [1, 1, 1, 1, 1, 0, 0, 0, 1, 0]}
    once = pd.DataFrame({"item_id": [*"0123456789"], "construction": "x", "frame": range(10)})
    twice = pd.concat([once, once.assign(item_id=once["item_id"] + "x")])
    alone, doubled = (
        models_against_models(
            {name: rows.assign(correct=np.resize(of, len(rows))) for name, of in right.items()},
            "construction",
        )
        for rows in (once, twice)
    )
    same = ["difference", "low", "high", "p", "p_equivalence", "p_holm"]
    pd.testing.assert_frame_equal(alone[same], doubled[same])
    assert doubled["n_items"].tolist() == [20, 20]


@pytest.mark.parametrize(("frames", "items", "known"), [(4, 2, False), (5, 2, True), (4, 1, True)])
def test_two_models_have_no_interval_of_fewer_than_five_frames_that_repeat(frames, items, known):
    models = two_models(np.random.default_rng(9), frames, items, 1)
    found = models_against_models(models, "construction")
    said = found[["low", "high", "p", "p_equivalence", "p_holm"]]
    assert (said.notna() if known else said.isna()).all(axis=None)


def test_without_repeated_frames_nothing_changes():
    judged = simulated(LATIN_SQUARE, np.random.default_rng(1))
    alone = judged.assign(frame=judged["item_id"])
    for statistic in (lambda one: people_accuracy(one, ["construction"]), agreement):
        pd.testing.assert_frame_equal(statistic(alone), statistic(judged.drop(columns="frame")))


def test_agreement_is_less_certain_where_frames_repeat():
    judged = simulated(ALL_ITEMS, np.random.default_rng(2))
    by_frame, by_item = (agreement(one).iloc[0] for one in (judged, judged.drop(columns="frame")))
    assert by_frame["alpha"] == by_item["alpha"]
    assert by_frame["high"] - by_frame["low"] > by_item["high"] - by_item["low"]
