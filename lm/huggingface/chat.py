"""Hugging Face models that answer in their chat template, with or without thinking before."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from lm.answering.answerer import LocalAnswerer, Question, Reply
from lm.errors import LmError
from lm.huggingface.scorer import HfScorer

_END_OF_THOUGHT = "</think>"


class Chat:
    """Formats prompts with a model's chat template.

    The template writes the text's beginning: nothing is added before it, so that a beginning
    token never occurs twice.

    Args:
        scorer: A causal model whose tokenizer has a template.

    Raises:
        LmError: The tokenizer has no chat template.
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
        """Whether the template supports thinking."""
        return "think" in self._template

    def rendered(self, prompt: str, *, thinking: bool = False) -> str:
        """Return the whole text before the model's answer."""
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
        """Let the model think, and return the text that then precedes its answer.

        The model generates the most probable token each time, until its thought ends; a longer
        thought than allowed is cut and closed.

        Args:
            prompt: The user's turn.
            most_tokens: The most tokens of the thought.

        Returns:
            The whole text, the thought, and its number of tokens.
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


class ChatAnswerer(LocalAnswerer):
    """A Hugging Face model that answers prompts in its own chat template.

    Whole texts without a prompt are scored as they are.

    Args:
        scorer: The model.
        identity: A value that changes when the model's files do.

    Raises:
        LmError: The model has no chat template.
    """

    def __init__(self, scorer: HfScorer, identity: str) -> None:
        super().__init__(scorer, f"{identity} chat")
        self._model, self._chat = scorer, Chat(scorer)

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Return one reply per question, as ``LocalAnswerer`` does."""
        whole = iter(super().reply([each for each in questions if not each.prompt]))
        before = [self._before(each) if each.prompt else None for each in questions]
        requests = [
            (text, answer)
            for each, found in zip(questions, before, strict=True)
            if found is not None
            for text in [found[0]]
            for answer in each.answers
        ]
        distinct = list(dict.fromkeys(requests))
        scores = dict(zip(distinct, self._model.score_rendered(distinct), strict=True))
        return [
            next(whole)
            if found is None
            else replace(
                Reply(
                    tuple(
                        float(scores[found[0], answer].logprobs_nats.sum())
                        for answer in each.answers
                    )
                ),
                thoughts=(found[1],) if each.thinking else (),
                n_hidden=found[2],
            )
            for each, found in zip(questions, before, strict=True)
        ]

    def refuse_too_long(self, questions: Iterable[Question]) -> None:
        """Raise an LmError if a question with its longest thought is too long for the model."""
        kept = list(questions)
        super().refuse_too_long([each for each in kept if not each.prompt])
        encoder = self._model.encoder
        for each in kept:
            if each.thinking and not self._chat.thinks:
                raise LmError(
                    f"the chat template of {self.name} has no place for thoughts, so it cannot "
                    "think before it answers. Leave --thinking out."
                )
            if each.prompt:
                text = self._chat.rendered(each.prompt)
                for answer in each.answers:
                    encoder.encode_rendered(text, answer, reserved=each.thinking)

    def _before(self, question: Question) -> tuple[str, str, int]:
        if question.thinking:
            return self._chat.thought(question.prompt, question.thinking)
        return self._chat.rendered(question.prompt), "", 0
