from pathlib import Path

import pytest

from lm.corpora.text import count_words, encode, read_sentences, text_sha256
from lm.corpora.vocab import vocabulary_by_frequency
from lm.errors import LmError


def test_each_line_with_words_is_a_sentence(tmp_path: Path):
    path = tmp_path / "text.txt"
    path.write_bytes("the  café\r\n\n \t\nja .\n".encode())
    assert list(read_sentences(path)) == [["the", "café"], ["ja", "."]]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds no words"),
        (b"\n \n", "holds no words"),
        (b"a b\n\x00\x01\n", "line 2: this is binary data"),
        (b"caf\xe9\n", "line 1: not UTF-8.*iconv"),
        (b"a\n<s> a </s>\n", "line 2: the text holds <s> or </s>"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused_with_a_remedy(
    tmp_path: Path, data: bytes, said: str
):
    path = tmp_path / "text.txt"
    path.write_bytes(data)
    with pytest.raises(LmError, match=said):
        list(read_sentences(path))


def test_a_missing_text_is_refused(tmp_path: Path):
    with pytest.raises(LmError, match=r"cannot read the text .*No such file"):
        list(read_sentences(tmp_path / "absent.txt"))
    with pytest.raises(LmError, match=r"cannot read the text .*No such file"):
        text_sha256(tmp_path / "absent.txt")


def test_the_hash_is_that_of_the_bytes(tmp_path: Path):
    path = tmp_path / "text.txt"
    path.write_text("abc")
    # The standard's own test vector.
    assert text_sha256(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_the_vocabulary_keeps_the_most_frequent_words():
    counts = count_words([["b", "a", "b", "<unk>"], ["c", "b", "a", "d"]])
    assert vocabulary_by_frequency(counts).words == ("<unk>", "<s>", "</s>", "b", "a", "c", "d")
    assert vocabulary_by_frequency(counts, max_words=1).words[3:] == ("b",)
    assert vocabulary_by_frequency(counts, min_count=2).words[3:] == ("b", "a")


def test_encoding_adds_boundaries_and_marks_unknown_words():
    vocabulary = vocabulary_by_frequency({"a": 2, "b": 1})
    text = encode([["a", "x"], ["b"]], vocabulary)
    words = [vocabulary.words[number] for number in text.ids]
    assert words == ["<s>", "a", "<unk>", "</s>", "<s>", "b", "</s>"]
    assert (text.n_sentences, text.n_tokens) == (2, 3)


def test_no_text_can_look_up_the_beginning_of_a_sentence():
    vocabulary = vocabulary_by_frequency({"a": 2})
    assert vocabulary["<s>"] == vocabulary.unknown != vocabulary.begin
