import shutil
from pathlib import Path

import pytest

from experiment.design.practice import read_practice
from experiment.errors import StudyError
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.study import Study

TWO = """
[[practice]]
good = "the dog barks"
bad = "the dog bark"
feedback = "One dog barks."

[[practice]]
context = "the dogs"
good = "bark"
bad = "barks"
"""


@pytest.fixture
def study_with(tmp_path):
    """Return a function that gives the minimal study with practice trials from this text."""

    def make(text: str) -> Study:
        folder = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal")
        path = folder / "study.toml"
        path.write_text(f'{path.read_text("utf-8")}\n[trial]\npractice = "practice.toml"\n')
        Path(folder / "practice.toml").write_text(text, encoding="utf-8")
        return load_study(str(folder))

    return make


def test_a_study_needs_no_practice():
    assert read_practice(load_study("minimal")) == []


def test_practice_trials_come_in_their_order_with_their_feedback(study_with):
    first, second = read_practice(study_with(TWO))
    assert (first.item.good, first.item.bad, first.feedback) == (
        "the dog barks", "the dog bark", "One dog barks.",
    )  # fmt: skip
    assert (second.item.context, second.feedback) == ("the dogs", "")


def test_practice_is_the_same_for_everybody(study_with):
    study = study_with(TWO)
    assert read_practice(study) == read_practice(study)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "practice is missing"),
        ("practice = []", "at least 1 item"),
        ("[[practice]]\ngood = 'a'", "practice.0.bad is missing"),
        ("[[practice]]\ngood = 'a'\nbad = 'b'\nside = 1", "practice.0.side is unknown"),
        ("[[practice", "cannot be read"),
        (f"a = {'[' * 5000}", "its brackets are nested too deeply"),
    ],
)
def test_a_practice_file_that_is_unsound_is_named(study_with, text, problem):
    with pytest.raises(StudyError, match=problem) as caught:
        read_practice(study_with(text))
    assert "practice.toml" in caught.value.where


def test_a_missing_practice_file_is_named(study_with):
    study = study_with(TWO)
    (study.folder / "practice.toml").unlink()
    with pytest.raises(StudyError, match="practice trials cannot be read"):
        read_practice(study)
