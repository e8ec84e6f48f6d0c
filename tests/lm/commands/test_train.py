import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lm.commands import train
from lm.errors import LmError
from lm.registry import load_scorer


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("the cat sleeps .\nthe cats sleep .\n")
    return path


def run(text: Path, out: Path, *options: str) -> Result:
    arguments = ["--type", "ngram", "--text", str(text), "--out", str(out), *options]
    return CliRunner().invoke(train, arguments, catch_exceptions=False)


def test_it_says_what_it_counts_and_what_was_trained(text: Path, tmp_path: Path):
    result = run(text, tmp_path / "model", "--order", "2")
    assert result.exit_code == 0
    assert "2 sentences, 8 tokens, 6 words" in result.output
    assert "2-grams: 8" in result.output
    assert "2-gram trained on text.txt" in result.output


def test_the_folder_says_how_the_model_came_about(text: Path, tmp_path: Path):
    run(text, tmp_path / "model", "--name", "small")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["name"] == "small"
    assert config["order"] == 5
    assert (config["n_sentences"], config["n_tokens"], config["vocabulary_size"]) == (2, 8, 8)
    assert config["text_sha256"][:12] in config["trained_on"]
    assert len(config["discounts"]) == 5
    assert config["code_version"]


def test_rare_words_can_be_left_out(text: Path, tmp_path: Path):
    result = run(text, tmp_path / "model", "--max-words", "2", "--min-count", "2")
    assert "4 of them unknown" in result.output
    [scores] = load_scorer(tmp_path / "model").score([("", "the cat .")])
    assert scores.unknown.tolist() == [False, True, False]


def test_a_second_call_leaves_the_model_as_it_is(text: Path, tmp_path: Path):
    run(text, tmp_path / "model")
    before = (tmp_path / "model" / "model.arpa").stat().st_mtime_ns
    assert "already trained on text.txt" in run(text, tmp_path / "model").output
    assert (tmp_path / "model" / "model.arpa").stat().st_mtime_ns == before


def test_other_settings_or_another_text_train_again(text: Path, tmp_path: Path):
    run(text, tmp_path / "model")
    assert "trained on" in run(text, tmp_path / "model", "--order", "3").output
    assert json.loads((tmp_path / "model" / "config.json").read_text())["order"] == 3
    text.write_text("another text .\n")
    assert "already" not in run(text, tmp_path / "model", "--order", "3").output
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_other_files_are_never_removed(text: Path, tmp_path: Path):
    out = tmp_path / "notes"
    out.mkdir()
    (out / "diary.txt").write_text("mine")
    with pytest.raises(LmError, match=r"not trained here \(diary\.txt\)"):
        run(text, out)
    assert (out / "diary.txt").read_text() == "mine"
    with pytest.raises(LmError, match="is a file"):
        run(text, out / "diary.txt")


def test_a_model_of_another_tool_is_never_replaced(text: Path, tmp_path: Path):
    out = tmp_path / "srilm"
    out.mkdir()
    (out / "model.arpa").write_text("precious")
    with pytest.raises(LmError, match="holds no trained model"):
        run(text, out)
    (out / "config.json").write_text('{"type": "ngram"}')
    with pytest.raises(LmError, match=r"not trained here \(config\.json, model\.arpa\)"):
        run(text, out)
    assert (out / "model.arpa").read_text() == "precious"


def test_a_bad_text_leaves_nothing_behind(text: Path, tmp_path: Path):
    text.write_bytes(b"\xff\xfe")
    with pytest.raises(LmError, match="not UTF-8"):
        run(text, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_place_that_cannot_be_written_is_named(text: Path, tmp_path: Path):
    with pytest.raises(LmError, match=r"cannot write the model to .*Not a directory"):
        run(text, text / "below" / "model")
