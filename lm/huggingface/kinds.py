"""What kind of language model a config.json describes, and how much it reads."""

from typing import Any

from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
)

from lm.errors import LmError

# Positions that a model is trained for are not limited where its config says nothing of them.
_ENDLESS = 2**20


def loader_of(config: PreTrainedConfig, source: str) -> Any:  # noqa: ANN401
    """Return the class that loads a model, by what its config.json says that it is."""
    architectures = config.architectures or []
    if any("MaskedLM" in architecture for architecture in architectures):
        return AutoModelForMaskedLM
    if any(kind in a for a in architectures for kind in ("CausalLM", "LMHeadModel")):
        return AutoModelForCausalLM
    if any("ForConditionalGeneration" in architecture for architecture in architectures):
        if config.is_encoder_decoder:
            return AutoModelForSeq2SeqLM
        # Images and text: read by its text alone.
        return AutoModelForImageTextToText
    raise LmError(
        f"{source} is a {', '.join(architectures) or 'model of no named architecture'}. Expected a "
        "causal (...ForCausalLM, ...LMHeadModel), masked (...ForMaskedLM) or encoder-decoder "
        "(...ForConditionalGeneration) language model."
    )


def window_of(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase, source: str) -> int:
    """Return how many tokens the model reads at most, special ones included."""
    added = set(getattr(tokenizer, "added_tokens_decoder", {}))
    needed = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id)
    # Tokens that somebody added can lie beyond what the model knows, as long as no text has them.
    if any(n not in added or n in needed for n in range(config.vocab_size, len(tokenizer))):
        raise LmError(
            f"{source}: the tokenizer knows {len(tokenizer):,} tokens, the model only "
            f"{config.vocab_size:,}. They belong to different models; put the right ones there."
        )
    longest = int(tokenizer.model_max_length)
    positions = int(getattr(config, "max_position_embeddings", None) or min(longest, _ENDLESS))
    if "roberta" in config.model_type and config.pad_token_id is not None:
        # These models number their places from the padding token's number plus one.
        positions -= config.pad_token_id + 1
    return min(positions, longest)
