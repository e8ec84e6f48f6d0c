"""Models that answer questions: the interface, and a model on this machine."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from lm.scorer import Scorer


class Tier(StrEnum):
    """What a model, or the server in front of it, tells; each tier can do what the next can."""

    TEXT = "text"  # log-probabilities of a given text
    NEXT = "next"  # those of some alternatives for the next token
    SAMPLES = "samples"  # what it writes, and nothing of probabilities

    @property
    def in_words(self) -> str:
        """What it tells, for messages."""
        return {
            Tier.TEXT: "log-probabilities of a given text",
            Tier.NEXT: "log-probabilities of the next token's alternatives",
            Tier.SAMPLES: "samples",
        }[self]


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt and the answers of which one is to follow it.

    Attributes:
        prompt: What the model reads; empty where the answers are whole texts.
        answers: The texts.
        seed: What a sample is drawn by, where the model has to be sampled.
        thinking: How many tokens it may think before it answers; 0 for an answer at once.
    """

    prompt: str
    answers: tuple[str, ...]
    seed: int = 0
    thinking: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says to a question.

    Attributes:
        logprobs_nats: The natural-log probability of each answer after the prompt; None where the
            model did not tell it. Of samples, the log of the share that gave the answer.
        texts: What the model wrote, where it was sampled.
        n_unreadable: Samples in which no answer could be read.
        n_refused: Samples in which the model declined.
        n_cut: Samples that ended at the limit of tokens before an answer.
        thoughts: What it wrote before its answers, where that is shown.
        n_hidden: How many tokens it thought in all samples; None where nobody tells.
        seed: What the server was told to draw the first sample by, and the next ones by the numbers
            that follow; None where it was not sampled.
    """

    logprobs_nats: tuple[float | None, ...]
    texts: tuple[str, ...] = ()
    n_unreadable: int = 0
    n_refused: int = 0
    n_cut: int = 0
    thoughts: tuple[str, ...] = ()
    n_hidden: int | None = 0
    seed: int | None = None


class Answerer(Protocol):
    """A model that answers questions; a model on this machine, or one behind a server."""

    @property
    def name(self) -> str:
        """The model's name in tables and figures."""
        ...

    @property
    def trained_on(self) -> str:
        """The text it was trained on, in words that may stand under a table."""
        ...

    @property
    def identity(self) -> str:
        """What changes when the model does; replies are kept under it."""
        ...

    @property
    def tier(self) -> Tier:
        """What it tells."""
        ...

    @property
    def workers(self) -> int:
        """How many questions are asked at once, each in a call of its own; 0: all in one call."""
        ...

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Return one reply per question, in their order."""
        ...


class LocalAnswerer:
    """A scorer that answers questions.

    Args:
        scorer: The model.
        identity: What changes when its files do.
        write: How a prompt, or an answer to one, is written for it.
    """

    tier = Tier.TEXT
    workers = 0

    def __init__(
        self, scorer: Scorer, identity: str, write: Callable[[str], str] = lambda text: text
    ) -> None:
        self._scorer, self.identity, self._write = scorer, identity, write

    @property
    def name(self) -> str:
        """The model's name in tables and figures."""
        return self._scorer.name

    @property
    def trained_on(self) -> str:
        """The text it was trained on."""
        return self._scorer.trained_on

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Return one reply per question; what prompts share is read once, if the model can.

        An answer is the continuation of its prompt behind one space. Where the prompt is empty,
        the answers are whole texts as the model reads them already.

        Raises:
            LmError: A text is longer than the model's window, or cannot be scored.
        """
        requests = [request for each in questions for request in self._requests(each)]
        # Equal requests are common: a sentence stands in many sessions.
        distinct = list(dict.fromkeys(requests))
        scores = self._scorer.score(distinct)
        found = {
            request: float(one.logprobs_nats.sum())
            for request, one in zip(distinct, scores, strict=True)
        }
        return [
            Reply(tuple(found[request] for request in self._requests(each))) for each in questions
        ]

    def refuse_too_long(self, questions: Iterable[Question]) -> None:
        """Raise an LmError if the model cannot read one of the questions."""
        encoder = getattr(self._scorer, "encoder", self._scorer)
        if hasattr(encoder, "encode"):
            for request in {request for each in questions for request in self._requests(each)}:
                encoder.encode(*request)

    def _requests(self, question: Question) -> list[tuple[str, str]]:
        if not question.prompt:
            return [("", answer) for answer in question.answers]
        prompt = self._write(question.prompt)
        return [(prompt, self._write(answer)) for answer in question.answers]
