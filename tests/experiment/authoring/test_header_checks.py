"""What a header was read as is said by the check, and stands in study.toml."""

import tomllib

import pytest
from click.testing import CliRunner

import parallax
from experiment.materials.formats.columns import column_headers
from experiment.materials.formats.read import read_materials

PAIRS = """\
set,cond,stimulus,grammaticality,type
1,a,The cat sleeps.,1,exp
1,a,The cat sleep.,0,exp
2,a,The dog sleeps.,1,exp
2,a,The dog sleep.,0,exp
"""
OPTIONS = "frame,option_1,option_2,answer\n1,sleeps,sleep,1\n2,runs,run,2\n"
CROSSED = "set,number,distance,sentence\n" + "".join(
    f"{frame},{number},{distance},The {number} {distance} {frame}.\n"
    for frame in range(1, 5)
    for number in ("one", "two")
    for distance in ("near", "far")
)


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """Return what the check prints of a study that is made of a table, and its study.toml."""
    monkeypatch.chdir(tmp_path)

    def made(table: str, *options: str, change=str) -> tuple[str, str]:
        (tmp_path / "mine.csv").write_text(table, encoding="utf-8")
        new = CliRunner().invoke(parallax.cli, ["study", "new", "own", "--from", "mine.csv",
                                                *options])  # fmt: skip
        assert new.exit_code == 0, new.output
        path = tmp_path / "own" / "study.toml"
        path.write_text(change(path.read_text("utf-8")), encoding="utf-8")
        said = CliRunner().invoke(parallax.cli, ["study", "check", "own"])
        return said.output, path.read_text("utf-8")

    return made


def test_the_check_says_every_header_that_was_read_as_a_column_of_ours(checked):
    said, toml = checked(PAIRS)
    assert (
        'Read from your table: the item\'s number (frame) from "set"; condition from "cond"; kind '
        'from "type"; the sentence from "stimulus"; which sentence of a pair is the good one from '
        '"grammaticality".' in said
    )
    assert 'version = "grammaticality"' in toml


def test_a_column_that_tells_no_versions_apart_stays_the_researchers_own(checked, tmp_path):
    single = "\n".join(PAIRS.splitlines()[::2]) + "\n"
    said, _ = checked(f"{PAIRS.splitlines()[0]}\n" + single.partition("\n")[2])
    assert "grammaticality" not in said
    assert read_materials(tmp_path / "mine.csv", alone=True).items[0].extra == (
        ("grammaticality", "0"),
    )


def test_conditions_that_factors_make_and_options_name_all_their_headers(checked, tmp_path):
    said, _ = checked(CROSSED, "--response", "rating")
    assert 'condition from "number" and "distance"' in said
    (tmp_path / "options.csv").write_text(OPTIONS, encoding="utf-8")
    assert read_materials(tmp_path / "options.csv").headers == {
        "item": "frame",
        "good": ["option_1", "option_2", "answer"],
    }


def test_a_header_with_any_characters_is_one_header(checked):
    strange = {"good": 'Plausible "a.b" (+)', "bad": "Not\nplausible \x7f\\"}
    header = ",".join('"' + name.replace('"', '""') + '"' for name in strange.values())
    named = (f"--column={ours}={name}" for ours, name in strange.items())
    said, toml = checked(f"{header}\nIt sleeps.,It sleep.\nIt runs.,It run.\n", *named)
    assert tomllib.loads(toml)["materials"]["headers"] == strange
    assert 'good from "Plausible "a.b" (+)"; bad from' in said


def test_the_codebook_names_the_column_of_single_sentences_for_what_holds_them():
    assert column_headers({"sentence": "stimulus"}) == {
        "good": '; in the researcher\'s table: "stimulus"'
    }
    assert column_headers({"sentence": ["region_1", "region_2"], "version": "label"})["bad"] == (
        '; in the researcher\'s table: "region_1" and "region_2"; '
        'in the researcher\'s table: "label"'
    )


def test_a_name_that_is_no_column_of_ours_is_a_mistake(checked):
    said, _ = checked(PAIRS, change=lambda toml: toml.replace(", version =", ", verzion ="))
    assert 'no column of Parallax "verzion"' in said
    assert 'Did you mean "version"?' in said


def test_a_header_that_is_no_text_is_told_as_one(checked):
    said, _ = checked(PAIRS, change=lambda toml: toml.replace('item = "set"', "item = 3"))
    assert "item 1 is 3. Expected a text in quotation marks" in said


COUNTED = """\
item,condition,label,sentence,question,answers,answer
1,a,item,The boy runs.,Who runs?,the boy|the girl,the boy
1,b,item,The boys run.,Who runs?,the boy|the girl,the boy
2,a,item,The girl sings.,,,
2,b,item,The girls sing.,,,
3,,filler,It rains.,,,
4,,practice,It snows.,,,
"""


def test_check_and_show_count_what_a_table_holds(checked):
    said, _ = checked(COUNTED, "--response", "self_paced")
    counts = "4 targets, 1 filler, 0 catch trials, 1 practice trial, 2 items with a question"
    assert f"Counted: {counts}." in said
    shown = CliRunner().invoke(parallax.cli, ["study", "show", "own"])
    assert f"Counted       {counts}" in shown.output
