"""Drafts for the data protection officer say what the study's settings say, and nothing else."""

import re

import pytest
from click.testing import CliRunner

import parallax
from experiment.studies.load import load_study
from experiment.studies.study import About, Privacy
from webapp.commands.privacy import DRAFT_FILES, find_platform_name, privacy_drafts
from webapp.errors import WebappError
from webapp.participant.data_notice import list_stored_data

ABOUT = {"institution": "University of Nowhere", "contact": "Ada, ada@example.org", "ethics": "E 7"}


def drafts_of(study):
    return privacy_drafts(
        study, list_stored_data(study, known_to_platform=bool(find_platform_name(study)))
    )


@pytest.fixture
def study():
    found = load_study("minimal")
    about = About.model_validate({**found.study.model_dump(), **ABOUT})
    promised = Privacy(keep_identifying_days=90, identifying_questions=("native_language",))
    return found.model_copy(update={"study": about, "privacy": promised})


def test_the_drafts_hold_what_the_settings_say(study):
    annex, record, flow = (drafts_of(study)[name] for name in DRAFT_FILES)
    for text in (annex, record):
        assert all(said in text for said in ABOUT.values())
        assert all(str(each) in text for each in list_stored_data(study, known_to_platform=True))
        assert "90 days after" in text
    assert re.search(r"native_language.*\(identifying\)", record)
    assert f"up to {study.design.n_places} participants" in record
    assert flow.count("```") == 2 and "flowchart LR" in flow and "90 days after closing" in flow


def test_what_no_setting_tells_stands_in_brackets(study):
    silent = load_study("minimal").model_copy(update={"recruitment": None})
    annex, record, flow = (drafts_of(silent)[name] for name in DRAFT_FILES)
    assert "[institution]" in annex and "[institution]" in record
    assert "The study sets no time" in annex
    assert "No recruiting platform is told anything" in annex and "nobody is paid" in record
    assert "platform[" not in flow
    assert "[institution]" not in drafts_of(study)[DRAFT_FILES[0]]


def test_the_command_writes_them_once_and_never_over_what_was_completed(tmp_path):
    def shell(*words: str) -> str:
        return CliRunner().invoke(parallax.cli, words, catch_exceptions=False).output

    assert "# Record of processing" in shell("study", "privacy", "minimal")
    said = shell("study", "privacy", "minimal", "--out", str(tmp_path / "privacy"))
    assert {path.name for path in (tmp_path / "privacy").iterdir()} == set(DRAFT_FILES)
    assert "Complete the parts in brackets" in said
    completed = tmp_path / "privacy" / DRAFT_FILES[1]
    completed.write_text("completed")
    with pytest.raises(WebappError, match="already exist"):
        shell("study", "privacy", "minimal", "--out", str(tmp_path / "privacy"))
    assert completed.read_text() == "completed"
