"""A run keeps its study: whatever becomes of the folder, the run is shown as it was launched."""

import shutil
from pathlib import Path

import pytest
from sqlalchemy import delete

from experiment.design.practice import read_practice
from experiment.errors import StudyError
from experiment.studies import files
from experiment.studies.files import study_files
from experiment.studies.load import load_study
from experiment.studies.study import Study
from webapp.database.models import Run, StudyFile
from webapp.errors import RunError
from webapp.runs.runs import load_launched_study

pytestmark = pytest.mark.one_database


@pytest.fixture
def own_study(study: Study, tmp_path: Path) -> Study:
    folder = tmp_path / "study"
    shutil.copytree(study.folder, folder)
    toml = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(f'{toml}\n[trial]\npractice = "practice.toml"\n')
    (folder / "practice.toml").write_text('[[practice]]\ngood = "she walks"\nbad = "she walk"\n')
    (folder / "notes.txt").write_text("nobody needs these")
    return load_study(str(folder))


@pytest.mark.both_databases
def test_the_study_outlives_its_folder(own_study, launched, sessions):
    run, practice = launched(own_study), read_practice(own_study)
    texts = [own_study.text(page) for page in ("consent", "instructions", "debrief")]
    shutil.rmtree(own_study.folder)
    with sessions() as session:
        study = load_launched_study(session, run)
    assert [study.text(page) for page in ("consent", "instructions", "debrief")] == texts
    assert read_practice(study) == practice
    assert study.exclusion == own_study.exclusion


def test_the_study_stays_what_it_was_when_its_folder_changes(own_study, launched, sessions):
    run, before = launched(own_study), own_study.text("consent")
    (own_study.folder / "texts" / "en" / "consent.md").write_text("Another text.")
    with sessions() as session:
        assert load_launched_study(session, run).text("consent") == before


def test_the_pages_are_shown_without_the_folder(own_study, launched, client):
    run = launched(own_study)
    shutil.rmtree(own_study.folder)
    assert client.get(f"/run/{run.ref}").status_code == 200


def test_only_what_makes_the_study_is_kept(own_study):
    assert sorted(study_files(own_study)) == [
        "grammar.toml", "practice.toml", "published.csv", "study.toml",
        "texts/en/consent.md", "texts/en/debrief.md", "texts/en/instructions.md",
    ]  # fmt: skip


def test_a_study_too_large_to_keep_is_not_launched(own_study, launched, sessions, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_STUDY_BYTES", 100)
    with pytest.raises(StudyError, match=r"most of them \w+\.\w+\. Expected at most 100 bytes"):
        launched(own_study)
    with sessions() as session:
        assert session.query(Run).count() == 0


@pytest.mark.parametrize("name", ["../practice.toml", "/etc/hostname"])
def test_a_file_outside_the_folder_is_never_read(own_study, name):
    elsewhere = own_study.model_copy(
        update={"trial": own_study.trial.model_copy(update={"practice": name})}
    )
    with pytest.raises(StudyError, match="lies outside the study"):
        study_files(elsewhere)


def test_a_run_whose_study_was_lost_says_what_to_do(run, sessions):
    with sessions() as session:
        session.execute(delete(StudyFile))
        with pytest.raises(RunError, match=r"not in the database.*Put the folder back"):
            load_launched_study(session, run)
