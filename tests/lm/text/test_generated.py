import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from lm.commands import train
from lm.corpora.tagged_text import read_tagged, tagged_files
from lm.corpora.text import text_sha256
from lm.errors import LmError
from lm.text.generated import describe_text, write_tagged, write_text
from lm.text.grammar_file import load_text_grammar
from lm.text.sampler import Sentences, sample

GRAMMAR = """
name = "toy text"
start = "sentence"
agreement_error_rate = 0.005
lexicon.noun.entries = ["cat", "dog", "bird"]
rules.sentence = { "'the' <noun> <noun>" = 1 }
"""


@pytest.fixture
def source(tmp_path: Path) -> Sentences:
    (tmp_path / "grammar.toml").write_text(GRAMMAR)
    return sample(load_text_grammar(tmp_path / "grammar.toml"), {}, 20, 4, {"the cat dog ."})


def test_a_text_is_written_with_its_description_beside_it(tmp_path: Path, source: Sentences):
    path = tmp_path / "new" / "text.txt"
    about = write_text(path, source, source)
    assert len(path.read_text().splitlines()) == 20
    assert json.loads((tmp_path / "new" / "text.txt.json").read_text()) == about
    assert about["seed"] == 4
    assert about["rejected"] == source.rejected > 0
    assert about["text_sha256"] == text_sha256(path)
    described = 'generated text "toy text" (20 sentences, seed 4, agreement errors 0.5%)'
    assert describe_text(path, text_sha256(path)) == described


def test_a_tagged_text_is_the_same_sentences_with_a_tag_for_each_word(
    tmp_path: Path, source: Sentences
):
    grammar = load_text_grammar(tmp_path / "grammar.toml")
    untagged = list(sample(grammar, {}, 20, 4, {"the cat dog ."}))
    about = write_tagged(tmp_path / "tags", source, source)
    assert about["sentences"] == 20
    read = {name: list(read_tagged(path)) for name, path in tagged_files(tmp_path / "tags").items()}
    assert (len(read["train"]), len(read["valid"])) == (18, 2)
    words = [" ".join(word for word, _ in sentence) for name in read for sentence in read[name]]
    assert sorted(words) == sorted(untagged)
    assert {tag for _, tag in read["train"][0]} == {"sentence", "."}


def test_a_changed_text_is_not_described_as_the_generated_one(tmp_path: Path, source: Sentences):
    path = tmp_path / "text.txt"
    write_text(path, source, source)
    path.write_text("the cat .\n")
    sha256 = text_sha256(path)
    assert describe_text(path, sha256) == f"text.txt (sha256 {sha256[:12]})"


@pytest.mark.parametrize("description", ["{", "[]", '{"other": 1}'])
def test_some_other_file_next_to_a_text_is_no_description(tmp_path: Path, description: str):
    (tmp_path / "text.txt.json").write_text(description)
    assert describe_text(tmp_path / "text.txt", "0" * 64) == "text.txt (sha256 000000000000)"


def test_training_says_that_the_text_was_generated(tmp_path: Path, source: Sentences):
    path = tmp_path / "text.txt"
    write_text(path, source, source)
    arguments = ["--type", "ngram", "--text", str(path), "--out", str(tmp_path / "model")]
    result = CliRunner().invoke(train, arguments, catch_exceptions=False)
    assert '5-gram trained on generated text "toy text" (20 sentences' in result.output


def test_a_text_that_ends_early_leaves_nothing_behind(tmp_path: Path, source: Sentences):
    def lines() -> Iterator[str]:
        yield next(source)
        raise LmError("no more")

    with pytest.raises(LmError, match="no more"):
        write_text(tmp_path / "text.txt", lines(), source)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grammar.toml"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, source: Sentences):
    with pytest.raises(LmError, match="cannot write"):
        write_text(tmp_path / "grammar.toml" / "text.txt", source, source)
