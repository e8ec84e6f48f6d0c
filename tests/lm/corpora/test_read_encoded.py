"""A text numbered in one reading."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm.corpora import text as text_module
from lm.corpora.text import count_words, encode, read_encoded, read_sentences
from lm.corpora.vocab import vocabulary_by_frequency
from lm.errors import LmError

LINES = st.text(alphabet=st.sampled_from("ab é中 \t\r\x0b\x1c\x85\u2028\u00a0\n"), max_size=40)


@given(text=LINES)
def test_one_reading_numbers_a_text_as_counting_and_encoding_do(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes(text.encode())
    if not text.split():
        with pytest.raises(LmError, match="holds no words"):
            read_encoded(path, vocabulary_by_frequency)
        return
    counts = count_words(read_sentences(path))
    choose = partial(vocabulary_by_frequency, max_words=2)
    vocabulary, found, n_words = read_encoded(path, choose)
    expected = encode(read_sentences(path), choose(counts))
    assert vocabulary.words == choose(counts).words and n_words == len(counts)
    assert found.ids.tolist() == expected.ids.tolist()
    assert (found.n_sentences, found.n_tokens) == (expected.n_sentences, expected.n_tokens)


def test_a_text_of_several_blocks_is_numbered_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "text.txt"
    path.write_text("".join(f"word{n % 7} b\n\n" for n in range(200)) + "last <unk>")
    whole = read_encoded(path, vocabulary_by_frequency)
    monkeypatch.setattr(text_module, "_BYTES_AT_A_TIME", 64)
    seen: list[int] = []
    parts = read_encoded(path, vocabulary_by_frequency, seen.append)
    assert parts[0].words == whole[0].words
    assert parts[1].ids.tolist() == whole[1].ids.tolist()
    assert sum(seen) == path.stat().st_size and len(seen) > 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb\0\n", "line 2: this is binary data"),
        (b"a\n\xff\n", "line 2: not UTF-8"),
        (b"a\n<s> a\n", "line 2: the text holds"),
        (b"a </s>\n<s> b\n", "line 1: the text holds"),
    ],
)
def test_what_is_no_text_is_told_with_its_line_in_one_reading_too(tmp_path, content, message):
    (tmp_path / "text.txt").write_bytes(content)
    with pytest.raises(LmError, match=message):
        read_encoded(tmp_path / "text.txt", vocabulary_by_frequency)
