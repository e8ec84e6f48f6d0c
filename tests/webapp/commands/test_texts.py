"""The buttons and messages of a study's pages as a table for a native speaker."""

import csv
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from experiment.errors import StudyError, TableError
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.page_files import own_messages
from webapp.commands.texts import describe_texts, texts


def copy_of_minimal(folder: Path, *, language: str) -> Path:
    copy = shutil.copytree(STUDIES_FOLDER / "minimal", folder / "study")
    path = copy / "study.toml"
    text = path.read_text("utf-8")
    assert 'language = "en"' in text
    path.write_text(text.replace('language = "en"', f'language = "{language}"'), "utf-8")
    (copy / "texts" / "en").rename(copy / "texts" / language)
    return copy


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return copy_of_minimal(tmp_path, language="fi")


def run(*words: object) -> Result:
    return CliRunner().invoke(texts, [str(word) for word in words], catch_exceptions=False)


def filled_in(study: Path, corrections: dict[str, str], delimiter: str = ",") -> Path:
    """The table, with corrections by their English."""
    table = study.with_name("texts.csv")
    run(study, "--out", table)
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {"correction": corrections.get(row["english"], "")})
    return table


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_a_native_speaker_corrects_is_what_the_pages_show(study, delimiter):
    table = filled_in(study, {"Next": "Seuraava", "Continue": "Jatka"}, delimiter)
    assert "2 texts corrected" in run(study, table).output
    run(study, filled_in(study, {"Next": "Eteenpäin"}))
    assert own_messages(load_study(str(study))) == {"Next": "Eteenpäin", "Continue": "Jatka"}
    said = run(study, "--out", study / "again.csv").output
    n_texts = int(re.search(r"csv: (\d+) texts", said)[1])
    assert f"{n_texts - 2} of the {n_texts} buttons and messages" in said


def test_translations_are_unreviewed_until_a_native_speaker_is_named(tmp_path):
    german = copy_of_minimal(tmp_path, language="de-AT")
    [said] = describe_texts(load_study(str(german)))
    assert "No native speaker has reviewed" in said and '"de-AT"' in said
    table = filled_in(german, {"Next": "Weiter"})
    run(german, table)
    assert describe_texts(load_study(str(german))) == [said]
    run(german, filled_in(german, {}), "--reviewed-by", "Anna Huber")
    assert describe_texts(load_study(str(german))) == []
    assert own_messages(load_study(str(german))) == {"Next": "Weiter"}


def test_the_texts_in_english_and_italian_need_no_word(tmp_path):
    assert describe_texts(load_study("minimal")) == []
    assert describe_texts(load_study(str(copy_of_minimal(tmp_path, language="it")))) == []


def test_a_translation_that_loses_a_placeholder_leaves_the_catalogue_as_it_was(study):
    run(study, filled_in(study, {"Next": "Seuraava"}))
    before = (study / "texts/fi/messages.po").read_bytes()
    wrong = filled_in(study, {"The right category is: {category}": "Oikea luokka"})
    with pytest.raises(StudyError, match="different placeholders"):
        run(study, wrong)
    assert (study / "texts/fi/messages.po").read_bytes() == before


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("a,b\n1,2\n", "the table lacks the column english.*`parallax study texts` wrote them"),
        ("english,correction\nNext,\n", "corrects nothing.*to whom all texts are right"),
        (
            "english,correction\nNextt,Seuraava\n",
            r"not among .*Nextt.*line 2",
        ),
    ],
)
def test_another_table_is_refused(study, table, problem):
    path = study.with_name("wrong.csv")
    path.write_text(table)
    with pytest.raises(StudyError, match=problem):
        run(study, path)
    assert not (study / "texts/fi/messages.po").exists()


def test_a_table_of_another_kind_is_not_written(study):
    with pytest.raises(TableError, match=r"no table of this format.*a name that ends in \.csv"):
        run(study, "--out", study / "texts.xlsx")
    assert not (study / "texts.xlsx").exists()


def test_a_built_in_study_is_refused(study):
    table = filled_in(study, {"Next": "Seuraava"})
    with pytest.raises(StudyError, match="built-in study cannot be changed"):
        run("minimal", table)
