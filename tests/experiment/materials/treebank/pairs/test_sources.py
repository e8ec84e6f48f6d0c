"""The language and the licence of a treebank."""

from pathlib import Path

import pytest

from experiment.errors import MaterialsError, StudyError
from experiment.materials.treebank.pairs.sources import (
    Source,
    choose_language,
    refuse_no_features,
    write_sources,
)


@pytest.mark.parametrize(
    ("names", "told", "tag"),
    [
        (["de_gsd-ud-dev.conllu"], "", "de"),
        (["de_gsd-ud-dev.conllu"], "deu", "de"),
        (["no_bokmaal-ud-dev.conllu.gz"], "nb", "nb"),
        (["pt_bosque-ud-dev.conllu", "pt_bosque-ud-test.conllu"], "pt-BR", "pt-BR"),
        (["mine.conllu"], "pl", "pl"),
    ],
)
def test_two_codes_of_a_language_are_one(names: list[str], told: str, tag: str):
    assert choose_language([Path(name) for name in names], told) == tag


def test_a_treebank_of_two_languages_is_refused():
    with pytest.raises(StudyError, match='treebank has two languages, "fr" and "de"'):
        choose_language([Path("de_gsd-ud-dev.conllu")], "fr")


def test_a_language_that_does_not_exist_is_refused():
    with pytest.raises(StudyError, match='there is no language "qqqqq"'):
        choose_language([Path("de_gsd-ud-dev.conllu")], "qqqqq")


def test_a_file_without_a_code_needs_a_language():
    with pytest.raises(StudyError, match="--language"):
        choose_language([Path("mine.conllu")], "")


def test_the_licence_is_that_of_the_readme_and_its_text_is_kept(tmp_path: Path):
    (tmp_path / "README.md").write_text("# Title\n\nLicense: CC BY-SA 4.0\nIncludes text: yes\n")
    (tmp_path / "LICENSE.txt").write_text("Share it alike.\n")
    source = Source(tmp_path / "de_own-ud-dev.conllu")
    assert source.licence == "CC BY-SA 4.0"
    page = write_sources([source], [], {"pairs": 3}, ["a disagreement"])
    assert "| de_own-ud-dev.conllu | treebank | CC BY-SA 4.0 |" in page
    assert "Share it alike." in page
    assert "- a disagreement" in page
    assert Source(tmp_path / "x", "CC0").licence == "CC0"


def test_a_folder_without_readme_states_no_licence(tmp_path: Path):
    assert Source(tmp_path / "x.conllu").licence == "not stated"


def test_a_treebank_without_features_is_refused():
    refuse_no_features(["_", "Number=Sing"], "a.conllu")
    with pytest.raises(MaterialsError, match="no word of the treebank has features"):
        refuse_no_features(["_", "_"], "a.conllu")
