"""The report of reading times finds what was planted: regions, effects, accuracies, surprisal."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.data.readings import keep_right_words, select_readings, sum_by_region
from analysis.findings.measures import READING
from analysis.maze.analysis import estimate_word_accuracy
from analysis.statistics.contrasts import contrasts
from experiment.studies.analysis_plan import Analysis


def readings(effect: float, people: int = 30, frames: int = 16) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = []
    for person in range(people):
        slow = rng.normal(0, 0.2)
        for frame in range(frames):
            cell = ("a", "b")[(person + frame) % 2]
            for step, region in enumerate([1, 1, 2], start=1):
                log = 5.8 + slow + (effect if cell == "b" and region == 2 else 0)
                rows.append(
                    (f"p{person}", frame, step, region, "w",
                     float(np.exp(log + rng.normal(0, 0.2))), cell, f"f{frame}",
                     rng.random() < 0.9)
                )  # fmt: skip
    names = [
        "participant",
        "position",
        "step",
        "region",
        "text",
        "rt_ms",
        "cell",
        "unit",
        "correct",
    ]
    frame = pd.DataFrame(rows, columns=names).assign(construction="c")
    words = frame.groupby(["participant", "position", "region"])["step"].transform("size")
    return frame.assign(log_rt=np.log(frame["rt_ms"]), n_recorded=words)


def test_times_outside_the_planned_bounds_are_left_out_and_counted():
    times = [99.9, 100, 2000, 2000.1, np.nan]
    read = pd.DataFrame({"participant": "p", "position": 1, "step": range(1, 6),
                         "region": range(1, 6), "judge": "people", "rt_ms": times})  # fmt: skip
    plan = Analysis(least_rt_ms=100, most_rt_ms=2000)
    run = SimpleNamespace(readings=read, study=SimpleNamespace(analysis=plan))
    found = select_readings(run, pd.DataFrame({"participant": ["p"], "position": [1]}))
    assert found.frame["rt_ms"].tolist() == [100, 2000]
    [said] = found.left_out
    assert said.startswith("3 of 5 reading times were left out: below 100 ms, above 2000 ms, or")


def test_words_of_a_region_are_read_together():
    regions = sum_by_region(readings(0))
    assert len(regions) == 30 * 16 * 2
    own = readings(0).groupby(["participant", "position", "region"])["rt_ms"].sum()
    assert regions["rt_ms"].sum() == pytest.approx(own.sum())
    assert set(regions["text"]) == {"w w", "w"}


def test_a_region_has_no_time_where_a_word_of_it_has_none():
    # Two trials of three regions (two words, one word, two words), with a word each that was not
    # measured, was too slow, or was chosen wrongly in a Maze.
    first, second = [300, np.nan, 200, 250, 350], [300, 100, 2001, 250, 350]
    read = pd.DataFrame({"participant": "p", "position": [1] * 5 + [2] * 5,
                         "step": [1, 2, 3, 4, 5] * 2, "region": [1, 1, 2, 3, 3] * 2,
                         "text": list("abcde") * 2, "judge": "people", "rt_ms": first + second,
                         "correct": [True] * 8 + [True, False]})  # fmt: skip
    plan = Analysis(least_rt_ms=100, most_rt_ms=2000)
    run = SimpleNamespace(readings=read, study=SimpleNamespace(analysis=plan))
    trials = pd.DataFrame({"participant": "p", "position": [1, 2]})
    regions = sum_by_region(keep_right_words(select_readings(run, trials).frame))
    assert regions[["position", "region", "rt_ms", "n_words", "text"]].values.tolist() == [
        [1, 2, 200, 1, "c"],
        [1, 3, 600, 2, "d e"],
        [2, 1, 400, 2, "a b"],
    ]
    assert "n_recorded" not in regions


def test_a_region_has_no_time_in_a_trial_that_lacks_a_word_of_it():
    # Two people read the same words; of the second one the word b has no row.
    read = pd.DataFrame({"participant": ["p"] * 3 + ["q"] * 2, "position": 1, "item_id": "i",
                         "version": "good", "step": [1, 2, 3, 1, 3], "region": [1, 1, 2, 1, 2],
                         "text": list("abcac"), "judge": "people",
                         "rt_ms": [300, 400, 200, 310, 250]})  # fmt: skip
    plan = Analysis(least_rt_ms=100, most_rt_ms=2000)
    run = SimpleNamespace(readings=read, study=SimpleNamespace(analysis=plan))
    trials = pd.DataFrame({"participant": ["p", "q"], "position": 1})
    regions = sum_by_region(select_readings(run, trials).frame)
    assert regions[["participant", "region", "rt_ms"]].values.tolist() == [
        ["p", 1, 700],
        ["p", 2, 200],
        ["q", 2, 250],
    ]


def test_differences_of_reading_times_are_clustered_by_what_repeats_as_well():
    study = SimpleNamespace(analysis=SimpleNamespace(repeats="verb"))
    times = sum_by_region(readings(0.1))
    trials = times.drop_duplicates(["participant", "position"])
    trials = trials[["participant", "position", "cell", "unit"]].assign(
        own_verb=trials["position"] % 5
    )
    answers = READING.in_cells(times, trials, study)
    assert (answers["also"].astype(int) == answers["position"] % 5).all()
    without = READING.in_cells(times, trials.drop(columns="own_verb"), study)
    assert "also" not in without
    compared = {"b - a": {"b": 1.0, "a": -1.0}}
    [two], [three] = (
        contrasts(rows[rows["region"] == 2], "log_rt", compared)[["estimate", "low", "high"]]
        .to_numpy()
        .tolist()
        for rows in (without, answers)
    )
    assert two[0] == three[0] and two[1:] != three[1:]


def test_an_effect_in_one_region_is_found_there_alone():
    regions = sum_by_region(readings(0.1))
    found = {
        region: contrasts(rows, "log_rt", {"b - a": {"b": 1.0, "a": -1.0}}).iloc[0]
        for region, rows in regions.groupby("region")
    }
    assert found[2]["low"] < 0.1 < found[2]["high"] and found[2]["p"] < 0.001
    assert found[1]["low"] < 0 < found[1]["high"]


def test_words_chosen_at_once_are_counted_by_region_and_cell():
    frame = readings(0)
    found = estimate_word_accuracy(frame)
    assert len(found) == 4
    row = found.iloc[0]
    own = frame[(frame["region"] == row["region"]) & (frame["cell"] == row["cell"])]
    assert row["accuracy"] == own["correct"].mean()
    assert (found["accuracy_low"] < found["accuracy"]).all()
