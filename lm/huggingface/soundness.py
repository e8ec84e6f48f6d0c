"""Whether a Hugging Face model is what its folder says, and what was decided to use it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm.errors import LmError

_LAYER = re.compile(r"\.\d+\.")


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
