"""Whoever tries to mix people and models in a table, a figure or a sentence of a report, cannot."""

from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from analysis.comparison import compare
from analysis.data.kinds import keep_targets
from analysis.data.load import ExportedRun, load_run
from analysis.figures.drawing import Drawing
from analysis.findings.finding import Comparison, ComparisonOptions
from analysis.responses.base import load_analysis
from analysis.tables.section import Section
from analysis.takers.answers import TakerData, load_model_participants
from analysis.takers.by_reading import (
    compare_by_elicitation,
    measure_consistency,
    measure_first_place_bias,
)
from tests.analysis.takers.test_finding import taken


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExportedRun:
    folder = tmp_path_factory.mktemp("people")
    found = load_run(taken(folder, "people", 2.0, sampled=True) / "forced_choice", models=True)
    return replace(found, verdicts=found.verdicts.assign(kept=True))


@pytest.fixture(scope="module")
def takers(run: ExportedRun, tmp_path_factory: pytest.TempPathFactory) -> list[TakerData]:
    root = tmp_path_factory.mktemp("takers")
    folders = [
        taken(root / "wise", "wise", 3.0),
        taken(root / "biased", "biased", 1.0, first_nats=2.0),
    ]
    return load_model_participants(folders, run)


def compared(run: ExportedRun, takers: list[TakerData]) -> Comparison:
    return compare(run, [], ComparisonOptions(resamples=100, takers=takers), code_version="v9")


def picture(drawing: Drawing, folder: Path) -> bytes:
    with mpl.rc_context({"svg.hashsalt": "same"}):
        drawing.draw().savefig(folder / "f.svg", metadata={"Date": None})
    return (folder / "f.svg").read_bytes()


def test_a_report_says_the_same_of_people_whether_models_took_the_session_or_not(
    run: ExportedRun, takers: list[TakerData], tmp_path: Path
):
    alone, beside = compared(run, []), compared(run, takers)
    # A checklist says what was done, models among it, and has no number of theirs.
    others, of_people = (
        [
            table
            for table in each.tables
            if table.section is not Section.TAKERS and "checklist" not in table.caption.lower()
        ]
        for each in (beside, alone)
    )
    assert len(others) > 2 and len(beside.tables) > len(others)
    for before, after in zip(of_people, others, strict=True):
        pd.testing.assert_frame_equal(before.frame, after.frame)
        assert replace(before, frame=after.frame, origin=after.origin) == after
        names = ", ".join(dict.fromkeys(taker.model for taker in takers))
        assert {*before.origin} ^ {*after.origin} == {
            "People alone: no model was compared.", f"Compared with: {names}."
        }  # fmt: skip
    assert alone.drawings
    drawings = [one for one in beside.drawings if one.section is not Section.TAKERS]
    for one, other in zip(alone.drawings, drawings, strict=True):
        assert replace(one, draw=other.draw) == other
        assert picture(one, tmp_path) == picture(other, tmp_path)
    of_takers = [sentence for sentence in beside.summary if " readings" in sentence]
    assert len(of_takers) > 1
    assert set(beside.summary) - set(of_takers) == set(alone.summary)
    assert alone.left_out == beside.left_out
    for name, frame in alone.statistics.items():
        pd.testing.assert_frame_equal(frame, beside.statistics[name])


def swapped(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers of somebody who chose the other option each time."""
    side = np.where(answers["chosen_side"] == "first", "second", "first")
    return answers.assign(chosen_side=side, chose_good=1 - answers["chose_good"].astype(float))


def test_what_a_table_says_of_one_hangs_on_the_answers_of_that_one_alone(
    run: ExportedRun, takers: list[TakerData]
):
    people = compared_judgments(run)
    models = pd.concat([one.frame for one in takers], ignore_index=True)
    for other_people, other_models in ((swapped(people), models), (people, swapped(models))):
        readings = [
            compare_by_elicitation(*pair, 0.1)
            for pair in ((people, models), (other_people, other_models))
        ]
        leaning = [
            measure_first_place_bias(*pair)
            for pair in ((models, people), (other_models, other_people))
        ]
        alike = [
            measure_consistency(*pair) for pair in ((models, people), (other_models, other_people))
        ]
        kept = other_people is people
        of_people, of_models = ["people"], ["accuracy", "model_low", "model_high", "unread"]
        same, changed = (of_people, of_models) if kept else (of_models, of_people)
        pd.testing.assert_frame_equal(readings[0][same], readings[1][same])
        assert not readings[0][changed[0]].equals(readings[1][changed[0]])
        for before, after in (leaning, alike):
            own = before["judge"].eq("people") == kept
            assert own.any() and not own.all()
            pd.testing.assert_frame_equal(before[own], after[own])
        before, after = leaning
        assert not before[~own_rows(before, kept)].equals(after[~own_rows(after, kept)])


def own_rows(frame: pd.DataFrame, people: bool) -> "pd.Series[bool]":
    return frame["judge"].eq("people") == people


def compared_judgments(run: ExportedRun) -> pd.DataFrame:
    """People's judgments as a comparison has them."""
    found: pd.DataFrame = keep_targets(load_analysis(run).join(run, [])).judgments
    return found
