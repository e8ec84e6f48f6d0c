"""A model on this machine as an answerer: every answer's log-probability after the prompt."""

from collections.abc import Callable, Iterable, Sequence

from lm.answering.answerer import Question, Reply, Tier
from lm.scorer import Scorer


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
