"""The reading that shows all texts of a trial with labels and asks for the best one's label."""

from collections.abc import Sequence
from typing import ClassVar

from experiment.responses.base import GivenAnswer
from experiment.takers.prompt import Ask, Way, labels_of, option_lines
from experiment.takers.readings.base import Reading, Situation, order_in_prompt, reorder_to_answers
from experiment.takers.session import Form, TakerTrial


class ForcedChoice(Reading):
    """Asks for the label of the text that sounds best."""

    name: ClassVar[str] = "forced_choice"
    prompted: ClassVar[bool] = True
    forms: ClassVar[frozenset[Form]] = frozenset({Form.CHOOSE})
    native: ClassVar[frozenset[Form]] = forms

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return one prompt with every text."""
        way, prompter = situation.way, situation.writes
        labels = labels_of(way.labels, len(trial.answers))
        prompt = prompter.prompt(
            way,
            prompter.words.choose,
            _list_lines(trial, way),
            labels,
            [
                (_list_lines(screen, way), _label(screen, way, answer))
                for screen, answer in situation.earlier
            ],
            [
                (
                    _list_lines(screen, way),
                    _label(screen, way, answer),
                    feedback or prompter.words.right,
                )
                for screen, answer, feedback in prompter.practised(way)
            ],
        )
        return (Ask(prompt, labels),)

    def weights(
        self, trial: TakerTrial, situation: Situation, replies: Sequence[Sequence[float]]
    ) -> tuple[float, ...]:
        """Return the log-probability of each text's label."""
        order = order_in_prompt(len(trial.answers), swapped=situation.way.swapped)
        return reorder_to_answers(order, replies[0])


def _list_lines(trial: TakerTrial, way: Way) -> str:
    n = len(trial.answers)
    return option_lines(trial, labels_of(way.labels, n), order_in_prompt(n, swapped=way.swapped))


def _label(trial: TakerTrial, way: Way, answer: GivenAnswer | None) -> str:
    if answer is None:
        return ""
    n = len(trial.answers)
    index = order_in_prompt(n, swapped=way.swapped).index(trial.answers.index(answer))
    return labels_of(way.labels, n)[index]
