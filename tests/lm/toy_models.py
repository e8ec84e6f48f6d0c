"""A toy model of every registered type, trained or written on the same few words."""

import json
from collections.abc import Callable
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from lm.baselines.unigram import count_unigrams
from lm.baselines.unigram import save as save_unigram
from lm.corpora.text import count_words, encode
from lm.corpora.vocab import STREAM_WORDS, vocabulary_by_frequency, write_vocabulary
from lm.ngram import model as ngram
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import estimate
from lm.rnn.folder import TAGS, VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network
from tests.prerequisites import KENLM

SENTENCES = ["the cat sleeps .", "the cats sleep .", "a cat sees the cats .", "the cat sees ."]
WORDS = ["the", "cat", "cats", "sleeps", "sleep", "a", "sees", ".", "</s>", "<unk>"]
# An adaptive softmax puts words beyond the first 2,000 into a cluster.
N_RARE = 2_100
FACTS = {"name": "toy", "trained_on": "four sentences"}


def ngram_folder(folder: Path) -> None:
    sentences = [sentence.split() for sentence in SENTENCES]
    vocabulary = vocabulary_by_frequency(count_words(sentences))
    counted = list(count_ngrams(encode(sentences, vocabulary), vocabulary, 3))
    ngram.save(folder, estimate(counted, vocabulary).table, FACTS)


def kenlm_folder(folder: Path) -> None:
    KENLM.require()
    ngram_folder(folder)
    (folder / "config.json").write_text(json.dumps({"type": "kenlm", **FACTS}))


def unigram_folder(folder: Path) -> None:
    sentences = [sentence.split() for sentence in SENTENCES]
    vocabulary = vocabulary_by_frequency(count_words(sentences))
    counts = count_unigrams(encode(sentences, vocabulary), vocabulary)
    save_unigram(folder, vocabulary, counts, FACTS)


def fixed_folder(folder: Path) -> None:
    folder.mkdir()
    rows = [f"\t{s}\t{' '.join(f'-{n}.25' for n in range(len(s.split())))}" for s in SENTENCES]
    table = "\n".join(["context\ttext\tlogprob_nats", *rows, "the\tcat\t-1.5", "a cat\tsees .\t-7"])
    (folder / "scores.tsv").write_text(table + "\n")
    (folder / "config.json").write_text(json.dumps({"type": "fixed", **FACTS}))


def recurrent(**own: object) -> Callable[[Path], None]:
    """Return what writes a small untrained network of this shape."""

    def write(folder: Path) -> None:
        words = dict.fromkeys(WORDS[:-2], 1)
        rare = [f"rare{n}" for n in range(N_RARE if own.get("softmax") == "adaptive" else 0)]
        words |= dict.fromkeys(rare, 0)
        vocabulary = vocabulary_by_frequency(words, min_count=0, special=STREAM_WORDS)
        sizes = {"embedding_size": 6, "hidden_size": 6, "layers": 2}
        shape = {"kind": "lstm", "vocabulary_size": len(vocabulary.words), **sizes, **own}
        torch.manual_seed(1)
        network = build_network(NetworkShape.from_config(shape))
        folder.mkdir()
        save_weights(network, folder / WEIGHTS)
        write_vocabulary(folder / VOCABULARY, vocabulary)
        (folder / TAGS).write_text("NP\nN\n")
        config = {"type": "recurrent", "network": network.shape.to_config(), **FACTS}
        (folder / "config.json").write_text(json.dumps(config))

    return write


def word_tokenizer(*, masked: bool) -> PreTrainedTokenizerFast:
    """One token per word, as word-level models have it."""
    words = [*WORDS, "<mask>"] if masked else WORDS
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    end = words.index("</s>")
    tokenizer.post_processor = TemplateProcessing(
        single="</s> $A </s>", special_tokens=[("</s>", end)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        eos_token="</s>",
        mask_token="<mask>" if masked else None,
        model_max_length=32,
    )


def tiny_gpt2(n_words: int, seed: int = 1) -> GPT2LMHeadModel:
    torch.manual_seed(seed)
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32}
    # Wide initial weights, so that the probabilities differ as a trained model's do.
    return GPT2LMHeadModel(GPT2Config(vocab_size=n_words, initializer_range=0.5, **sizes)).eval()


def tiny_bert(n_words: int, seed: int = 1) -> BertForMaskedLM:
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=n_words,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=0.5,
    )
    return BertForMaskedLM(config).eval()


def save_hf(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
    """Write our folder with the model's own folder in it."""
    model.save_pretrained(folder / "weights")
    tokenizer.save_pretrained(folder / "weights")
    config = {"type": "hf", "model": "./weights", **FACTS}
    (folder / "config.json").write_text(json.dumps(config))


def causal_folder(folder: Path) -> None:
    tokenizer = word_tokenizer(masked=False)
    save_hf(folder, tiny_gpt2(len(tokenizer)), tokenizer)


def masked_folder(folder: Path) -> None:
    tokenizer = word_tokenizer(masked=True)
    save_hf(folder, tiny_bert(len(tokenizer)), tokenizer)


# Case to (registered type, what writes a toy model of it into a folder).
TOY_MODELS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "fixed": ("fixed", fixed_folder),
    "hf causal": ("hf", causal_folder),
    "hf masked": ("hf", masked_folder),
    "kenlm": ("kenlm", kenlm_folder),
    "ngram": ("ngram", ngram_folder),
    "lstm": ("recurrent", recurrent()),
    "lstm of two tasks": ("recurrent", recurrent(n_tags=2)),
    "lstm, adaptive softmax": ("recurrent", recurrent(softmax="adaptive")),
    "lstm, tied softmax": ("recurrent", recurrent(softmax="tied")),
    "lstm, window of words": ("recurrent", recurrent(window=3)),
    "simple recurrent network": ("recurrent", recurrent(kind="srn")),
    "unigram": ("unigram", unigram_folder),
}
