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

    def render(self, prompt: str, *, thinking: bool = False) -> str:
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
    def generate_thought(self, prompt: str, most_tokens: int) -> tuple[str, str, int]:
        """Let the model think, and return the text that then precedes its answer.

        The model generates the most probable token each time, until its thought ends; a longer
        thought than allowed is cut and closed.

        Args:
            prompt: The user's turn.
            most_tokens: The most tokens of the thought.

        Returns:
            The whole text, the thought, and its number of tokens.
        """
        text = self.render(prompt, thinking=True).rstrip(" ")
        model: Any = self._scorer.model
        encoded = self._tokenizer(text, add_special_tokens=False, return_tensors="pt")
        ids = encoded["input_ids"].to(model.device)
        generated = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=most_tokens,
            do_sample=False,
            use_cache=True,
            stopping_criteria=[partial(self._has_ended, ids.shape[1])],
            pad_token_id=self._tokenizer.eos_token_id,
        )[0, ids.shape[1] :]
        thought = self._tokenizer.decode(generated)
        for end in (_END_OF_THOUGHT, self._tokenizer.eos_token or _END_OF_THOUGHT):
            thought = thought.partition(end)[0]
        thought = thought.rstrip()
        return f"{text}{thought}\n{_END_OF_THOUGHT}\n\n", thought.strip(), len(generated)

    def _has_ended(self, start: int, ids: torch.Tensor, _: object) -> torch.Tensor:
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
        unprompted = iter(
            super().reply([question for question in questions if not question.prompt])
        )
        beginnings = [
            self._text_before_answer(question) if question.prompt else None
            for question in questions
        ]
        requests = [
            (text, answer)
            for question, beginning in zip(questions, beginnings, strict=True)
            if beginning is not None
            for text in [beginning[0]]
            for answer in question.answers
        ]
        distinct_requests = list(dict.fromkeys(requests))
        scores = dict(
            zip(distinct_requests, self._model.score_rendered(distinct_requests), strict=True)
        )
        return [
            next(unprompted)
            if beginning is None
            else replace(
                Reply(
                    tuple(
                        float(scores[beginning[0], answer].logprobs_nats.sum())
                        for answer in question.answers
                    )
                ),
                thoughts=(beginning[1],) if question.thinking else (),
                n_hidden=beginning[2],
            )
            for question, beginning in zip(questions, beginnings, strict=True)
        ]

    def refuse_too_long(self, questions: Iterable[Question]) -> None:
        """Raise an LmError if a question with its longest thought is too long for the model."""
        all_questions = list(questions)
        super().refuse_too_long([question for question in all_questions if not question.prompt])
        encoder = self._model.encoder
        for question in all_questions:
            if question.thinking and not self._chat.thinks:
                raise LmError(
                    f"the chat template of {self.name} has no place for thoughts, so it cannot "
                    "think before it answers. Leave --thinking out."
                )
            if question.prompt:
                text = self._chat.render(question.prompt)
                for answer in question.answers:
                    encoder.encode_rendered(text, answer, reserved=question.thinking)

    def _text_before_answer(self, question: Question) -> tuple[str, str, int]:
        if question.thinking:
            return self._chat.generate_thought(question.prompt, question.thinking)
        return self._chat.render(question.prompt), "", 0
