"""Models whose attention is laid out in other ways are run text by text, never packed wrongly."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertLMHeadModel,
    BloomConfig,
    BloomForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPTNeoConfig,
    GPTNeoForCausalLM,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    MptConfig,
    MptForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
    XLNetConfig,
    XLNetLMHeadModel,
)

from lm.errors import LmError
from lm.huggingface.encoding import TextEncoder
from lm.huggingface.scorer import HfScorer
from lm.scoring.tree_packing import NODES_AT_A_TIME, CheckedPacking, TreePacking
from tests.lm.toy_models import WORDS, tiny_gpt2, word_tokenizer

N_WORDS = len(WORDS) + 1
SIZES = {"vocab_size": N_WORDS, "hidden_size": 16, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 2, "intermediate_size": 24, "initializer_range": 0.5}


def gpt_neo() -> GPTNeoForCausalLM:
    """A model of layers that see everything and layers that see eight places back, in turn."""
    sizes = {"hidden_size": 16, "num_layers": 2, "num_heads": 2, "initializer_range": 0.5}
    local = {"attention_types": [[["global", "local"], 1]], "window_size": 8}
    return GPTNeoForCausalLM(
        GPTNeoConfig(vocab_size=N_WORDS, max_position_embeddings=2048, **sizes, **local)
    )


CAUSAL = {
    "gpt2": lambda: tiny_gpt2(N_WORDS),
    "gpt-neo": gpt_neo,
    "gpt-neox": lambda: GPTNeoXForCausalLM(GPTNeoXConfig(**SIZES, **HEADS)),
    "bloom": lambda: BloomForCausalLM(
        BloomConfig(vocab_size=N_WORDS, hidden_size=16, n_layer=2, n_head=2, initializer_range=0.5)
    ),
    "gemma2": lambda: Gemma2ForCausalLM(
        Gemma2Config(**SIZES, **HEADS, num_key_value_heads=1, head_dim=8, sliding_window=4)
    ),
    "mamba": lambda: MambaForCausalLM(MambaConfig(**SIZES, initializer_range=0.5)),
    "mistral": lambda: MistralForCausalLM(
        MistralConfig(**SIZES, **HEADS, num_key_value_heads=1, sliding_window=4)
    ),
    "mpt": lambda: MptForCausalLM(
        MptConfig(vocab_size=N_WORDS, d_model=16, n_layers=2, n_heads=2, initializer_range=0.5)
    ),
    "opt": lambda: OPTForCausalLM(
        OPTConfig(**SIZES, num_attention_heads=2, ffn_dim=24, word_embed_proj_dim=16, init_std=0.5)
    ),
    "bert as decoder": lambda: BertLMHeadModel(BertConfig(**SIZES, **HEADS, is_decoder=True)),
}


def scorer_of(model: PreTrainedModel, *, masked: bool = False) -> HfScorer:
    encoder = TextEncoder(word_tokenizer(masked=masked), window=32, masked=masked, name="toy")
    return HfScorer(model.eval(), encoder, name="toy", trained_on="nothing")


def texts(n: int, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS[:-2], rng.integers(1, 14))) for _ in range(n)]


def worst_difference(scorer: HfScorer, own: list[str]) -> float:
    scores = scorer.score([("", text) for text in own])
    plain = scorer.reference_logprobs(own, [list(range(len(one.tokens))) for one in scores])
    pairs = zip(scores, plain, strict=True)
    return max(float(np.abs(one.logprobs_nats - other).max()) for one, other in pairs)


@pytest.mark.parametrize("name", CAUSAL)
def test_each_token_has_the_score_of_a_run_of_what_stands_before_it(name: str):
    torch.manual_seed(1)
    assert worst_difference(scorer_of(CAUSAL[name]()), texts(40)) < 1e-4


def test_masked_models_are_scored_as_one_text_at_a_time():
    torch.manual_seed(1)
    config = RobertaConfig(**SIZES, **HEADS, max_position_embeddings=40, pad_token_id=1)
    assert worst_difference(scorer_of(RobertaForMaskedLM(config), masked=True), texts(20)) < 1e-4


def test_local_attention_is_seen_at_the_size_at_which_texts_run():
    torch.manual_seed(1)
    scorer = scorer_of(gpt_neo())
    # Few and short texts have no place that is out of reach, packed or not.
    assert worst_difference(scorer, ["the cat", "the cats"]) < 1e-4
    assert scorer.packing_fault == ""
    many = texts(400)
    assert sum(len(text.split()) for text in many) > NODES_AT_A_TIME
    assert worst_difference(scorer, many) < 1e-4
    assert "packed texts differ" in scorer.packing_fault


def test_a_sliding_window_is_seen_as_soon_as_a_text_is_longer():
    torch.manual_seed(1)
    scorer = scorer_of(CAUSAL["mistral"]())
    assert worst_difference(scorer, ["the cat", "a cat"]) < 1e-4
    assert scorer.packing_fault == ""
    assert worst_difference(scorer, ["the cat sees the cats . " * 3]) < 1e-4
    assert "packed texts differ" in scorer.packing_fault


def test_a_trial_holds_for_what_is_no_larger(monkeypatch: pytest.MonkeyPatch):
    scorer, tried = scorer_of(tiny_gpt2(N_WORDS)), []
    differs = CheckedPacking._describe_difference

    def counting(self, tries, strings):
        tried.append(max(trie.tokens.size for trie in tries))
        return differs(self, tries, strings)

    monkeypatch.setattr(CheckedPacking, "_describe_difference", counting)
    for n in (10, 10, 300, 10, 300):
        scorer.score([("", text) for text in texts(n)])
    assert len(tried) == 2
    assert tried == sorted(tried)


def session(n_trials: int) -> list[str]:
    """Prompts of which each begins with all before it, and their answers."""
    told, found = "", []
    for number, text in enumerate(texts(n_trials)):
        found += [f"{told}{text} {answer}" for answer in ("a", "the")]
        told = f"{told}{text} {WORDS[number % 6]} "
    return found


def test_the_prompts_of_one_session_are_read_once(monkeypatch: pytest.MonkeyPatch):
    torch.manual_seed(1)
    config = LlamaConfig(**SIZES, **HEADS, max_position_embeddings=4096)
    encoder = TextEncoder(word_tokenizer(masked=False), window=4096, masked=False, name="toy")
    scorer = HfScorer(LlamaForCausalLM(config).eval(), encoder, name="toy", trained_on="nothing")
    prompts = session(150)
    plain = scorer.reference_logprobs(prompts, [[len(text.split()) - 1] for text in prompts])
    read, evaluate = [], TreePacking.evaluate

    def counting(self, trie, lengths):
        read.append(trie.tokens.size)
        return evaluate(self, trie, lengths)

    monkeypatch.setattr(TreePacking, "evaluate", counting)
    scores = scorer.score([tuple(text.rsplit(" ", 1)) for text in prompts])
    assert np.allclose([one.logprobs_nats[-1] for one in scores], np.concatenate(plain), atol=1e-4)
    assert scorer.packing_fault == ""
    longest = max(len(text.split()) for text in prompts)
    assert longest > NODES_AT_A_TIME and sum(read) < 4 * longest


def test_a_long_session_is_read_without_a_mask_and_a_fault_of_it_is_found(
    monkeypatch: pytest.MonkeyPatch,
):
    torch.manual_seed(1)
    # Rotations that depend on how long a text is: a short prompt alone has others than in a chain.
    rope = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 4.0}
    config = LlamaConfig(**SIZES, **HEADS, max_position_embeddings=64, rope_parameters=rope)
    encoder = TextEncoder(word_tokenizer(masked=False), window=4096, masked=False, name="toy")
    scorer = HfScorer(LlamaForCausalLM(config).eval(), encoder, name="toy", trained_on="nothing")
    asked = [tuple(text.rsplit(" ", 1)) for text in session(150)]
    monkeypatch.setattr("lm.scoring.tree_packing.ancestors", lambda _: pytest.fail("a mask"))
    scorer.score(asked)
    assert "packed texts differ" in scorer.packing_fault


@pytest.mark.parametrize(
    "build",
    [
        lambda: BertLMHeadModel(BertConfig(**SIZES, **HEADS)),
        lambda: XLNetLMHeadModel(
            XLNetConfig(vocab_size=N_WORDS, d_model=16, n_layer=2, n_head=2, d_inner=24)
        ),
    ],
    ids=["bert without is_decoder", "xlnet"],
)
def test_a_causal_model_that_reads_what_stands_behind_is_refused(build):
    torch.manual_seed(1)
    with pytest.raises(LmError, match="does not predict a word from the words before it"):
        scorer_of(build())


def test_texts_can_be_run_without_packing(tmp_path: Path):
    scorer = scorer_of(tiny_gpt2(N_WORDS))
    packed = scorer.score([("", text) for text in texts(20)])
    scorer.packing = False
    plain = scorer.score([("", text) for text in texts(20)])
    for one, other in zip(packed, plain, strict=True):
        assert one.logprobs_nats == pytest.approx(other.logprobs_nats, abs=1e-4)
