"""Whether a Hugging Face model is what its folder says, of which kind, and what was decided."""

import re
from collections.abc import Mapping
from pathlib import Path
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

_LAYER = re.compile(r"\.\d+\.")
# Positions that a model is trained for are not limited where its config says nothing of them.
_ENDLESS = 2**20


def refuse_incomplete(kind: str, report: Mapping[str, Any], source: str) -> None:
    """Raise where weights are missing, or layers of the checkpoint would not be used.

    Args:
        kind: The model's class.
        report: What the library says about loading the weights.
        source: The model, for messages.

    Raises:
        LmError: They are.
    """
    if missing := sorted(report["missing_keys"]):
        raise LmError(
            f"{source} lacks {len(missing)} weights of a {kind}, among them {missing[0]}; they "
            "would be random. Give a model saved with its language-model head."
        )
    unused = sorted(key for key in report["unexpected_keys"] if _LAYER.search(key))
    if unused:
        raise LmError(
            f"{source} has {len(unused)} weights of layers that its config.json does not have, "
            f"among them {unused[0]}; they would be left out. Correct the number of layers in "
            "config.json."
        )


def refuse_adapter(folder: Path) -> None:
    """Raise where a folder holds an adapter, which would be left out or change the model.

    Raises:
        LmError: It does.
    """
    if (folder / "adapter_config.json").is_file():
        raise LmError(
            f"{folder} holds an adapter (adapter_config.json), and a model is scored here without "
            "one. Merge the adapter into the model (`merge_and_unload` of the library peft), save "
            "the whole model, and score that; or remove the adapter's files."
        )


def conventions(name: str, beginning: str, *, chat: bool) -> tuple[str, ...]:
    """Return how texts are given to a model, in sentences.

    Args:
        name: The model.
        beginning: The token that texts start with; empty for masked models.
        chat: Whether its tokenizer has a chat template.
    """
    begun = f"{name} reads every text after the token {beginning}." if beginning else ""
    template = (
        f"{name} has a chat template, which was not used: sentences were scored as plain text."
        if chat
        else ""
    )
    return tuple(filter(None, (begun, template)))


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
