"""Words that complete a text: their log-probabilities, and a model's own words, by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lm.completions import Gap, completion_logprobs, top_words
from lm.huggingface.next_words import search_words
from lm.scorer import TokenScores

# The tokens " a", " b", "c" and the end of a text, and each one's probability after a beginning.
A, B, C, END = 1, 2, 3, 4
NEXT = {
    (0,): [0, 0.5, 0.3, 0.1, 0.1],
    (0, A): [0, 0.1, 0.05, 0.8, 0.05],
    (0, B): [0, 0.5, 0.3, 0.1, 0.1],
    (0, A, C): [0, 0.5, 0.3, 0.1, 0.1],
}
ENCODER = SimpleNamespace(
    beginning=0,
    word_starts=lambda: [A, B, END],
    encode=lambda _, text: SimpleNamespace(ids=(0,)),
    decode=lambda tokens: "".join(" abc"[token] if token < END else "" for token in tokens),
)


def logits(rows):
    usual = [0, 0.4, 0.4, 0.1, 0.1]
    return torch.tensor([NEXT.get(tuple(row), usual) for row in rows.tolist()]).log()


@pytest.mark.parametrize(("n", "words"), [(1, ["ac"]), (2, ["ac", "b"]), (3, ["ac", "b", "a"])])
def test_the_most_probable_words_come_first_however_many_tokens_they_have(n, words):
    # ac: .5 x .8 x .9 = .36; b: .3 x .9 = .27; a: .5 x .2 = .1, as it mostly goes on with c.
    assert search_words(logits, ENCODER, "before", n) == words


class Words:
    """A model of single words, with the same probabilities after any text."""

    name, trained_on = "words", "nothing"
    words = ("<unk>", "the", "cat", ".", "dog")

    def score(self, requests):
        shares = dict(zip(self.words, (0.1, 0.4, 0.2, 0.2, 0.1), strict=True))
        return [
            TokenScores(
                tuple(text.split()),
                np.log([shares[word] for word in text.split()]),
                np.zeros(len(text.split()), bool),
            )
            for _, text in requests
        ]


def test_a_word_at_the_end_has_its_own_probability_and_one_inside_that_of_the_text():
    gaps = [Gap("the "), Gap("the ", " .")]
    ending, inside = completion_logprobs(Words(), gaps, [["cat", "dog"], ["cat"]])
    assert ending == [pytest.approx(math.log(0.2)), pytest.approx(math.log(0.1))]
    assert inside == [pytest.approx(math.log(0.4 * 0.2 * 0.2))]


def test_a_model_of_words_has_top_words_without_marks_and_unknown_ones():
    assert top_words(Words(), "the", 2) == ["the", "cat"]
    assert top_words(Words(), "", 2) == []
