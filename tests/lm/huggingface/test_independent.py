"""The second implementation agrees with the scorer, whatever the tokenizer and the script."""

import itertools
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

from benchmarks import masked_words
from benchmarks.masked_words import KINDS
from lm.huggingface import independent
from lm.huggingface.encoding import _UNSPACED, _WORD
from lm.huggingface.independent import logprobs_again
from lm.huggingface.load import load_hf
from tests.lm.huggingface.toy_tokenizers import masked_model, trained
from tests.lm.toy_models import save_hf

# A sentence to learn from, and one to score, whose words are cut into several tokens.
TEXTS = {
    "English": ("The authors near the doors laugh.", "Don't those author's sandals (re)open?"),
    "Chinese": ("作者门边笑了。", "门边的ABC笑了"),
    "Japanese": ("作者は笑った。", "コーヒーは 3つ"),
    "Thai": ("นักเขียน", "ขียนหัว 10"),
    "Hindi": ("हिन्दी है", "हिन्दी नदी"),
}


def tokenizer(kind: str) -> PreTrainedTokenizerFast:
    texts = [text for pair in TEXTS.values() for text in pair]
    letters = [letter for text in texts for letter in text]
    return trained(*KINDS[kind], [*texts, *letters], 290 if "bytes" in kind else 100)


@pytest.fixture(scope="module", params=KINDS)
def saved(request, tmp_path_factory) -> Path:
    made = tokenizer(request.param)
    folder = tmp_path_factory.mktemp("model")
    save_hf(folder / "model", masked_model(len(made)), made)
    return folder / "model" / "weights"


@pytest.mark.parametrize("pll", ["within_word_l2r", "original"])
def test_masked_scores_are_those_of_the_second_implementation(saved: Path, pll: str):
    scorer = load_hf(str(saved))
    scorer.encoder.pll = pll
    texts = [*itertools.chain(*TEXTS.values()), " A text after a space", "One of [MASK] written",
             "not a [SEP] dog"]  # fmt: skip
    scores = scorer.score([("", text) for text in texts])
    again = logprobs_again(str(saved), texts, pll=pll, device="cpu")
    for text, one, other in zip(texts, scores, again, strict=True):
        np.testing.assert_allclose(one.logprobs_nats, other, atol=1e-4, err_msg=text)


def test_hiding_the_rest_of_a_word_matters_here(saved: Path):
    """Otherwise the two ways of hiding could be confused and nobody would see it."""
    texts = [text for _, text in TEXTS.values()]
    ways = [logprobs_again(str(saved), texts, pll=pll) for pll in ("", "original")]
    differ = [not np.allclose(*pair) for pair in zip(*ways, strict=True)]
    words_alone = (
        len(independent._load_model(str(saved), "auto", "float32")[1]("authors")["input_ids"]) == 3
    )
    assert any(differ) or words_alone


def test_both_tell_the_same_characters_apart():
    """Of every character there is, whether it is in a word, and in a script without spaces."""
    for number in range(sys.maxunicode + 1):
        letter = chr(number)
        if unicodedata.category(letter) in ("Cn", "Cs") or letter.isspace():
            continue
        assert independent._is_unspaced(letter) == bool(_UNSPACED.match(letter)), hex(number)
        in_word = bool(_WORD.fullmatch(letter + letter))
        assert independent._is_word_character(letter) == in_word, hex(number)


def test_the_campaign_of_masked_words_finds_no_difference(tmp_path):
    texts = masked_words.sentences("Hindi")
    masked_words.write_model(tmp_path, masked_words.tokenizer("bpe, bytes", texts, 275))
    largest, tokens, hidden = masked_words.compared(tmp_path, texts[:3])
    assert largest < masked_words.WORST_NATS
    assert 0 < hidden < tokens
