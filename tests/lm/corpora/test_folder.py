from pathlib import Path

import numpy as np
import pytest

from lm.corpora.folder import Corpus, CorpusChoices, prepare
from lm.errors import LmError

SENTENCES = [f"the word{number} is number {number % 7} ." for number in range(90)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    for name, part in (("train", SENTENCES), ("valid", SENTENCES[:9]), ("test", ["never seen ."])):
        (tmp_path / "data" / f"{name}.txt").write_text("\n".join(part) + "\n")
    return tmp_path / "data"


def sentences(corpus: Corpus, split: str) -> list[str]:
    text = " ".join(corpus.vocabulary.words[number] for number in corpus.splits[split])
    return [sentence.strip() for sentence in text.split("<eos>")[:-1]]


def test_each_split_is_its_text_and_training_sentences_are_in_random_order(folder: Path):
    corpus = prepare(folder, CorpusChoices())
    assert sentences(corpus, "valid") == SENTENCES[:9]
    assert sentences(corpus, "train") != SENTENCES
    assert sorted(sentences(corpus, "train")) == sorted(SENTENCES)
    assert sentences(corpus, "test") == ["<unk> <unk> ."]
    assert corpus.n_sentences == {"train": 90, "valid": 9, "test": 1}


def test_the_vocabulary_is_that_of_the_frequent_training_words(folder: Path):
    words = prepare(folder, CorpusChoices(max_words=5)).vocabulary.words
    assert words[:2] == ("<unk>", "<eos>")
    assert set(words[2:]) == {".", "is", "number", "the", "0"}
    few = prepare(folder, CorpusChoices(min_count=20)).vocabulary.words
    assert set(few[2:]) == {".", "is", "number", "the"}


def test_a_written_vocabulary_is_taken_as_it_is(folder: Path):
    (folder / "vocab.txt").write_text("the\n<eos>\n<unk>\nis\n")
    corpus = prepare(folder, CorpusChoices())
    assert corpus.vocabulary.words == ("the", "<eos>", "<unk>", "is")
    assert sentences(corpus, "valid")[0] == "the <unk> is <unk> <unk> <unk>"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("<eos>\na\n", "has no <unk>, which stands for every other word"),
        ("<unk>\na\n", "has no <eos>, which separates sentences"),
        ("<unk>\n<eos>\na\na\n", "twice"),
    ],
)
def test_a_vocabulary_that_cannot_be_used_is_refused(folder: Path, words: str, said: str):
    (folder / "vocab.txt").write_text(words)
    with pytest.raises(LmError, match=f"vocab.txt.*{said}"):
        prepare(folder, CorpusChoices())


def test_one_text_is_split_by_sentences(tmp_path: Path):
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES) + "\n")
    corpus = prepare(tmp_path / "text.txt", CorpusChoices())
    train, valid = sentences(corpus, "train"), sentences(corpus, "valid")
    assert (len(train), len(valid)) == (80, 10)
    known = {word for sentence in SENTENCES for word in sentence.split()}
    assert known <= set(corpus.vocabulary)
    assert sorted(train + valid) == sorted(SENTENCES)


def test_a_prepared_corpus_is_used_again_until_something_changes(folder: Path, tmp_path: Path):
    seen: list[str] = []

    def watch(read, task):
        seen.append(task)
        return read

    cache = tmp_path / "cache"
    first = prepare(folder, CorpusChoices(), cache, watch)
    n_reads = len(seen)
    again = prepare(folder, CorpusChoices(), cache, watch)
    assert len(seen) == n_reads > 0
    assert isinstance(again.splits["train"], np.memmap)
    assert first.splits["train"].tolist() == again.splits["train"].tolist()
    other = prepare(folder, CorpusChoices(seed=2), cache)
    assert sentences(other, "train") != sentences(first, "train")
    (folder / "train.txt").write_text("another text .\n")
    assert sentences(prepare(folder, CorpusChoices(), cache), "train") == ["another text ."]


def test_long_texts_are_read_in_portions(folder: Path, monkeypatch: pytest.MonkeyPatch):
    whole = prepare(folder, CorpusChoices(), folder / "whole")
    monkeypatch.setattr("lm.corpora.folder._SENTENCES_AT_A_TIME", 7)
    parts = prepare(folder, CorpusChoices(), folder / "parts")
    assert whole.splits["train"].tolist() == parts.splits["train"].tolist()


def test_a_corpus_that_lacks_a_part_is_refused(folder: Path):
    (folder / "valid.txt").unlink()
    with pytest.raises(LmError, match=r"has no valid\.txt"):
        prepare(folder, CorpusChoices())


def test_a_text_too_short_to_split_is_refused(tmp_path: Path):
    (tmp_path / "text.txt").write_text("one sentence .\n")
    with pytest.raises(LmError, match="too few to hold out"):
        prepare(tmp_path / "text.txt", CorpusChoices())
    assert not list((tmp_path / ".prepared").iterdir())


def test_a_damaged_cache_is_named(folder: Path, tmp_path: Path):
    prepare(folder, CorpusChoices(), tmp_path / "cache")
    [prepared] = (tmp_path / "cache").iterdir()
    (prepared / "train.npy").write_bytes(b"")
    with pytest.raises(LmError, match=r"is damaged .*Remove that folder and try again"):
        prepare(folder, CorpusChoices(), tmp_path / "cache")
