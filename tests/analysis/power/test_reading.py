"""Power of readings: what it must be where it can be worked out, and what is refused."""

import math
import shutil

import pandas as pd
import pytest
from click.testing import CliRunner

import parallax
from analysis.power.base import summary
from analysis.power.reading import ReadDesign, Spread, simulate
from experiment.responses.reading.reading import Read
from tests.documentation.examples import ROOT

SELF_PACED = Spread(*Read.log_rt_sds)

CONTRAST = {"a - b": {"a": 1.0, "b": -1.0}}
EXAMPLES = ROOT / "docs" / "examples"


def design(frames: int) -> ReadDesign:
    """Two lists of a Latin square: each frame in one cell in each."""
    lists = [
        pd.DataFrame({"unit": [f"f{n}" for n in range(frames)],
                      "cell": ["ab"[(n + which) % 2] for n in range(frames)]})
        for which in range(2)
    ]  # fmt: skip
    return ReadDesign("one", lists, CONTRAST)


def found(spread: Spread, *, slowdown: float, size: int, studies: int) -> pd.Series:
    drawn = simulate([design(32)], spread, [size], range(studies), slowdown=slowdown, seed=1)
    return summary(drawn).iloc[0]


def test_an_interval_is_as_wide_as_the_parts_of_the_variance_make_it():
    size, frames = 20, 32
    told = found(SELF_PACED, slowdown=0.05, size=size, studies=20)
    people = 2 * size
    variance = (
        2 * SELF_PACED.residual**2 / (people * frames / 2)
        + SELF_PACED.their_effect**2 / people
        + SELF_PACED.frames_effect**2 / frames
    )
    assert told["half_width"] == pytest.approx(2.03 * math.sqrt(variance), rel=0.12)


def test_almost_no_slowdown_is_found_about_as_often_as_the_level_says_and_a_large_one_always():
    nothing = found(SELF_PACED, slowdown=1e-9, size=8, studies=80)
    assert nothing["power"] <= 0.13
    assert found(SELF_PACED, slowdown=0.5, size=8, studies=10)["power"] == 1.0


def test_people_who_differ_in_the_effect_cost_power():
    alike = Spread(0.35, 0.0, 0.07, 0.0, 0.42)
    differing = Spread(0.35, 0.3, 0.07, 0.0, 0.42)
    widths = [
        found(one, slowdown=0.05, size=8, studies=10)["half_width"] for one in (alike, differing)
    ]
    assert widths[0] < widths[1]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(parallax.cli, ["power", *arguments, "--simulations", "2"])
    return f"{result.exit_code} {' '.join(result.output.split())} {result.exception}"


def test_a_study_of_one_condition_compares_no_times(tmp_path):
    shutil.copytree(EXAMPLES / "self_paced", tmp_path / "self_paced")
    items = tmp_path / "self_paced" / "items.tsv"
    lines = items.read_text().splitlines()
    items.write_text("\n".join(one for one in lines if "-comma\t" not in one) + "\n")
    told = run(str(tmp_path / "self_paced"))
    assert "no construction of the targets has two conditions, so no times" in told


def test_a_study_that_is_read_is_planned_for_times_and_mistakes_are_named():
    said = run(str(EXAMPLES / "self_paced"), "--per-list", "10", "--slowdown", "40")
    assert said.startswith("0 ") and "GARDEN PATH: AMBIGUOUS - COMMA" in said
    assert "to tell 40 %" in said
    assert "five standard deviations" in run(str(EXAMPLES / "maze"), "--log-sds", "1,2")
    assert "several tasks" in run(str(EXAMPLES / "mixed"))
