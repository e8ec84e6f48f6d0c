"""Readings of whole sentences' probabilities, alone or after the instructions."""

from typing import ClassVar

from experiment.takers.prompt import Ask
from experiment.takers.readings.base import Reading, Situation
from experiment.takers.session import Form, TakerTrial


class AfterInstructions(Reading):
    """Scores the whole sentence after the word-for-word instructions."""

    name: ClassVar[str] = "after_instructions"
    forms: ClassVar[frozenset[Form]] = frozenset({Form.CHOOSE})

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return every sentence on the screen, preceded by the instructions."""
        return (Ask(situation.instructions, trial.sentences),)


class Sentence(Reading):
    """Scores the whole sentence without preceding text."""

    name: ClassVar[str] = "sentence"
    forms: ClassVar[frozenset[Form]] = frozenset({Form.CHOOSE})

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return every sentence on the screen."""
        return (Ask("", trial.sentences),)
