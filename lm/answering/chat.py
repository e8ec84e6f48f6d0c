"""A local model that answers in its chat template, with or without thinking before the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lm.answering.answerer import LocalAnswerer, Question, Reply
from lm.errors import LmError
from lm.huggingface.chat import Chat
from lm.huggingface.scorer import HfScorer


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
