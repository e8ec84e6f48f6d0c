"""Models over time in a report."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from analysis.compare import command
from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from analysis.over_time.crossing import Crossing
from analysis.over_time.load import History, HistoryFacts
from analysis.over_time.words import crossing_clause, tokens_in_words
from tests.analysis.chosen_findings import compare_by
from tests.analysis.designed_studies import within


def history(run: ExportedRun, seen: list[int], shares: list[float], seed: str = "1") -> History:
    """Return a training in which the first so many of every ten items are right."""
    n = len(run.items)
    right = (np.arange(n)[:, None] % 10) < 10 * np.array(shares)
    facts = HistoryFacts(
        model=f"LSTM, seed {seed}", trained_on="a text", model_hash="", rendering="as_written",
        study="", study_version="", materials_hash=run.facts.materials_hash, code_version="v9",
        family="LSTM", seed=seed,
    )  # fmt: skip
    items = run.items[["item_id", "construction", "condition"]].astype(str)
    return History(Path("t.parquet"), facts, np.array(seen), items, right)


@pytest.fixture(scope="module")
def run() -> ExportedRun:
    return within(n_people=12, frames=20)


def compare(run: ExportedRun, *histories: History):
    options = ComparisonOptions(resamples=100, over_time=histories)
    return compare_by(["over_time"], run, (), options)


def test_a_report_says_when_a_model_passes_chance_and_reaches_people(run: ExportedRun):
    seen = [0, 10, 20, 40, 80, 160]
    trainings = (
        history(run, seen, [0.5, 0.4, 0.5, 0.5, 1, 1], "1"),
        # One token more is the same checkpoint; 300 are not.
        history(run, [0, 10, 20, 40, 81, 300], [0.5, 0.4, 0.5, 0.5, 1, 1], "2"),
    )
    result = compare(run, *trainings)
    row = result.statistics["crossings"].iloc[0]
    assert row["n_trainings"] == 2
    # .5 after 40 tokens and 1 after 80: .6 after a fifth of a doubling.
    assert row["chance_tokens"] == pytest.approx(40 * 2**0.2)
    people = run.responses["chose_good"].astype(float).mean()
    assert row["people_tokens"] == pytest.approx(40 * 2 ** ((people - 0.5) / 0.5), rel=1e-6)
    curve = result.statistics["over_time"].query("construction == ''")
    curve = curve if len(curve) else result.statistics["over_time"]
    assert curve["tokens_seen"].tolist()[:4] == [10, 20, 40, 80]
    [drawing] = [each for each in result.drawings if each.name == "over_time"]
    figure = drawing.draw()
    assert figure.axes[0].get_xscale() == "log"
    assert any(
        "it exceeds chance by 0.10 from 46 tokens on (95% interval" in line
        for line in result.summary
    )


def test_a_model_that_reaches_nothing_is_censored(run: ExportedRun):
    flat = history(run, [10, 20, 40, 80], [0.5, 0.5, 0.5, 0.5])
    row = compare(run, flat).statistics["crossings"].iloc[0]
    assert row["chance_tokens"] == np.inf
    assert row["passes"].startswith("not by 80 [")


def test_a_curve_of_two_points_is_left_out_with_the_reason(run: ExportedRun):
    result = compare(run, history(run, [10, 20], [0.5, 1]))
    assert not any(table.name == "over_time" for table in result.tables)
    assert any("The curve of LSTM is left out: it has 2 checkpoints" in r for r in result.left_out)


def test_ages_need_files_of_checkpoints():
    arguments = ["--judgments", "j.csv", "--ages", "ages.csv", "--out", "report"]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert "--ages needs files of checkpoints with --scores" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(999, "999"), (45_948, "45.9k"), (999_900, "1M"), (3e11, "300B"), (2.5e12, "2.5T")],
)
def test_tokens_are_written_in_three_digits(tokens: float, words: str):
    assert tokens_in_words(tokens) == words


@pytest.mark.parametrize(
    ("at", "low", "high", "said"),
    [
        (
            np.log(12_300),
            np.log(8_000),
            np.inf,
            "exceeds it from 12.3k tokens on (95% interval 8k to after 2M)",
        ),
        (
            np.inf,
            np.log(90),
            np.inf,
            "does not exceed it up to the last checkpoint (2M tokens; 95% interval 90 to after 2M)",
        ),
        (
            -np.inf,
            -np.inf,
            np.log(500),
            "exceeds it before the first checkpoint (100 tokens; 95% interval before 100 to 500)",
        ),
    ],
)
def test_a_sentence_says_when_a_level_is_passed_or_that_it_is_not(at, low, high, said):
    seen = np.array([100, 2_000_000])
    assert crossing_clause(Crossing(at, low, high), seen, "exceeds it", "exceed it") == said


def test_learners_are_a_level_on_the_same_axis(run: ExportedRun):
    # Of every ten children, seven are right on each item.
    right = np.arange(len(run.responses)) % 10 < 7
    sides = np.where(right, "first", "second")
    answers = run.responses.assign(chose_good=right, chosen_side=sides)
    children = replace(run, folder=Path("age_5"), responses=answers)
    options = ComparisonOptions(
        resamples=100, over_time=[history(run, [10, 20, 40, 80], [0.5, 0.5, 1, 1])],
        learners=[children],
    )  # fmt: skip
    result = compare_by(["over_time"], run, (), options)
    row = result.statistics["crossings"].iloc[0]
    # .5 after 20 tokens and 1 after 40: .7 after two fifths of a doubling.
    assert row["age_5_tokens"] == pytest.approx(20 * 2**0.4)
    assert row["reaches age_5"].startswith("26 [")
    learners = result.statistics["learners"].iloc[0]
    assert (learners["learners"], learners["accuracy"]) == ("age_5", pytest.approx(0.7))
    [drawing] = [each for each in result.drawings if each.name == "over_time"]
    lines = [line.get_linestyle() for line in drawing.draw().axes[0].lines]
    assert lines.count("--") == 1


def test_learners_who_judged_other_items_are_refused(run: ExportedRun):
    other = replace(
        run,
        folder=Path("age_5"),
        items=run.items.assign(item_id="x" + run.items["item_id"].astype(str)),
        trials=run.trials.assign(item_id="x" + run.trials["item_id"].astype(str)),
        responses=run.responses.assign(item_id="x" + run.responses["item_id"].astype(str)),
    )
    options = ComparisonOptions(
        resamples=100, over_time=[history(run, [10, 20, 40, 80], [0.5, 0.5, 1, 1])],
        learners=[other],
    )  # fmt: skip
    with pytest.raises(AnalysisError, match="judged none of the items"):
        compare_by(["over_time"], run, (), options)
