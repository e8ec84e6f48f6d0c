"""Tokenizers of every algorithm, trained on a few sentences, and a masked model for them."""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

_ALGORITHMS = {
    "bpe": (models.BPE(unk_token="[UNK]"), trainers.BpeTrainer),
    "unigram": (models.Unigram(), trainers.UnigramTrainer),
    "wordpiece": (models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer),
    "words": (models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer),
}


def trained(
    algorithm: str,
    divided: pre_tokenizers.PreTokenizer | None,
    texts: Sequence[str],
    size: int,
) -> PreTrainedTokenizerFast:
    """Train a tokenizer; ``divided`` is what divides text before it, None where nothing does."""
    model, trainer = _ALGORITHMS[algorithm]
    made = Tokenizer(model)
    if divided is None:  # as in Gemma
        made.normalizer = normalizers.Replace(" ", "\u2581")
    else:
        made.pre_tokenizer = divided
    more = {"unk_token": "[UNK]"} if algorithm == "unigram" else {}
    if isinstance(divided, pre_tokenizers.ByteLevel):
        more["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    special = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(
        texts, trainer(vocab_size=size, special_tokens=special, show_progress=False, **more)
    )
    ends = [(end, made.token_to_id(end)) for end in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", mask_token="[MASK]", cls_token="[CLS]",
        sep_token="[SEP]",
    )  # fmt: skip


def masked_model(n_words: int) -> BertForMaskedLM:
    """Return a small model whose weights are always the same."""
    torch.manual_seed(1)
    return BertForMaskedLM(
        BertConfig(vocab_size=n_words, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                   intermediate_size=24, max_position_embeddings=128, initializer_range=0.5)
    ).eval()  # fmt: skip
