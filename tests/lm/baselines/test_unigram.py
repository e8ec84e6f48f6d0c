import math
from pathlib import Path

import pytest

from lm.baselines.unigram import count_unigrams, save
from lm.corpora.text import count_words, encode
from lm.corpora.vocab import vocabulary_by_frequency
from lm.errors import LmError
from lm.registry import load_scorer

SENTENCES = [["a", "b", "a"], ["a", "c"], ["b"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    vocabulary = vocabulary_by_frequency(count_words(SENTENCES), max_words=2)
    counts = count_unigrams(encode(SENTENCES, vocabulary), vocabulary)
    save(tmp_path / "model", vocabulary, counts, {"name": "unigram", "trained_on": "three"})
    return tmp_path / "model"


def probability(folder: Path, word: str, context: str = "") -> float:
    [scores] = load_scorer(folder).score([(context, word)])
    return math.exp(scores.logprobs_nats[0])


def test_every_count_is_one_higher(folder: Path):
    # Nine tokens with the ends (a 3, b 2, <unk> 1, </s> 3), four kinds of them.
    assert probability(folder, "a") == pytest.approx(4 / 13)
    assert probability(folder, "b") == pytest.approx(3 / 13)
    assert probability(folder, "</s>") == pytest.approx(4 / 13)
    assert probability(folder, "c") == pytest.approx(2 / 13)
    assert probability(folder, "never") == pytest.approx(2 / 13)


def test_the_context_changes_nothing(folder: Path):
    assert probability(folder, "a", "b b") == probability(folder, "a")


def test_equally_frequent_words_tie_exactly(tmp_path: Path):
    lines = "laughs\t7\nlaugh\t7\n<unk>\t0\n</s>\t9\n"
    (tmp_path / "words.tsv").write_text(lines)
    (tmp_path / "config.json").write_text('{"type": "unigram"}')
    one, other = load_scorer(tmp_path).score([("", "laughs"), ("", "laugh")])
    assert one.logprobs_nats[0] == other.logprobs_nats[0]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("a\t3\n</s>\t1\n", "lacks the word <unk>"),
        ("a\t3\n<unk>\t1\n", "lacks the word </s>"),
        ("a\t3\na\t4\n", "line 2: the word a occurs a second time"),
        ("a\tmany\n", 'line 1: "a\tmany" is not a word'),
        ("a 3\n", "is not a word, a tab and its count"),
    ],
)
def test_a_damaged_list_is_refused_with_its_place(folder: Path, lines: str, said: str):
    (folder / "words.tsv").write_text(lines)
    with pytest.raises(LmError, match=said):
        load_scorer(folder)


def test_a_binary_list_is_refused(folder: Path):
    (folder / "words.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LmError, match="cannot read the word counts"):
        load_scorer(folder)
