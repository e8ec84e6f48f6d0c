"""The reading of words for a gap."""

from typing import ClassVar

from experiment.takers.prompt import Ask
from experiment.takers.readings.base import Reading, Situation
from experiment.takers.session import Form, TakerTrial


class Completion(Reading):
    """Types one of the model's own words into the gap, by its probability there."""

    name: ClassVar[str] = "completion"
    forms: ClassVar[frozenset[Form]] = frozenset({Form.TYPE})

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return the model's words for the gap, between the texts before and after it."""
        before, after = trial.sentences
        words = [str((answer.details or {})["text"]) for answer in trial.answers]
        return (Ask(before, tuple(words), after),)
