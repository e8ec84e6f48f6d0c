"""The published files parse, round-trip, and give the published baselines."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from experiment.errors import MaterialsError, TableError
from experiment.materials.checks import Result, check_items
from experiment.materials.treebank.agreement_test import make_item
from experiment.materials.treebank.build import AnyWord, build_test_set
from experiment.materials.treebank.constructions import PAPER
from experiment.materials.treebank.published.generated import (
    SENTENCE_END,
    agreement_tests,
    gold_of,
    read_generated,
    write_generated,
    write_lines,
)
from experiment.materials.treebank.published.items import (
    ResultsTable,
    SubjectVerb,
    read_results,
    read_subject_verb,
    results_of,
    subject_verb_items,
    write_results,
)
from tests import published_data
from tests.experiment.materials.treebank.treebanks import sample
from tests.published_data import COLORLESS_GREEN
from tests.synthetic_publication import write_publication

TESTS = build_test_set(sample(), AnyWord(), PAPER, 1, with_fillers=False).targets
ENDINGS = ("text", "gold", "eval")


def assert_same_files(one: Path, other: Path) -> None:
    for ending in ENDINGS:
        assert Path(f"{one}.{ending}").read_bytes() == Path(f"{other}.{ending}").read_bytes()


def test_our_tests_come_back_from_the_published_formats(tmp_path: Path):
    table = results_of(TESTS, {"casa": 3})
    write_generated(tmp_path / "generated", [gold_of(test) for test in TESTS])
    write_results(tmp_path / "generated.tab", table)
    read = read_results(tmp_path / "generated.tab")
    assert read == table
    assert agreement_tests(read_generated(tmp_path / "generated"), read.attractors()) == TESTS


def test_files_in_the_published_formats_are_written_byte_for_byte(tmp_path: Path):
    made = write_publication(tmp_path / "made")
    tests = read_generated(made / "generated")
    write_generated(tmp_path / "generated", tests)
    assert_same_files(made / "generated", tmp_path / "generated")
    sentences = read_subject_verb(made / "subject_verb")
    write_subject_verb(tmp_path / "copy", sentences)
    assert_same_files(made / "subject_verb", tmp_path / "copy")
    for name in ("generated", "all_models", "best_model_mturk"):
        write_results(tmp_path / "copy.tab", read_results(made / f"{name}.tab"))
        assert (tmp_path / "copy.tab").read_bytes() == (made / f"{name}.tab").read_bytes()


def test_sentences_in_the_published_formats_are_sound_items(tmp_path: Path):
    made = write_publication(tmp_path / "made")
    table = read_results(made / "generated.tab")
    items = [
        make_item(t)
        for t in agreement_tests(read_generated(made / "generated"), table.attractors())
    ]
    assert [one.good for one in items] == ["forno", "sonno", "mancano", "cantano"]
    assert [finding for finding in check_items(items) if finding.result is Result.FAILED] == []
    assert [unigram_percent(table, type_) for type_ in ("original", "generated")] == [50, 50]
    verbs = subject_verb_items(read_subject_verb(made / "subject_verb"))
    assert [(i.context, i.good, i.bad, i.condition) for i in verbs] == [
        ("the ovens", "are", "is", "attractors 0"),
        ("the key to the doors", "waits", "wait", "attractors 1"),
    ]


needs_data = published_data.needs(COLORLESS_GREEN)


@needs_data
@pytest.mark.parametrize("language", ["italian", "english"])
def test_the_published_test_sets_are_written_byte_for_byte(tmp_path: Path, language: str):
    stem = COLORLESS_GREEN / language / "generated"
    sentences = read_generated(stem)
    write_generated(tmp_path / "generated", sentences)
    assert_same_files(stem, tmp_path / "generated")
    assert len(sentences) == {"italian": 1190, "english": 410}[language]


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        *("english/all_models", "english/best_model", "english/best_model_ngram_lstm"),
        *("english/best_model_srnn", "english/generated", "italian/all_models"),
        *("italian/best_model_mturk", "italian/best_model_ngram_lstm"),
        *("italian/best_model_srnn", "italian/generated"),
    ],
)
def test_the_published_tables_are_written_byte_for_byte(tmp_path: Path, name: str):
    path = COLORLESS_GREEN / f"{name}.tab"
    write_results(tmp_path / "copy.tab", read_results(path))
    assert (tmp_path / "copy.tab").read_bytes() == path.read_bytes()


@needs_data
@pytest.mark.parametrize(
    ("language", "faults"), [("italian", ["the versions of an item differ"]), ("english", [])]
)
def test_the_published_sentences_are_items_all_sound_but_one(language: str, faults: list[str]):
    folder = COLORLESS_GREEN / language
    attractors = read_results(folder / "generated.tab").attractors()
    tests = agreement_tests(read_generated(folder / "generated"), attractors)
    items = [make_item(test) for test in tests]
    failed = [finding for finding in check_items(items) if finding.result is Result.FAILED]
    assert [finding.check for finding in failed] == faults
    assert all("not in 1; first L__DET_ADJ_NOUN-29-8" in finding.found for finding in failed)
    assert sum(test.attractors > 0 for test in tests) == sum(n > 0 for n in attractors.values())


def unigram_percent(table: ResultsTable, type_: str) -> float:
    """How often the correct form is the more frequent one in the training text, in percent."""
    right = [good > bad for row, good, bad in table.pairs("freq") if row["type"] == type_]
    return 100 * sum(right) / len(right)


@needs_data
@pytest.mark.parametrize(
    ("language", "original", "nonce"), [("italian", 54.6, 54.1), ("english", 65.9, 42.5)]
)
def test_the_unigram_baselines_are_the_papers(language: str, original: float, nonce: float):
    table = read_results(COLORLESS_GREEN / language / "generated.tab")
    assert round(unigram_percent(table, "original"), 1) == original
    assert round(unigram_percent(table, "generated"), 1) == nonce


@needs_data
def test_the_subject_verb_set_is_written_byte_for_byte_and_makes_items(tmp_path: Path):
    stem = COLORLESS_GREEN / "linzen_2016" / "subj_agr_filtered"
    sentences = read_subject_verb(stem)
    write_subject_verb(tmp_path / "copy", sentences)
    assert_same_files(stem, tmp_path / "copy")
    items = subject_verb_items(sentences)
    assert len(items) == 7489
    assert {i.condition for i in items} == {f"attractors {n}" for n in range(5)}


def files(folder: Path, gold: str, text: str, target: str) -> Path:
    for ending, content in zip(ENDINGS, (text, gold, target), strict=True):
        (folder / f"set.{ending}").write_text(content, encoding="utf-8")
    return folder / "set"


@pytest.mark.parametrize(
    ("gold", "text", "target", "problem"),
    [
        (
            "1\tis\tare\t0\n",
            "it is . <eos>\n",
            "1\n1\n",
            "1 in .text, 2 in .eval. Expected one line for each sentence in each of the three",
        ),
        (
            "1\tis\tare\n",
            "it is . <eos>\n",
            "1\n",
            "set.gold:1: the line has 3 columns. Expected 4 between tabs",
        ),
        ("1\tis\tare\t0\n", "it is . <eos>\n", "2\n", 'target is "1"'),
        ("9\tis\tare\t0\n", "it is . <eos>\n", "9\n", "of 4 words"),
        (
            "1\tis\tare\tnone\n",
            "it is . <eos>\n",
            "1\n",
            'gold:1: the number of attractors is "none"',
        ),
    ],
)
def test_files_that_do_not_fit_together_are_refused(
    tmp_path: Path, gold: str, text: str, target: str, problem: str
):
    with pytest.raises(MaterialsError, match=problem):
        read_subject_verb(files(tmp_path, gold, text, target))


def test_a_gold_line_with_a_wrong_index_or_no_number_is_refused(tmp_path: Path):
    gold = "L!N_V!x!y\t0\tzero\t1\tVERB\tNumber=Sing\tis\tare\tbe\t0\tNOUN\tNOUN_VERB\n"
    with pytest.raises(
        MaterialsError, match="gold:1: an index is not a number: one of 0, zero, 1, 0"
    ):
        read_generated(files(tmp_path, gold, "it is\n", "1\n"))
    stem = files(tmp_path, gold.replace("zero", "0").replace("Number=Sing", "_"), "it is\n", "1\n")
    with pytest.raises(MaterialsError, match='has the features "_"'):
        agreement_tests(read_generated(stem))


def test_a_table_without_its_columns_is_refused(tmp_path: Path):
    (tmp_path / "x.tab").write_text("pattern\tform\n")
    with pytest.raises(TableError, match=r"the table lacks the column.* constr_id"):
        read_results(tmp_path / "x.tab")
    with pytest.raises(TableError, match=r"none.tab: the table cannot be read .No such file"):
        read_results(tmp_path / "none.tab")


def test_a_file_that_is_missing_is_named(tmp_path: Path):
    with pytest.raises(
        MaterialsError,
        match=r"x.gold: the set.s file cannot be read .No such file.* Expected a UTF-8 text",
    ):
        read_subject_verb(tmp_path / "x")


def write_subject_verb(stem: Path, sentences: Sequence[SubjectVerb]) -> None:
    write_lines(Path(f"{stem}.text"), (" ".join([*s.words, SENTENCE_END]) for s in sentences))
    write_lines(
        Path(f"{stem}.gold"),
        (f"{s.target}\t{s.correct}\t{s.wrong}\t{s.attractors}" for s in sentences),
    )
    write_lines(Path(f"{stem}.eval"), (str(s.target) for s in sentences))
