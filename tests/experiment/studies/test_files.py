"""A study's catalogue and files: what is read, and where a mistake is said to be."""

import shutil
from types import SimpleNamespace
from typing import Any, cast

import pytest

from experiment.errors import StudyError
from experiment.studies import files, page_files
from experiment.studies.load import load_study
from experiment.studies.published import read_published


def catalogue(**translations: str) -> str:
    entries = [f'msgid "{name}"\nmsgstr "{text}"\n' for name, text in translations.items()]
    return "\n".join(['msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n', *entries])


@pytest.mark.parametrize(
    ("message", "translation", "fits"),
    [
        ("Start", "Begin", True),
        ("Start", "Begin {n}", False),
        ("Trial {n} of {total}", "{n} di {total}", True),
        ("Trial {n} of {total}", "{total}: {n}", True),
        ("Trial {n} of {total}", "{n} di {n}", False),
        ("Trial {n}", "{n} di {total}", False),
        ("{n} left", "left", False),
        ("Trial %(number)s", "%(number)s", True),
        ("Trial %(number)s", "number", False),
        ("A { brace", "A { brace", True),
        ("A { brace", "Another", False),
    ],
)
def test_a_translation_has_the_placeholders_of_its_message(message, translation, fits):
    text = f'msgid "{message}"\nmsgstr "{translation}"\n'
    if fits:
        assert page_files.read_messages(text, "own.po") == {message: translation}
    else:
        with pytest.raises(StudyError, match=r"^own\.po: .*has different placeholders"):
            page_files.read_messages(text, "own.po")


def test_a_message_without_a_translation_is_not_the_studys_own():
    assert page_files.read_messages(catalogue(Start="Begin", Go=""), "own.po") == {"Start": "Begin"}


def test_a_catalogue_in_another_encoding_is_said_with_its_place(tmp_path):
    folder = shutil.copytree(load_study("minimal").folder, tmp_path / "study")
    (folder / "texts/en/messages.po").write_bytes(
        'msgid "Start"\nmsgstr "D\xe9but"\n'.encode("latin-1")
    )
    with pytest.raises(StudyError, match="the study's own catalogue cannot be read") as error:
        page_files.own_messages(load_study(str(folder)))
    assert error.value.where == str(folder / "texts/en/messages.po")


def test_a_file_outside_the_folder_is_said_to_be_named_in_study_toml():
    study = load_study("minimal")
    trial = study.trial.model_copy(update={"practice": "../practice.toml"})
    with pytest.raises(StudyError) as error:
        list(files.study_files(study.model_copy(update={"trial": trial})))
    assert error.value.where == str(study.folder / "study.toml")


@pytest.mark.parametrize(
    "error", [PermissionError(13, "denied"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")]
)
def test_published_results_that_cannot_be_read_are_named(error):
    def read(_: str) -> str:
        raise error

    study = SimpleNamespace(read=read, published_path="there/published.csv")
    with pytest.raises(StudyError, match=r"^there/published\.csv: .*cannot be read"):
        read_published(cast(Any, study))


def test_a_wrong_key_says_what_it_takes_in_double_quotes_and_what_it_means(tmp_path):
    folder = shutil.copytree(load_study("minimal").folder, tmp_path / "minimal")
    toml = folder / "study.toml"
    text = toml.read_text("utf-8")
    toml.write_text(text.replace('type = "text"', 'type = "texts"'), "utf-8")
    with pytest.raises(StudyError) as error:
        load_study(str(folder))
    assert 'one of: "text", "long_text", "choice"' in str(error.value)
    assert "It says: the kind of field" in str(error.value)
