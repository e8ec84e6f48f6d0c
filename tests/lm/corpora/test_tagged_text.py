from pathlib import Path

import pytest

from lm.corpora.tagged_text import encode_tagged, read_tagged, tagged_files, tags_by_frequency
from lm.corpora.vocab import Vocabulary
from lm.errors import LmError

TEXT = "the\tNP/N\ncat\tN\n\n\nthe\tNP/N\nzebra\tN\nsleeps\tS\\NP\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "train.txt"
    path.write_text(text)
    return path


def test_blank_lines_divide_sentences(tmp_path: Path):
    first, second = read_tagged(written(tmp_path, TEXT))
    assert first == [("the", "NP/N"), ("cat", "N")]
    assert second[-1] == ("sleeps", "S\\NP")
    assert list(read_tagged(written(tmp_path, TEXT.replace("\n", "\r\n")))) == [first, second]


def test_words_and_tags_become_numbers_side_by_side(tmp_path: Path):
    sentences = list(read_tagged(written(tmp_path, TEXT)))
    tags = tags_by_frequency(sentences[:1])
    text = encode_tagged(sentences, Vocabulary(["<unk>", "<eos>", "the", "cat"]), tags)
    assert [tags[tag] for tag in text.tags] == [
        "NP/N", "N", "<eos>", "NP/N", "N", "<unk>", "<eos>",
    ]  # fmt: skip
    assert text.words.tolist() == [2, 3, 1, 2, 0, 0, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the\tNP/N\ncat\n", r'line 2: "cat" has 1 column'),
        ("the\t\n", "line 1"),
        ("the\tNP/N\tDT\n", "has 3 column"),
        ("", "holds no tagged words"),
        ("\n\n", "holds no tagged words"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, said: str):
    with pytest.raises(LmError, match=said):
        list(read_tagged(written(tmp_path, text)))


def test_a_folder_without_validation_text_is_refused(tmp_path: Path):
    written(tmp_path, TEXT)
    with pytest.raises(LmError, match=r"has no valid\.txt"):
        tagged_files(tmp_path)
