import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from lm.corpora.text import count_words, encode
from lm.corpora.vocab import vocabulary_by_frequency
from lm.errors import LmError
from lm.ngram.arpa import MISSING_UNKNOWN_LOG10, read_arpa, write_arpa
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import estimate
from lm.ngram.model import NgramScorer
from lm.ngram.table import Level, NgramTable

# As SRILM writes it: no unknown word, back-off weights only where something follows.
OTHER_TOOL = """

made by another tool

\\data\\
ngram  1=       4
ngram 2=3
ngram 3=1

\\1-grams:
-0.5\t</s>
-99 <s>  -0.2
-0.6\ta\t-0.3
-0.7    b

\\2-grams:
-0.1\t<s> a\t-0.05
-0.2\ta b
-0.4\tb </s>

\\3-grams:
-0.01\t<s> a b

\\end\\
"""


@pytest.fixture
def other_tool(tmp_path: Path) -> Path:
    path = tmp_path / "other.arpa"
    path.write_text(OTHER_TOOL)
    return path


def log10_scores(path: Path, context: str, continuation: str) -> list[float]:
    model = NgramScorer(read_arpa(path), name="other", trained_on="elsewhere")
    [scores] = model.score([(context, continuation)])
    return (scores.logprobs_nats / math.log(10)).tolist()


def test_the_longest_ngram_the_model_holds_gives_the_probability(other_tool: Path):
    assert log10_scores(other_tool, "", "a b </s>") == pytest.approx([-0.1, -0.01, -0.4])


def test_back_off_weights_of_the_contexts_held_are_added(other_tool: Path):
    after_begin = [-0.2 - 0.7]
    assert log10_scores(other_tool, "", "b") == pytest.approx(after_begin)
    after_begin_a = [-0.05 - 0.3 - 0.6]
    assert log10_scores(other_tool, "a", "a") == pytest.approx(after_begin_a)
    context_unseen_but_its_end_seen = [-0.3 - 0.5]
    assert log10_scores(other_tool, "b a", "</s>") == pytest.approx(context_unseen_but_its_end_seen)


def test_a_model_without_an_unknown_word_gets_the_customary_one(other_tool: Path):
    assert log10_scores(other_tool, "b", "zebra") == pytest.approx([MISSING_UNKNOWN_LOG10])


def test_a_model_is_equal_to_its_file(tmp_path: Path, zipfian_sentences: list[list[str]]):
    vocabulary = vocabulary_by_frequency(count_words(zipfian_sentences))
    text = encode(zipfian_sentences, vocabulary)
    table = estimate(list(count_ngrams(text, vocabulary, 4)), vocabulary).table
    write_arpa(table, tmp_path / "model.arpa")
    again = read_arpa(tmp_path / "model.arpa")
    assert again.words == table.words
    for one, other in zip(again.levels, table.levels, strict=True):
        assert np.array_equal(one.keys, other.keys)
        assert np.array_equal(one.logprobs_log10, other.logprobs_log10)
        assert np.array_equal(one.backoffs_log10, other.backoffs_log10)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\\data\\", "data", "Expected a back-off model in ARPA text format, as SRILM"),
        (
            "ngram  1=       4\nngram 2=3\nngram 3=1\n",
            "",
            "the file's header announces no unigrams",
        ),
        ("ngram 2=3", "ngram 3=3", "line 7: the number of 2-grams is expected here"),
        ("ngram 2=3", "ngram 2=2", "\\3-grams: is expected here"),
        ("ngram 2=3", "ngram 2=4", "not a 2-gram and its log10 probability"),
        ("-0.2\ta b", "-0.2\ta z", "the word z is not among the unigrams"),
        ("-0.2\ta b", "x\ta b", "not a 2-gram and its log10 probability (could not convert"),
        ("-0.2\ta b", "0.2\ta b", "not at most 0"),
        ("-0.2\ta b", "nan\ta b", "not at most 0"),
        ("-0.2\ta b", "-0.2\tb </s>", "an n-gram above occurs twice"),
        ("-0.7    b", "-0.7    a", "twice among the unigrams"),
        ("-0.01\t<s> a b", "-0.01\tb a b", "lacks the n-gram without its last word"),
        ("-0.01\t<s> a b", "-0.01\t<s> a b -1 c", "not a 3-gram and its log10 probability"),
        ("\\end\\", "", "ends before"),
        ("\\end\\", "-1 a a a", "more n-grams"),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(other_tool: Path, old: str, new: str, said: str):
    other_tool.write_text(OTHER_TOOL.replace(old, new, 1))
    with pytest.raises(LmError) as error:
        read_arpa(other_tool)
    assert said in str(error.value)
    assert f"{other_tool}, line " in str(error.value)


def test_a_compressed_file_is_the_same_model(other_tool: Path, tmp_path: Path):
    path = tmp_path / "model.arpa.gz"
    path.write_bytes(gzip.compress(OTHER_TOOL.encode()))
    (tmp_path / "config.json").write_text('{"type": "ngram"}')
    requests = [("", "a b </s>"), ("b a", "zebra")]
    plain = NgramScorer(read_arpa(other_tool), name="plain", trained_on="elsewhere")
    compressed = NgramScorer.load(tmp_path).score(requests)
    for one, other in zip(compressed, plain.score(requests), strict=True):
        assert one.logprobs_nats.tolist() == other.logprobs_nats.tolist()


def test_a_damaged_compressed_file_is_refused(tmp_path: Path):
    path = tmp_path / "model.arpa.gz"
    path.write_bytes(gzip.compress(OTHER_TOOL.encode())[:-30])
    with pytest.raises(LmError, match="compressed file is damaged"):
        read_arpa(path)


def test_a_binary_of_kenlm_is_named_as_such(tmp_path: Path):
    path = tmp_path / "model.arpa"
    path.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0")
    with pytest.raises(LmError, match="a binary KenLM file"):
        read_arpa(path)


def test_a_missing_file_is_refused(tmp_path: Path):
    with pytest.raises(
        LmError, match=r"cannot read the model .*absent\.arpa.*Train it again or put"
    ):
        read_arpa(tmp_path / "absent.arpa")


@pytest.mark.parametrize(
    "values",
    [[-0.1234567, -9.9999999, 0.0, -0.5, -1e-7], [-0.5, 0.25], [-10.5], [-0.123456789], [-99.0]],
    ids=["seven decimals", "above zero", "below -10", "more decimals", "no probability"],
)
def test_numbers_of_every_shape_are_read_back_exactly(values: list[float], tmp_path: Path):
    words = ("<unk>", "<s>", "</s>", *"abcd")[: len(values) + 2]
    logs = np.array([*values, *[-1.0] * (len(words) - len(values))])
    unigrams = Level(np.arange(len(words)), np.minimum(logs, 0), logs)
    bigrams = Level(np.array([2]), np.array([-0.5]), np.zeros(1))
    write_arpa(NgramTable(words, (unigrams, bigrams)), tmp_path / "model.arpa")
    again = read_arpa(tmp_path / "model.arpa").levels[0]
    assert again.logprobs_log10.tolist() == np.minimum(logs, 0).tolist()
    assert again.backoffs_log10.tolist() == logs.tolist()
