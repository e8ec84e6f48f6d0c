"""The report of reading times finds what was planted: regions, effects, accuracies, surprisal."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.data.readings import by_region, readings_of
from analysis.maze.analysis import word_accuracy
from analysis.statistics.contrasts import contrasts


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
    return frame.assign(log_rt=np.log(frame["rt_ms"]))


def test_times_outside_the_planned_bounds_are_left_out_and_counted():
    times = [99.9, 100, 2000, 2000.1, np.nan]
    read = pd.DataFrame({"participant": "p", "position": 1, "step": range(1, 6), "judge": "people",
                         "rt_ms": times})  # fmt: skip
    plan = SimpleNamespace(least_rt_ms=100.0, most_rt_ms=2000.0)
    run = SimpleNamespace(readings=read, study=SimpleNamespace(analysis=plan))
    found = readings_of(run, pd.DataFrame({"participant": ["p"], "position": [1]}))
    assert found.frame["rt_ms"].tolist() == [100, 2000]
    [said] = found.left_out
    assert said.startswith("3 of 5 reading times were left out: below 100 ms, above 2000 ms, or")


def test_words_of_a_region_are_read_together():
    regions = by_region(readings(0))
    assert len(regions) == 30 * 16 * 2
    own = readings(0).groupby(["participant", "position", "region"])["rt_ms"].sum()
    assert regions["rt_ms"].sum() == pytest.approx(own.sum())
    assert set(regions["text"]) == {"w w", "w"}


def test_an_effect_in_one_region_is_found_there_alone():
    regions = by_region(readings(0.1))
    found = {
        region: contrasts(rows, "log_rt", {"b - a": {"b": 1.0, "a": -1.0}}).iloc[0]
        for region, rows in regions.groupby("region")
    }
    assert found[2]["low"] < 0.1 < found[2]["high"] and found[2]["p"] < 0.001
    assert found[1]["low"] < 0 < found[1]["high"]


def test_words_chosen_at_once_are_counted_by_region_and_cell():
    frame = readings(0)
    found = word_accuracy(frame)
    assert len(found) == 4
    row = found.iloc[0]
    own = frame[(frame["region"] == row["region"]) & (frame["cell"] == row["cell"])]
    assert row["accuracy"] == own["correct"].mean()
    assert (found["accuracy_low"] < found["accuracy"]).all()
