from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BloomConfig, BloomForCausalLM, LlamaConfig, LlamaForCausalLM

from lm.huggingface.load import load_hf
from lm.huggingface.scorer import HfScorer
from lm.scoring.tree_packing import ancestors
from lm.scoring.trie import ROOT
from tests.lm.toy_models import WORDS, tiny_gpt2, word_tokenizer

TEXTS = ["the cat sleeps .", "the cats sleep .", "the", "the cat", "a cat", "the cat", "zebra ."]
SMALL = {"vocab_size": len(WORDS), "hidden_size": 16, "num_attention_heads": 2}


def saved(model: torch.nn.Module, folder: Path) -> HfScorer:
    model.eval().save_pretrained(folder)
    word_tokenizer(masked=False).save_pretrained(folder)
    return load_hf(str(folder))


def llama() -> LlamaForCausalLM:
    torch.manual_seed(1)
    sizes = {"intermediate_size": 32, "num_hidden_layers": 2, "max_position_embeddings": 32}
    return LlamaForCausalLM(LlamaConfig(**SMALL, **sizes, initializer_range=0.5))


@pytest.mark.parametrize("build", [lambda: tiny_gpt2(len(WORDS)), llama], ids=["gpt2", "llama"])
def test_packed_texts_have_the_scores_of_single_ones(build, tmp_path):
    scorer = saved(build(), tmp_path)
    requests = [("", text) for text in TEXTS] + [("the cat", "sleeps ."), ("", ""), ("a", "cat")]
    for request, scores in zip(requests, scorer.score(requests), strict=True):
        text = " ".join(request).split()
        ids = scorer.encoder.encode(*request).ids
        with torch.inference_mode():
            logprobs = scorer.model(torch.tensor([ids])).logits[0].log_softmax(-1)
        expected = [float(logprobs[place - 1, ids[place]]) for place in range(1, len(ids))]
        context_length = len(text) - len(scores.tokens)
        assert scores.logprobs_nats == pytest.approx(expected[context_length:], abs=1e-4)
    assert scorer.packing_fault == ""


def test_a_model_that_takes_no_mask_of_ancestors_is_run_plainly_and_says_so(tmp_path):
    torch.manual_seed(1)
    model = BloomForCausalLM(BloomConfig(vocab_size=len(WORDS), hidden_size=16, n_layer=1))
    scorer = saved(model, tmp_path)
    [scores] = scorer.score([("", "the cat")])
    assert "does not take a mask" in scorer.packing_fault
    assert np.isfinite(scores.logprobs_nats).all()


def test_a_node_attends_to_what_stands_above_it():
    found = ancestors(np.array([ROOT, ROOT, 0, 2]))
    assert found.astype(int).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]]
