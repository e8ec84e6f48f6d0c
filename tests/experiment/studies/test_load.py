"""Studies that are not whole are refused when they are read."""

import shutil

import pytest

from experiment.errors import StudyError
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.study import PAGES


@pytest.mark.parametrize("text", [None, "", " \n"], ids=["missing", "empty", "blank"])
@pytest.mark.parametrize("page", PAGES)
def test_a_study_without_the_text_of_a_page_is_refused(tmp_path, page, text):
    study = tmp_path / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", study)
    file = study / "texts" / "en" / f"{page}.md"
    file.unlink()
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(
        StudyError,
        match=rf'{page}.md: .*"{page}" is missing or empty\. Expected a Markdown text that',
    ):
        load_study(str(study))


def with_key(tmp_path, line: str) -> str:
    study = tmp_path / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", study)
    toml = study / "study.toml"
    text = toml.read_text("utf-8")
    assert 'response = "sentence_pair"' in text
    toml.write_text(text.replace('response = "sentence_pair"', line), encoding="utf-8")
    return str(study)


def test_the_type_of_response_is_read_by_the_key_that_it_had_before(tmp_path):
    assert load_study(with_key(tmp_path, 'presentation = "rating"')).response == "rating"


def test_a_wrong_value_of_the_earlier_key_is_named_with_its_line(tmp_path):
    with pytest.raises(StudyError, match=r"line 3, response: response is 7"):
        load_study(with_key(tmp_path, "presentation = 7"))


def test_both_keys_together_are_refused(tmp_path):
    both = 'response = "rating"\npresentation = "rating"'
    with pytest.raises(StudyError, match="response and presentation are two names of one key"):
        load_study(with_key(tmp_path, both))


def test_what_no_database_stores_is_refused_in_settings_and_texts(tmp_path):
    """PostgreSQL stores no NUL: everybody who consented would have met an error."""
    study = with_key(tmp_path, 'response = "sentence_pair"')
    toml = tmp_path / "minimal" / "study.toml"
    sound = toml.read_text("utf-8")
    toml.write_text(sound.replace('name = "minimal"', r'name = "mini\u0000mal"', 1), "utf-8")
    with pytest.raises(StudyError, match=r"study.toml: a text holds a NUL .*Search the file for"):
        load_study(study)
    toml.write_text(sound, "utf-8")
    with (tmp_path / "minimal" / "texts" / "en" / "consent.md").open("a") as file:
        file.write("\0")
    with pytest.raises(StudyError, match=r'consent.md: .*"consent" holds a NUL'):
        load_study(study)
