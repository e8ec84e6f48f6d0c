"""One example for each condition, with the features of each word below it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from experiment.commands.materials import materials
from experiment.errors import MaterialsError
from experiment.grammar.gloss import gloss
from experiment.grammar.grammar import load_grammar
from tests.experiment.grammar.test_features import FRENCH, VERBAL, write

CHINESE = """
[lexicon.classifier]
forms = "volume | animal"
entries = ["本 | 只"]

[lexicon.noun]
inherent = "class"
entries = ["书 | volume", "猫 | animal"]

[[template]]
name = "classifier"
construction = "classifiers"
condition = "three"
features = { class = "N.class" }
slots = { C = "classifier", N = "noun" }
good = "三{C.class}{N} 来了"
bad = "三{C.!class}{N} 来了"
"""


def lines(folder: Path, grammar: str) -> list[str]:
    loaded = load_grammar(write(folder, grammar))
    return [line for template in loaded.templates for line in gloss(loaded, template)]


def test_each_condition_has_an_example_with_its_features(tmp_path: Path):
    assert lines(tmp_path, FRENCH)[:8] == [
        "  singular",
        "    good        l'auteur est petit",
        "                le                 auteur             est petit",
        "                masculine.singular singular.masculine     masculine.singular",
        "    bad         l'auteur est petite",
        "                le                 auteur             est petite",
        "                masculine.singular singular.masculine     feminine.singular",
        "  plural",
    ]


def test_pieces_of_a_word_are_joined_by_hyphens_under_wide_letters(tmp_path: Path):
    # Each Chinese letter takes two columns: the classifier begins in column 3, after the hyphen.
    assert lines(tmp_path, CHINESE) == [
        "  three",
        "    good        三本书 来了",
        "                三-本    -书     来了",
        "                   volume volume",
        "    bad         三只书 来了",
        "                三-只    -书     来了",
        "                   animal volume",
    ]


def test_the_command_shows_examples_numbers_and_left_out_frames(tmp_path: Path):
    path = write(tmp_path, FRENCH)
    shown = CliRunner().invoke(materials, ["show", str(path)]).output.splitlines()
    assert shown[0] == "gender_agreement, template gender: 4 items"
    assert "2 of 4 frames are left out" in shown[-1]
    out = tmp_path / "items.tsv"
    written = CliRunner().invoke(materials, ["write", str(path), "--out", str(out)]).output
    assert "4 items of grammar.toml written" in written
    assert written.count("2 of 4 frames are left out") == 1
    assert len(out.read_text("utf-8").splitlines()) == 5


def test_a_template_without_frames_has_no_example(tmp_path: Path):
    same = FRENCH.replace('"petit | petite | petits | petites", ', "")
    with pytest.raises(MaterialsError, match="the same in every frame; first"):
        lines(tmp_path, same)


def test_a_study_of_a_table_has_no_templates_to_show():
    shown = CliRunner().invoke(materials, ["show", "docs/examples/latin_square"])
    assert "no template says how they were made" in str(shown.exception)


def test_verbs_of_paradigms_are_glossed_by_their_features(tmp_path: Path):
    assert lines(tmp_path, VERBAL)[2:4] == ["                ils dort", "                    3.SG"]
