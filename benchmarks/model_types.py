"""Test small versions of all causal and masked types of transformers against the simplest scoring.

Run this benchmark before a release, and after each change of the pinned transformers: a type with a
new attention layout must be refused, run text by text, or scored correctly::

    python benchmarks/model_types.py

Each type is built with random weights from its own configuration, reduced in size. It scores
sentences as in a run, packed if its test of packing passes, and scores every token again by a
separate run of the text before it. The exit status is 1 if any type is scored incorrectly.
"""

import argparse
import resource
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
)
from transformers.utils import logging

from lm.errors import LmError
from lm.huggingface.encoding import TextEncoder
from lm.huggingface.scorer import HfScorer

N_WORDS = 199
WORST_NATS = 1e-3
MOST_WEIGHTS = 20_000_000
# A type whose sizes were not found must not take the machine's memory.
MOST_BYTES = 8 * 2**30
SECONDS = 60
# What configurations call their sizes; a type is given those that it has.
SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "dim", "emb_dim", "embed_dim"), 32),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "n_inner", "d_ff", "ffn_hidden_size"), 48),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 16),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2),
    **dict.fromkeys(("decoder_layers", "encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_ffn_dim", "encoder_ffn_dim"), 48),
    **dict.fromkeys(("num_key_value_heads", "kv_heads"), 2),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_sequence_length"), 128),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("embedding_size", "vocab_dim"), 32),
    **dict.fromkeys(("window_size", "sliding_window", "attention_window_size"), 8),
    **dict.fromkeys(("bos_token_id", "eos_token_id", "decoder_start_token_id"), 1),
    **dict.fromkeys(("head_dim", "rotary_dim", "qk_rope_head_dim", "qk_nope_head_dim"), 8),
    **dict.fromkeys(("v_head_dim", "index_head_dim"), 8),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank"), 16),
    "pad_token_id": 0,
    "num_experts_per_tok": 2,
    "vocab_size": N_WORDS + 3,
    "initializer_range": 0.3,
    "init_std": 0.3,
    "attention_types": [[["global", "local"], 1]],
    "use_cache": False,
    "is_decoder": True,
}
LIKELY_FAILURES = (Exception,)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one type: how it was run, and how far its scores are from plain ones."""

    type: str
    kind: str
    way: str
    worst_nats: float | None
    remark: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether it was scored, and wrongly."""
        return self.worst_nats is not None and not self.worst_nats <= WORST_NATS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--type", dest="types", nargs="*", help="only these types")
    parser.add_argument("--after", default="", help="only types that come later in the alphabet")
    parser.add_argument("--kinds", nargs="*", default=["causal", "masked"])
    parser.add_argument("--sentences", type=int, default=80, help="to score  [default: 80]")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_slow)
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    outcomes = []
    for kind, type_, config, model_class in every_type(options.types):
        if kind in options.kinds and type_ > options.after:
            outcome = tried(kind, type_, config, model_class, options.sentences)
            outcomes.append(outcome)
            print(row(outcome), flush=True)
    print("\n" + ", ".join(f"{n} {way}" for way, n in Counter(o.way for o in outcomes).items()))
    wrong = [outcome.type for outcome in outcomes if outcome.is_wrong]
    print(f"scored wrongly: {', '.join(wrong) or 'none'}")
    sys.exit(bool(wrong))


def too_slow(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


def every_type(
    only: list[str] | None = None,
) -> Iterator[tuple[str, str, type[PreTrainedConfig], type[PreTrainedModel]]]:
    """Yield each type once, or those of some names: looking a model up imports its module."""
    for kind, mapping in (
        ("causal", MODEL_FOR_CAUSAL_LM_MAPPING),
        ("masked", MODEL_FOR_MASKED_LM_MAPPING),
    ):
        types = {
            mapping[config]: config
            for config in list(mapping.keys())
            if not only or config.model_type in only
        }
        for model, config in sorted(types.items(), key=lambda pair: pair[1].model_type):
            yield kind, config.model_type, config, model


def tried(
    kind: str,
    type_: str,
    config_class: type[PreTrainedConfig],
    model_class: type[PreTrainedModel],
    n_sentences: int,
) -> Outcome:
    # Again and again, because a library may catch the first of these errors and go on.
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 5)
    try:
        model = small_model(config_class, model_class)
    # What a type's configuration does not allow, its own code says, in errors of any kind.
    except LIKELY_FAILURES as error:
        return Outcome(type_, kind, "not built", None, first_line(error))
    try:
        scorer = small_scorer(model, masked=kind == "masked")
    except LmError as error:
        way = "not run" if "cannot be run" in str(error) else "refused"
        return Outcome(type_, kind, way, None, first_line(error))
    texts = some_texts(n_sentences)
    chosen = list(range(0, len(texts), max(1, len(texts) // 24)))
    try:
        scores = scorer.score([("", text) for text in texts])
        places = [list(range(len(one.tokens))) for one in scores]
        plain = scorer.reference_logprobs([texts[n] for n in chosen], [places[n] for n in chosen])
    except LIKELY_FAILURES as error:
        return Outcome(type_, kind, "not run", None, first_line(error))
    signal.setitimer(signal.ITIMER_REAL, 0)
    worst = max(
        float(np.max(np.abs(scores[n].logprobs_nats - own)))
        for n, own in zip(chosen, plain, strict=True)
    )
    if kind == "masked":
        return Outcome(type_, kind, "masked", worst)
    way = "text by text" if scorer.packing_fault else "packed"
    return Outcome(type_, kind, way, worst, scorer.packing_fault)


def small_model(
    config_class: type[PreTrainedConfig], model_class: type[PreTrainedModel]
) -> PreTrainedModel:
    """Return a type's model with random weights, as small as its configuration allows."""
    known = vars(config_class())
    names = {**known, **getattr(config_class, "attribute_map", {})}
    sizes = {name: value for name, value in SIZES.items() if name in names}
    with torch.device("meta"):
        shapes = model_class(config_class(**sizes))
    n_weights = sum(weight.numel() for weight in shapes.parameters())
    if n_weights > MOST_WEIGHTS:
        raise ValueError(f"{n_weights:,} weights: its configuration names its sizes otherwise")
    torch.manual_seed(1)
    return model_class(config_class(**sizes)).eval()


def small_scorer(model: PreTrainedModel, *, masked: bool) -> HfScorer:
    encoder = TextEncoder(
        word_tokenizer(masked=masked), window=120, masked=masked, name=model.config.model_type
    )
    return HfScorer(model, encoder, name=model.config.model_type, trained_on="nothing")


def word_tokenizer(*, masked: bool) -> PreTrainedTokenizerFast:
    numbers = {"<pad>": 0, "</s>": 1, "<mask>": 2} | {f"w{n}": n + 3 for n in range(N_WORDS)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token="<pad>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(
        single="</s> $A </s>", special_tokens=[("</s>", 1)]
    )
    special = {"eos_token": "</s>", "bos_token": "</s>", "pad_token": "<pad>"}
    if masked:
        special["mask_token"] = "<mask>"
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def some_texts(n: int) -> list[str]:
    """Return sentences that share beginnings, of 3 to 40 words."""
    rng = np.random.default_rng(1)
    texts: list[str] = []
    while len(texts) < n:
        stem = rng.integers(0, N_WORDS, rng.integers(1, 20)).tolist()
        for _ in range(4):
            end = rng.integers(0, N_WORDS, rng.integers(2, 21)).tolist()
            texts.append(" ".join(f"w{word}" for word in [*stem, *end]))
    return texts


def first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:110]


def row(outcome: Outcome) -> str:
    worst = "" if outcome.worst_nats is None else f"{outcome.worst_nats:.1e}"
    verdict = "WRONG" if outcome.is_wrong else ""
    named = f"{outcome.kind:7} {outcome.type:28} {outcome.way:13} {worst:>8} {verdict}"
    return f"{named} {outcome.remark}".rstrip()


if __name__ == "__main__":
    main()
