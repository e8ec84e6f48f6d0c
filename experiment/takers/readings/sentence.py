"""The probability of each sentence: as a whole, or after the text that people read first."""

from collections.abc import Sequence
from typing import ClassVar

from experiment.takers.prompt import Ask
from experiment.takers.readings.base import Reading, Situation
from experiment.takers.session import Form, TakerTrial


class AfterInstructions(Reading):
    """Sums over the sentence, given the instructions word for word."""

    name: ClassVar[str] = "after_instructions"
    forms: ClassVar[frozenset[Form]] = frozenset({Form.CHOOSE})

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return every sentence on the screen, behind the instructions."""
        return (Ask(situation.instructions, trial.sentences),)

    def weights(
        self, trial: TakerTrial, situation: Situation, replies: Sequence[Sequence[float]]
    ) -> tuple[float, ...]:
        """Return the log-probability of each."""
        return tuple(replies[0])


class Sentence(Reading):
    """Sums over the sentence, which nothing precedes."""

    name: ClassVar[str] = "sentence"
    forms: ClassVar[frozenset[Form]] = frozenset({Form.CHOOSE})

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return every sentence on the screen."""
        return (Ask("", trial.sentences),)

    def weights(
        self, trial: TakerTrial, situation: Situation, replies: Sequence[Sequence[float]]
    ) -> tuple[float, ...]:
        """Return the log-probability of each."""
        return tuple(replies[0])
