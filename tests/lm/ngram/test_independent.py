"""The second implementation that checks the scores of n-gram models."""

from pathlib import Path

import numpy as np
import pytest

from lm.independent import divide_texts
from lm.ngram.independent import logprobs_again
from tests.function_calls import counted

# Function calls of Python for a line of the file.
CALLS = 5


def write_model(folder: Path, n_other: int) -> Path:
    """Write a model in which "caf\u00e9 au" is expected, among other pairs of words."""
    folder.mkdir()
    others = "".join(f"-3\tcaf\u00e9 word{number}\n" for number in range(n_other))
    (folder / "model.arpa").write_text(
        f"\\data\\\nngram 1=5\nngram 2={n_other + 2}\n\n\\1-grams:\n"
        "-1\t<unk>\n-99\t<s>\t-0.5\n-1\t</s>\n-1\tcaf\u00e9\t-0.25\n-1\tau\t-0.125\n\n"
        f"\\2-grams:\n-0.75\t<s> caf\u00e9\n{others}-0.5\tcaf\u00e9 au\n\n\\end\\\n",
        encoding="utf-8",
    )
    return folder


def test_a_line_of_the_file_costs_few_calls_and_words_may_have_any_letters(tmp_path):
    few, many = write_model(tmp_path / "few", 10), write_model(tmp_path / "many", 1_010)
    calls_of_few, _ = counted(lambda: logprobs_again(str(few), ["caf\u00e9 au lait"]))
    calls_of_many, (again,) = counted(lambda: logprobs_again(str(many), ["caf\u00e9 au lait"]))
    # The unknown word after "au" costs the weight of "au" and its own probability.
    assert again == pytest.approx(np.log(10) * np.array([-0.75, -0.5, -0.125 - 1]))
    assert (calls_of_many - calls_of_few) / 1_000 <= CALLS


@pytest.mark.parametrize(("kind", "sizes"), [
    ("ngram", [2_500]), ("unigram", [2_500]), ("recurrent", [1_024, 1_024, 452])
])  # fmt: skip
def test_a_model_whose_file_each_call_reads_gets_all_texts_in_one(tmp_path, kind, sizes):
    (tmp_path / "config.json").write_text(f'{{"type": "{kind}"}}')
    texts = [f"text {number}" for number in range(2_500)]
    parts = divide_texts(str(tmp_path), texts)
    assert [len(part) for part in parts] == sizes
    assert [text for part in parts for text in part] == texts
