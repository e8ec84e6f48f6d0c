"""The published results in a study's folder."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from experiment.errors import StudyError, TableError
from experiment.materials.read import load_items
from experiment.studies.load import built_in_studies, load_study
from experiment.studies.published import Published, read_published
from experiment.studies.study import Study

STUDY = load_study("marvin_linzen_2018")
ROWS = read_published(STUDY)


@pytest.fixture(scope="module")
def items_per_condition() -> Counter[tuple[str, str]]:
    return Counter((item.construction, item.condition) for item in load_items(STUDY))


@pytest.mark.parametrize("name", built_in_studies())
def test_every_published_condition_exists_in_the_generated_items(name: str):
    study = load_study(name)
    known = {(item.construction, item.condition) for item in load_items(study)}
    published = {(row.construction, row.condition) for row in read_published(study)}
    assert {key for key in published if key[1]} <= known


def test_each_table_is_complete(items_per_condition: Counter[tuple[str, str]]):
    keys = defaultdict(set)
    for row in ROWS:
        keys[row.table, row.judge].add((row.construction, row.condition))
    constructions = {(construction.name, "") for construction in STUDY.constructions}
    for judge in ("people", "rnn", "multitask", "ngram"):
        assert keys.pop(("table_1", judge)) == constructions
    for judge in ("people", "rnn", "multitask"):
        assert len(keys.pop(("table_2", judge))) == 8
    for judge in ("rnn", "multitask"):
        assert keys.pop(("supplement", judge)) == set(items_per_condition)
    assert not keys


def test_the_supplements_scores_average_to_table_1(items_per_condition: Counter[tuple[str, str]]):
    # Weighted by the items of each condition, as Table 1 is; printed figures are rounded, and the
    # one construction with a larger difference carries a note.
    for whole in (row for row in ROWS if row.table == "table_1" and not row.note):
        parts = [
            (row.accuracy, items_per_condition[row.construction, row.condition])
            for row in ROWS
            if (row.table, row.construction, row.judge)
            == ("supplement", whole.construction, whole.judge)
        ]
        if parts:
            mean = sum(accuracy * n for accuracy, n in parts) / sum(n for _, n in parts)
            assert mean == pytest.approx(whole.accuracy, abs=0.0101), whole


def test_table_2_agrees_with_the_supplement_but_where_a_note_says_otherwise():
    supplement = {
        (row.construction, row.condition, row.judge): row.accuracy
        for row in ROWS
        if row.table == "supplement"
    }
    for row in (row for row in ROWS if row.table == "table_2" and row.judge != "people"):
        same = supplement[row.construction, row.condition, row.judge] == row.accuracy
        assert same == (not row.note), row


def test_the_misprinted_score_is_recorded_with_a_note():
    row = next(
        row
        for row in ROWS
        if (row.table, row.construction, row.condition, row.judge)
        == (
            "supplement",
            "agreement_across_object_relative",
            "singular (inanimate) / plural",
            "multitask",
        )
    )
    assert row.accuracy == 0.37
    assert '"37"' in row.note
    assert row.source.startswith("Marvin & Linzen (2018), supplement")


def copied(tmp_path: Path, *lines: str) -> Study:
    header = "table,construction,condition,judge,accuracy,source,note"
    (tmp_path / "published.csv").write_text("\n".join([header, *lines]), encoding="utf-8")
    return load_study("minimal").model_copy(update={"folder": tmp_path})


def test_a_study_without_published_results_has_none(tmp_path: Path):
    assert read_published(load_study("minimal").model_copy(update={"folder": tmp_path})) == []


def test_rows_are_read_with_their_types(tmp_path: Path):
    study = copied(tmp_path, "t,simple_agreement,singular,people,0.96,Somebody (2018),")
    expected = Published("t", "simple_agreement", "singular", "people", 0.96, "Somebody (2018)", "")
    assert read_published(study) == [expected]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("t,simple_agrement,,people,0.96,s,", 'row 2: .*mean "simple_agreement"'),
        ("t,simple_agreement,,people,96,s,", "row 2: .*not a proportion"),
        ("t,simple_agreement,,people,nan,s,", "row 2: .*not a proportion"),
        ("t,simple_agreement,,ngram,0.5,s,", "row 2: .*repeats t, simple_agreement, ngram"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, line: str, message: str):
    study = copied(tmp_path, "t,simple_agreement,,ngram,0.5,s,", line)
    with pytest.raises(StudyError, match=message):
        read_published(study)


def test_a_study_of_its_targets_alone_passes_over_what_was_published_of_the_others():
    whole = load_study("gulordava_2018_italian")
    targets = [one for one in whole.constructions if one.group != "Fillers"]
    assert len(targets) == len(whole.constructions) - 2
    found = read_published(whole.model_copy(update={"constructions": targets}))
    rest = [row.construction for row in read_published(whole) if row not in found]
    assert rest == ["control", "filler"]


def test_a_wrong_row_is_named_beside_a_study_toml_with_a_byte_order_mark(tmp_path: Path):
    whole = (load_study("minimal").folder / "study.toml").read_text("utf-8")
    (tmp_path / "study.toml").write_text(whole, encoding="utf-8-sig")
    with pytest.raises(StudyError, match='mean "simple_agreement"'):
        read_published(copied(tmp_path, "t,simple_agrement,,people,0.96,s,"))


def test_an_accuracy_in_words_is_refused(tmp_path: Path):
    with pytest.raises(TableError, match="accuracy"):
        read_published(copied(tmp_path, "t,simple_agreement,,people,high,s,"))
