"""A masked model hides the rest of a word, whatever its tokenizer takes for a word."""

import itertools
import re
from pathlib import Path

import pytest
import torch
from tokenizers import pre_tokenizers
from transformers import BertForMaskedLM, PreTrainedTokenizerFast

from lm.huggingface.load import load_hf
from tests.lm.huggingface.toy_tokenizers import masked_model, trained
from tests.lm.toy_models import save_hf

TEXTS = {
    "English": "The authors near the doors laugh.",
    "Chinese": "\u4f5c\u8005\u95e8\u8fb9\u7b11\u4e86\u3002",
    "Japanese": "\u4f5c\u8005\u306f\u7b11\u3063\u305f\u3002",
    "Thai": "\u0e19\u0e31\u0e01\u0e40\u0e02\u0e35\u0e22\u0e19\u0e2b\u0e31\u0e27",
}
UNSPACED = "[\u3400-\u9fff\u3040-\u30ff\u0e00-\u0eff]"
# The algorithm, and what divides text before it: None where nothing does, as in Gemma.
KINDS = {
    "byte pairs, undivided": ("bpe", None),
    "byte pairs, SentencePiece": ("bpe", pre_tokenizers.Metaspace()),
    "byte pairs of bytes": ("bpe", pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "unigram, undivided": ("unigram", None),
    "word pieces": ("wordpiece", pre_tokenizers.BertPreTokenizer()),
}


def tokenizer(kind: str) -> PreTrainedTokenizerFast:
    texts = [text[n:] for text in TEXTS.values() for n in range(4)] * 5
    return trained(*KINDS[kind], texts, 340)


def plainly(text: str, made: PreTrainedTokenizerFast, network: BertForMaskedLM) -> list[float]:
    """Score a text by a loop of its own: a word is a run of letters, an unspaced letter itself."""
    spans = [m.span() for m in re.finditer(rf"{UNSPACED}|(?:(?!{UNSPACED})\w)+|[^\w\s]", text)]
    found = made(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    ids, marks = found["input_ids"], found["special_tokens_mask"]
    word = []
    for (start, end), special in zip(found["offset_mapping"], marks, strict=True):
        first = start + len(text[start:end]) - len(text[start:end].lstrip())
        own = [n for n, (begin, stop) in enumerate(spans) if begin <= first < stop]
        word.append(None if special else own[0])
    scores = []
    for place in [n for n, special in enumerate(marks) if not special]:
        read = [
            made.mask_token_id if n == place or (n > place and word[n] == word[place]) else one
            for n, one in enumerate(ids)
        ]
        with torch.inference_mode():
            logits = network(input_ids=torch.tensor([read])).logits[0, place]
        scores.append(float(logits.log_softmax(0)[ids[place]]))
    return scores


@pytest.mark.parametrize(("kind", "language"), [*itertools.product(KINDS, TEXTS)])
def test_scores_are_those_of_a_plain_loop_over_words_of_characters(kind, language, tmp_path: Path):
    made = tokenizer(kind)
    network = masked_model(len(made))
    save_hf(tmp_path / "model", network, made)
    [scores] = load_hf(str(tmp_path / "model" / "weights")).score([("", TEXTS[language])])
    expected = plainly(TEXTS[language], made, network)
    assert scores.logprobs_nats.tolist() == pytest.approx(expected, abs=1e-4)
