"""Pairs in BLiMP's form, and a transformer of GPT-2's shape that is the same on every machine."""

import json
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

# What lm-evaluation-harness 0.4.13 and minicons 0.3.39 gave for these pairs and this model.
# benchmarks/peer_scores.py of commit 9e25c72c wrote it.
PEERS = Path(__file__).parent / "peers"
_NOUNS = ("cat", "dog", "author", "senator", "guard", "teacher", "pilot", "farmer")
_VERBS = (("laughs", "laugh"), ("swims", "swim"), ("smiles", "smile"), ("is", "are"))
_PARADIGMS = {
    "anaphor_gender_agreement": "anaphor_agreement",
    "adjunct_island": "island_effects",
    "wh_island": "island_effects",
}
_PAIRS = 8
_TASK = """\
task: toy_blimp
dataset_path: json
dataset_kwargs:
  data_files: {data}
output_type: multiple_choice
validation_split: train
doc_to_text: ""
doc_to_target: 0
doc_to_choice: "{{{{[sentence_good, sentence_bad]}}}}"
num_fewshot: 0
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""


def pairs() -> list[dict[str, object]]:
    """Return the pairs as BLiMP's lines have them; the first one's sentences are the same."""
    found: list[dict[str, object]] = []
    for paradigm, phenomenon in _PARADIGMS.items():
        for n in range(_PAIRS):
            noun, other = _NOUNS[n], _NOUNS[(n * 3 + len(found)) % len(_NOUNS)]
            right, wrong = _VERBS[(n + len(found)) % len(_VERBS)]
            text = f"The {noun} near Tim's {other}s {{}} every day."
            found.append(
                {
                    "sentence_good": text.format(right),
                    "sentence_bad": text.format(wrong if found else right),
                    "field": "syntax",
                    "linguistics_term": phenomenon,
                    "UID": paradigm,
                    "simple_LM_method": True,
                    "lexically_identical": False,
                    "pairID": str(n),
                }
            )
    return found


def write_pairs(folder: Path) -> Path:
    """Write the pairs, and beside them a task of lm-evaluation-harness over them."""
    path = folder / "blimp.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs()))
    (folder / "toy_blimp.yaml").write_text(_TASK.format(data=path.absolute()))
    return path


def tokenizer() -> PreTrainedTokenizerFast:
    """Return GPT-2's kind of tokenizer, trained on the pairs."""
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    found.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=360,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = [str(pair[name]) for pair in pairs() for name in ("sentence_good", "sentence_bad")]
    found.train_from_iterator(texts, trainer)
    end = "<|endoftext|>"
    return PreTrainedTokenizerFast(tokenizer_object=found, bos_token=end, eos_token=end)


def gpt2(n_words: int) -> GPT2LMHeadModel:
    """Return a transformer whose weights NumPy drew, which draws the same everywhere."""
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64}
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=n_words, bos_token_id=0, eos_token_id=0, **sizes)
    ).eval()
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for _, weights in sorted(model.named_parameters()):
            drawn = rng.normal(0, 0.3, tuple(weights.shape))
            weights.copy_(torch.from_numpy(drawn.astype(np.float32)))
    return model


def write_gpt2(folder: Path) -> Path:
    """Write model and tokenizer as Hugging Face's folders have them."""
    words = tokenizer()
    words.save_pretrained(folder)
    gpt2(len(words)).save_pretrained(folder)
    return folder
