import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lm.commands.scoring import measure_perplexity
from lm.commands.scoring import perplexity as command
from lm.commands.train import train
from lm.errors import LmError
from lm.scorer import TokenScores


class Even:
    """A model that gives each of ten words, and the end, the same probability."""

    name = trained_on = "even"

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        found = []
        for _, text in requests:
            tokens = tuple(text.split())
            unknown = np.array([token == "zebra" for token in tokens])
            found.append(
                TokenScores(tokens, np.where(unknown, math.log(0.01), math.log(0.1)), unknown)
            )
        return found


def test_unknown_words_are_left_out_unless_wanted():
    text = [["the", "zebra", "sleeps", "."], ["the", "cat"]]
    without = measure_perplexity(Even(), text)
    assert (without.n_tokens, without.n_unknown, without.n_sentences) == (7, 1, 2)
    assert without.value == pytest.approx(10)
    with_unknown = measure_perplexity(Even(), text, with_unknown=True)
    assert with_unknown.n_tokens == 8
    assert with_unknown.value == pytest.approx(math.exp(-(7 * math.log(0.1) + math.log(0.01)) / 8))


def test_a_text_of_which_nothing_counts_is_refused():
    with pytest.raises(LmError, match="no token to count"):
        measure_perplexity(Even(), [])


def test_the_command_says_what_was_left_out(tmp_path: Path):
    (tmp_path / "text.txt").write_text("the cat sleeps .\nthe cats sleep .\n")
    (tmp_path / "other.txt").write_text("the zebra sleeps .\n")
    text, model = str(tmp_path / "text.txt"), str(tmp_path / "model")
    CliRunner().invoke(train, ["--type", "ngram", "--text", text, "--out", model])
    result = CliRunner().invoke(command, [model, str(tmp_path / "other.txt")])
    assert "4 tokens with the ends of 1 sentences; 1 unknown words left out" in result.output
    result = CliRunner().invoke(command, [model, str(tmp_path / "other.txt"), "--with-unknown"])
    assert "5 tokens" in result.output
