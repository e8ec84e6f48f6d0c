"""The commands that make constructions, tests and text of a treebank."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from experiment.authoring.check import check_folder
from experiment.commands.treebank import treebank
from experiment.errors import MaterialsError
from experiment.materials.checks import Result, check_items
from experiment.materials.read import read_items
from experiment.records import Kind
from experiment.studies.files import study_files
from experiment.studies.load import load_study
from experiment.tables.atomic_write import WritingError
from tests.experiment.materials.treebank.treebanks import SAMPLE


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(treebank, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def nonce(out: Path, *options: str) -> str:
    return run("nonce", SAMPLE, "--seed", "1", "--out", out, *options)


def test_extract_prints_the_filters_and_the_constructions():
    printed = run("extract", SAMPLE)
    assert "projective dependencies" in printed
    assert "L__NOUN_VERB_VERB        10    10    0" in printed


def test_every_instance_can_be_listed_from_cue_to_target():
    rows = run("extract", SAMPLE, "--instances").split("from cue to target")[1].splitlines()
    of_verbs = [row for row in rows if row.startswith("L__NOUN_VERB_VERB")]
    assert len(of_verbs) == 20
    assert all(f"{SAMPLE.name}:" in row for row in of_verbs)
    assert f"{SAMPLE.name}:" not in run("extract", SAMPLE)


def test_a_higher_threshold_leaves_no_construction():
    with pytest.raises(MaterialsError, match="--least-of-each-number"):
        run("extract", SAMPLE, "--least-of-each-number", "11")


def test_nonce_writes_items_and_the_published_formats(tmp_path: Path):
    printed = nonce(tmp_path / "made", "--fillers")
    assert "1,600 items written" in printed
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        "items.tsv",
        *(f"generated.{ending}" for ending in ("text", "gold", "eval", "tab")),
    }
    findings = check_items(read_items(tmp_path / "made" / "items.tsv"))
    assert all(finding.result is Result.PASSED for finding in findings)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path):
    for name in ("one", "other"):
        nonce(tmp_path / name, "--as-published-code", "--fillers")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_the_study_items_are_what_the_command_makes_of_the_study_treebank(tmp_path: Path):
    nonce(tmp_path / "made", "--fillers")
    assert (tmp_path / "made" / "items.tsv").read_bytes() == SAMPLE.with_name(
        "items.tsv"
    ).read_bytes()


def test_pooled_constructions_share_their_templates(tmp_path: Path):
    nonce(tmp_path / "made", "--pool")
    templates = {item.template for item in read_items(tmp_path / "made" / "items.tsv")}
    assert templates == {"all_original", "all_nonce"}


def test_a_vocabulary_limits_the_words(tmp_path: Path):
    (tmp_path / "words.txt").write_text("casa\n")
    with pytest.raises(MaterialsError, match="no sentence can be tested"):
        nonce(tmp_path / "made", "--vocabulary", str(tmp_path / "words.txt"))
    assert not (tmp_path / "made").exists()


def test_somebody_elses_folder_is_left_alone(tmp_path: Path):
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(WritingError, match=r"letters\.txt"):
        nonce(tmp_path)


def test_text_has_a_sentence_on_each_line(tmp_path: Path):
    run("text", SAMPLE, "--out", tmp_path / "text.txt")
    lines = (tmp_path / "text.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 160
    assert "La signora compra la torta della nonna anziana preparata con calma ." in lines


def test_a_treebank_is_required():
    result = CliRunner().invoke(treebank, ["extract"])
    assert isinstance(result.exception, SystemExit | click.UsageError)
    assert "CONLLU" in result.output


def test_a_published_set_becomes_items_with_its_attractors(tmp_path: Path):
    nonce(tmp_path / "made")
    made = {item.item_id: item for item in read_items(tmp_path / "made" / "items.tsv")}
    printed = run("items", tmp_path / "made" / "generated", "--out", tmp_path / "again.tsv")
    again = list(read_items(tmp_path / "again.tsv"))
    assert printed.startswith(f"{len(made):,} items written")
    assert {item.item_id for item in again} == set(made)
    for item in again:
        own = made[item.item_id]
        assert (item.context, item.good, item.bad) == (own.context, own.good, own.bad)
        assert item.features == own.features


def test_the_set_of_linzen_becomes_items_by_its_four_columns(tmp_path: Path):
    (tmp_path / "set.text").write_text("the keys to the cabinet are here . <eos>\n")
    (tmp_path / "set.gold").write_text("5\tare\tis\t1\n")
    (tmp_path / "set.eval").write_text("5\n")
    run("items", tmp_path / "set", "--out", tmp_path / "items.csv")
    [item] = read_items(tmp_path / "items.csv")
    assert (item.context, item.good, item.bad) == ("the keys to the cabinet", "are", "is")
    assert item.features == "attractors=1"


def study(out: Path, *options: str) -> str:
    return run("study", SAMPLE, "--language", "it", "--out", out, *options)


def test_one_command_makes_a_study_of_a_treebank(tmp_path: Path):
    printed = study(tmp_path / "italian", "--each", "3")
    assert "pairs chosen" in printed
    assert "names a licence" in printed
    items = list(read_items(tmp_path / "italian" / "items.tsv"))
    assert {"subject_verb_number", "determiner_noun_number"} <= {i.construction for i in items}
    assert not check_folder(str(tmp_path / "italian"), 1).errors
    # A run keeps the sources with the study's other files.
    assert "SOURCES.md" in study_files(load_study(str(tmp_path / "italian")))


def test_a_study_has_only_the_chosen_relations_and_features(tmp_path: Path):
    study(tmp_path / "italian", "--relation", "determiner_noun", "--feature", "number")
    items = read_items(tmp_path / "italian" / "items.tsv")
    assert {item.construction for item in items if item.kind == Kind.TARGET} == {
        "determiner_noun_number"
    }


@pytest.mark.parametrize(
    ("option", "name", "near"),
    [("--feature", "Nmber", "Number"), ("--relation", "subject_verbs", "subject_verb")],
)
def test_a_misspelt_relation_or_feature_is_named(tmp_path: Path, option: str, name: str, near: str):
    with pytest.raises(MaterialsError, match=f'"{name}".*{near}'):
        study(tmp_path / "italian", option, name)
    assert not (tmp_path / "italian").exists()
