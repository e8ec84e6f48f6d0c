"""A study's own font is found as its files are kept, and Noto stands for the scripts it has."""

from pathlib import Path

import pytest

from experiment.authoring.check import check_study
from experiment.studies.files import study_files
from experiment.studies.load import load_study
from experiment.studies.study import Study

STUDY = load_study("minimal")


def _said(study: Study) -> str:
    report = check_study(study, 1)
    return "\n".join(map(str, (*report.errors, *report.notes)))


def _with_font(name: str, study: Study = STUDY) -> Study:
    return study.model_copy(update={"trial": STUDY.trial.model_copy(update={"font": name})})


def test_keys_that_only_the_instructions_name_are_reported():
    """The minimal study's instructions say to press 1 or 2."""
    trial = STUDY.trial.model_validate({**STUDY.trial.model_dump(), "keys": ("f", "2")})
    said = _said(STUDY.model_copy(update={"trial": trial}))
    assert "the instructions name the keys 1, which choose nothing" in said
    assert "the keys of [trial]: f, 2" in said
    assert "which choose nothing" not in _said(STUDY)


@pytest.mark.parametrize("name", ["own.woff2", "./own.woff2", "fonts//own.woff2"])
def test_a_font_is_found_in_the_folder_and_among_kept_files(tmp_path: Path, name: str):
    (tmp_path / "fonts").mkdir()
    (tmp_path / name).write_bytes(b"wOF2 letters")
    whole = _with_font(name).model_copy(update={"folder": tmp_path})
    kept = whole.model_copy(update={"files": study_files(whole)})
    assert whole.read_bytes(name) == kept.read_bytes(name) == b"wOF2 letters"
    with pytest.raises(FileNotFoundError):
        kept.model_copy(update={"files": {}}).read_bytes(name)


@pytest.mark.parametrize(
    ("language", "has"),
    [("en", True), ("ru", True), ("ur", True), ("zh", False), ("ja", False), ("hi", False),
     ("ka", False), ("sr-Latn", True)],
)  # fmt: skip
def test_noto_is_said_to_lack_the_letters_of_scripts_that_do_not_travel(language: str, has: bool):
    about = STUDY.study.model_copy(update={"language": language})
    said = _said(_with_font("noto").model_copy(update={"study": about}))
    assert (f'"noto" has no letters of the language "{language}"' not in said) == has


@pytest.mark.parametrize(
    ("language", "has"),
    [("en", True), ("hi", True), ("zh", True), ("syr", False), ("nqo", False), ("zgh", False)],
)
def test_scripts_that_some_devices_lack_are_named(language: str, has: bool):
    about = STUDY.study.model_copy(update={"language": language})
    said = _said(_with_font("system").model_copy(update={"study": about}))
    lacks = f'not every device has a font for the letters of the language "{language}"'
    assert (lacks not in said) == has


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"OTTO", 'the file "own.woff2" is not a WOFF2 font'),
        (b"wOF2" + bytes(10**7), "bytes, which every participant downloads. Expected at most"),
    ],
)
def test_a_file_that_browsers_could_not_use_or_all_wait_for_is_named(tmp_path: Path, content, said):
    (tmp_path / "own.woff2").write_bytes(content)
    assert said in _said(_with_font("own.woff2").model_copy(update={"folder": tmp_path}))
