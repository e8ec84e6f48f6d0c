"""``parallax power`` of studies that are read: which are planned, and what is refused."""

import shutil

from click.testing import CliRunner

import parallax
from tests.documentation.examples import ROOT

EXAMPLES = ROOT / "docs" / "examples"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(parallax.cli, ["power", *arguments, "--simulations", "2"])
    return f"{result.exit_code} {' '.join(result.output.split())} {result.exception}"


def test_a_study_of_one_condition_compares_no_times(tmp_path):
    shutil.copytree(EXAMPLES / "self_paced", tmp_path / "self_paced")
    items = tmp_path / "self_paced" / "items.tsv"
    lines = items.read_text().splitlines()
    items.write_text("\n".join(one for one in lines if "-comma\t" not in one) + "\n")
    told = run(str(tmp_path / "self_paced"))
    assert "with these factors and levels: none" in told


def test_a_study_that_is_read_is_planned_for_times_and_mistakes_are_named():
    said = run(str(EXAMPLES / "self_paced"), "--per-list", "10", "--slowdown", "40")
    assert said.startswith("0 ") and "AMBIGUOUS MINUS COMMA: +40.0 %" in said
    assert "five standard deviations" in run(str(EXAMPLES / "maze"), "--log-sds", "1,2")


def test_each_task_of_a_session_is_planned_with_its_own_effect(tmp_path):
    told = run(
        str(EXAMPLES / "mixed"), "--per-list", "2", "--slowdown", "40", "--difference", "0.7"
    )
    assert told.startswith("0 ") and "corrected for 2 primary comparisons" in told
    assert "AMBIGUOUS MINUS COMMA: +40.0 %" in told
    assert "SINGULAR MINUS PLURAL: +0.70 SCALE POINTS" in told
    # The rating's scale has seven points.
    assert "Expected means: 3.65 to 4.35" in told
    means = tmp_path / "means.csv"
    means.write_text("mean\n4\n")
    assert "several" in run(str(EXAMPLES / "mixed"), "--means", str(means))
