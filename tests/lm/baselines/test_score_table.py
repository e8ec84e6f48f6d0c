import math
from pathlib import Path

import pytest

from lm.errors import LmError
from lm.registry import load_scorer
from lm.scorer import Scorer


def scorer(folder: Path, table: str, name: str = "scores.tsv") -> Scorer:
    (folder / "config.json").write_text('{"type": "fixed", "name": "GRNN", "trained_on": "wiki"}')
    (folder / name).write_text(table, encoding="utf-8")
    return load_scorer(folder)


def test_a_text_without_token_scores_is_one_token(tmp_path: Path):
    model = scorer(tmp_path, "text\tlogprob_nats\nthe author laughs .\t-20.5\n")
    [scores] = model.score([("", "the author  laughs .")])
    assert scores.tokens == ("the author laughs .",)
    assert scores.logprobs_nats.tolist() == [-20.5]
    assert (model.name, model.trained_on) == ("GRNN", "wiki")


def test_scores_of_each_word_stay_scores_of_each_word(tmp_path: Path):
    model = scorer(tmp_path, "text\tlogprob_nats\nthe author laughs\t-1 -2.5 -3\n")
    [scores] = model.score([("", "the author laughs")])
    assert scores.tokens == ("the", "author", "laughs")
    assert scores.logprobs_nats.tolist() == [-1, -2.5, -3]
    assert not scores.unknown.any()


def test_texts_may_have_contexts(tmp_path: Path):
    table = "context,text,logprob_nats\nthe author,laughs,-1\nthe authors,laughs,-4\n"
    model = scorer(tmp_path, table, "scores.csv")
    found = model.score([("the authors", "laughs"), ("the author", "laughs")])
    assert [scores.logprobs_nats.tolist() for scores in found] == [[-4], [-1]]


@pytest.mark.parametrize(
    ("column", "number", "nats"),
    [
        ("logprob_nats", "-2", -2),
        ("logprob_log10", "-2", -2 * math.log(10)),
        ("logprob_log2", "-2", -2 * math.log(2)),
        ("surprisal_bits", "2", -2 * math.log(2)),
        ("surprisal_bits", "0", 0),
    ],
)
def test_the_columns_name_says_the_unit(tmp_path: Path, column: str, number: str, nats: float):
    [scores] = scorer(tmp_path, f"text\t{column}\na\t{number}\n").score([("", "a")])
    assert scores.logprobs_nats[0] == pytest.approx(nats)
    assert math.copysign(1, scores.logprobs_nats[0]) == math.copysign(1, nats)


def test_quotation_marks_and_commas_are_part_of_texts(tmp_path: Path):
    model = scorer(tmp_path, 'text\tlogprob_nats\n"well , he said\t-3\n')
    assert model.score([("", '"well , he said')])[0].logprobs_nats.tolist() == [-3]
    (tmp_path / "scores.tsv").unlink()
    model = scorer(tmp_path, 'text,logprob_nats\n"well , he said",-3\n', "scores.csv")
    assert model.score([("", "well , he said")])[0].logprobs_nats.tolist() == [-3]


def test_a_text_that_is_not_in_the_table_is_named(tmp_path: Path):
    model = scorer(tmp_path, "text\tlogprob_nats\na b\t-3\n")
    with pytest.raises(LmError, match='no row for the text "a c" after the context "x"'):
        model.score([("", "a b"), ("x", "a c")])


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", r"has the columns \(none\)"),
        ("sentence\tlogprob_nats\n", "has the columns sentence, logprob_nats"),
        ("text\tscore\n", "exactly one of logprob_nats"),
        ("text\tlogprob_nats\tlogprob_log2\n", "exactly one of"),
        ("text\tlogprob_nats\na\t0.5\n", 'line 2: "0.5" is not a valid score of "a"'),
        ("text\tlogprob_nats\na\t-inf\n", "is not a valid score"),
        ("text\tlogprob_nats\na\tnan\n", "is not a valid score"),
        ("text\tlogprob_nats\na\n", "is not a valid score"),
        ("text\tlogprob_nats\na b c\t-1 -2\n", "is not a valid score"),
        ("text\tlogprob_nats\na\t-1\na\t-2\n", 'line 3: "a" occurs earlier with another score'),
    ],
)
def test_a_table_that_cannot_be_understood_is_refused(tmp_path: Path, table: str, said: str):
    with pytest.raises(LmError, match=said):
        scorer(tmp_path, table)


def test_a_binary_table_is_refused(tmp_path: Path):
    scorer(tmp_path, "text\tlogprob_nats\na\t-1\n")
    (tmp_path / "scores.tsv").write_bytes(b"\x89PNG\xff\x00")
    with pytest.raises(LmError, match="cannot read the scores"):
        load_scorer(tmp_path)
