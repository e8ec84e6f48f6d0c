"""Power of ratings and of yes or no: the model's means, and the command from a study's folder."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from analysis.errors import AnalysisError
from analysis.power.cells import Coded, ScaleModel
from analysis.power.command import power
from analysis.power.planned_tests import usual_effect
from analysis.power.simulated_choices import Assumptions
from experiment.studies.load import load_study

RATINGS = Path("tests/data/presentations/ratings")
MEANS = "condition,version,mean\nshort,good,{}\nshort,bad,{}\nlong,good,{}\nlong,bad,{}\n"


@pytest.mark.parametrize(("points", "mean"), [(7, 5.5), (2, 1.3), (5, 1.6)])
def test_answers_average_to_the_mean_that_is_expected(points, mean):
    scale = ScaleModel(points, Assumptions(0.8, 0.6, 0.05, 0), 0.4)
    rng, n = np.random.default_rng(1), 60_000
    own = np.arange(n)
    drawn = scale.draw(np.full(n, scale.find_base(mean)), Coded(own, own, own % 1), rng)
    assert set(drawn) == set(range(1, points + 1))
    assert drawn.mean() == pytest.approx(mean, abs=4 * drawn.std() / np.sqrt(n))


def test_a_mean_beyond_the_scale_is_named():
    with pytest.raises(AnalysisError, match="mean of 7 cannot be reached on a scale from 1 to 7"):
        ScaleModel(7, Assumptions(), 0.2).find_base(7)


def asked(folder, *options):
    given = ["--simulations", "20", "--guessing", "0", "--per-list", "6,24", *options]
    return CliRunner().invoke(power, [str(folder), *given], catch_exceptions=True)


def powers(text: str, heading: str, column: int) -> list[float]:
    """The numbers below a comparison's heading: rows of the two sizes."""
    rows = text.partition(heading.upper())[2].splitlines()[1:3]
    return [float(row.split()[column]) for row in rows]


def test_more_people_show_an_expected_effect_of_ratings_and_nothing_is_no_effect(tmp_path):
    (tmp_path / "means.csv").write_text(MEANS.format(6, 2.5, 5, 1.5))
    done = asked(RATINGS, "--means", str(tmp_path / "means.csv"), "--reward", "2")
    assert done.exit_code == 0, done.output
    few, many = powers(done.output, "condition: +1.00 scale points", 3)
    assert many < few
    assert powers(done.output, "version: +3.50 scale points", 4) == [1.0, 1.0]
    few, many = powers(done.output, "condition: +1.00 scale points", 4)
    assert few <= many
    assert many > 0.5
    assert "version x condition: no effect is expected." in done.output
    assert "96.00" in done.output
    assert "corrected for 3 primary comparisons" in " ".join(done.output.split())


def test_numbers_of_people_without_an_interval_are_not_called_too_small_for_power():
    # With four participants: a difference needs five.
    done = asked(RATINGS, "--simulations", "2", "--per-list", "2")
    assert "version (+0.50 scale points): no answer with any of these numbers" in done.output


def test_yes_or_no_is_planned_by_its_shares(tmp_path):
    folder = shutil.copytree(RATINGS, tmp_path / "answers")
    text = (folder / "study.toml").read_text().replace('"rating"', '"yes_no"')
    parameters = text.index("[trial.parameters]"), text.index("[simulation]")
    (folder / "study.toml").write_text(text[: parameters[0]] + text[parameters[1] :])
    (tmp_path / "means.csv").write_text(MEANS.format(0.9, 0.5, 0.9, 0.5))
    done = asked(folder, "--means", str(tmp_path / "means.csv"))
    assert done.exit_code == 0, done.output
    assert powers(done.output, "version: +40.0 percentage points", 4)[1] > 0.9


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("condition,mean\nshort,5\n", "no expected mean is given for condition = long"),
        ("size,mean\nshort,5\n", 'the study has no column "size"'),
        ("condition,mean\nshort,five\n", "the expected means cannot be read"),
        ("condition,mean\nshort,5\nshort,4\n", "two rows give the mean of the same answers"),
    ],
)
def test_a_table_of_means_that_does_not_fit_is_said(tmp_path, table, said):
    (tmp_path / "means.csv").write_text(table)
    done = asked(RATINGS, "--means", str(tmp_path / "means.csv"))
    assert isinstance(done.exception, AnalysisError)
    assert said in str(done.exception)


def test_a_study_of_one_condition_has_nothing_to_plan(tmp_path):
    shutil.copytree(RATINGS, tmp_path / "ratings")
    table = tmp_path / "ratings" / "items.csv"
    rows = [line.split(",") for line in table.read_text().splitlines() if "-long," not in line]
    for row in rows[1:]:
        row[9] = ""
    table.write_text("\n".join(map(",".join, rows)) + "\n")
    done = asked(tmp_path / "ratings")
    assert "the study does not compare two conditions" in str(done.exception)


def test_each_of_several_scales_is_planned_in_points_of_its_own(tmp_path):
    several = Path("docs/examples/scales")
    done = asked(several, "--scale", "plausibility", "--out", str(tmp_path / "power"))
    assert done.exit_code == 0, done.output
    assert "Scale plausibility, planned by itself" in done.output
    assert "acceptability" not in done.output
    assert (tmp_path / "power" / "power.csv").exists()
    unknown = asked(several, "--scale", "plausible").output
    assert 'no scale "plausible". Expected one of: acceptability, plausibility' in unknown
    assert "but the study has only one" in asked(RATINGS, "--scale", "plausibility").output
    means = asked(several, "--means", "means.csv").output
    assert "--means holds the means of one scale; name it with --scale" in means


def test_a_slider_is_simulated_as_finely_divided_nine_points():
    nine, slider = (
        ScaleModel(points, Assumptions(0.8, 0.6, 0.05, 0), 0.4, lowest)
        for points, lowest in ((9, 1), (101, 0))
    )
    assert list(nine.bounds) == [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]
    assert slider.bounds[[0, -1]] == pytest.approx([-3.5, 3.5])
    assert slider.mean(0) == pytest.approx(50)  # the middle, by symmetry
    own = np.arange(60_000)
    drawn = slider.draw(np.full(len(own), slider.find_base(30.0)), Coded(own, own, own % 1),
                        np.random.default_rng(1))  # fmt: skip
    assert set(drawn) == set(range(101))
    assert drawn.mean() == pytest.approx(30, abs=4 * drawn.std() / np.sqrt(len(own)))


def test_the_usual_effect_of_a_slider_is_in_its_own_positions():
    rating, slider = (
        load_study("minimal").model_copy(update={"response": name, "exclusion": []})
        for name in ("rating", "slider")
    )
    assert usual_effect("rating", rating) == 0.5
    assert usual_effect("rating", slider) == 5
