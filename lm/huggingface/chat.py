"""A model's own chat template: prompts as a person's turn, and thoughts before the answer."""

from functools import partial
from typing import Any

import torch

from lm.errors import LmError
from lm.huggingface.scorer import HfScorer

_END_OF_THOUGHT = "</think>"


class Chat:
    """Writes prompts as a model's chat template has them.

    The template decides how a text begins: nothing is put before what it writes, so that a token
    for the beginning never stands there twice.

    Args:
        scorer: A causal model whose tokenizer has a template.

    Raises:
        LmError: It has none.
    """

    def __init__(self, scorer: HfScorer) -> None:
        self._scorer = scorer
        self._tokenizer: Any = scorer.encoder.tokenizer
        self._template = str(getattr(self._tokenizer, "chat_template", None) or "")
        if not self._template or scorer.encoder.beginning is None:
            raise LmError(
                f"{scorer.name} has no chat template, so prompts cannot be a chat's. Expected a "
                "causal model with a chat_template in its folder. Leave --chat out: prompts are "
                "then plain texts."
            )

    @property
    def thinks(self) -> bool:
        """Whether the template has a place for thoughts."""
        return "think" in self._template

    def rendered(self, prompt: str, *, thinking: bool = False) -> str:
        """Return all that stands before the model's answer."""
        text = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}],
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=thinking,
        )
        special = self._tokenizer.all_special_tokens
        closed = text[-1:].isspace() or text.endswith(tuple(special))
        return str(text if closed else f"{text} ")

    @torch.inference_mode()
    def thought(self, prompt: str, most_tokens: int) -> tuple[str, str, int]:
        """Let the model think, and return what stands before its answer then.

        It writes the most probable token each time, up to the end of its thought; a thought that
        is longer than allowed is ended for it.

        Args:
            prompt: The person's turn.
            most_tokens: How long the thought may be.

        Returns:
            The whole text, the thought, and how many tokens it has.
        """
        text = self.rendered(prompt, thinking=True).rstrip(" ")
        model: Any = self._scorer.model
        read = self._tokenizer(text, add_special_tokens=False, return_tensors="pt")
        ids = read["input_ids"].to(model.device)
        written = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=most_tokens,
            do_sample=False,
            use_cache=True,
            stopping_criteria=[partial(self._ended, ids.shape[1])],
            pad_token_id=self._tokenizer.eos_token_id,
        )[0, ids.shape[1] :]
        said = self._tokenizer.decode(written)
        for end in (_END_OF_THOUGHT, self._tokenizer.eos_token or _END_OF_THOUGHT):
            said = said.partition(end)[0]
        said = said.rstrip()
        return f"{text}{said}\n{_END_OF_THOUGHT}\n\n", said.strip(), len(written)

    def _ended(self, start: int, ids: torch.Tensor, _: object) -> torch.Tensor:
        done = [_END_OF_THOUGHT in self._tokenizer.decode(row[start:]) for row in ids]
        return torch.tensor(done, device=ids.device)
