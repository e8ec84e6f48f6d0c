"""The reading that asks in a separate prompt whether a text is acceptable."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from experiment.responses.base import GivenAnswer
from experiment.takers.prompt import Ask, Way, Words, labels_of
from experiment.takers.readings.base import Reading, Situation, order_in_prompt, reorder_to_answers
from experiment.takers.session import Form, TakerTrial

_N_ANSWERS = 2


class Acceptability(Reading):
    """Asks for each text whether it is acceptable; among several, the most probable yes wins."""

    name: ClassVar[str] = "acceptability"
    prompted: ClassVar[bool] = True
    forms: ClassVar[frozenset[Form]] = frozenset({Form.CHOOSE, Form.ACCEPT})
    native: ClassVar[frozenset[Form]] = frozenset({Form.ACCEPT})

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return a prompt for each text on the screen."""
        way, prompter = situation.way, situation.writes
        words, labels = prompter.words, labels_of(way.labels, _N_ANSWERS)
        earlier_lines = [
            (lines, _label(screen, way, answer))
            for screen, answer in situation.earlier
            for lines in _list_lines(screen, way, words)
        ]
        practice = [
            (lines, _label(screen, way, answer), feedback)
            for screen, answer, feedback in prompter.practised(way)
            for lines in _list_lines(screen, way, words)
        ]
        return tuple(
            Ask(prompter.prompt(way, words.accept, lines, labels, earlier_lines, practice), labels)
            for lines in _list_lines(trial, way, words)
        )

    def weights(
        self, trial: TakerTrial, situation: Situation, replies: Sequence[Sequence[float]]
    ) -> tuple[float, ...]:
        """Return log-odds of yes per text, or log-probabilities of yes and no for a single text."""
        order = order_in_prompt(_N_ANSWERS, swapped=situation.way.swapped)
        log_probabilities = [reorder_to_answers(order, reply) for reply in replies]
        if trial.form is Form.ACCEPT:
            return log_probabilities[0]
        return tuple(yes - no for yes, no in log_probabilities)


def _list_lines(trial: TakerTrial, way: Way, words: Words) -> Iterator[str]:
    """Yield the lines for each text: the text, then yes and no after their labels."""
    order, labels = order_in_prompt(_N_ANSWERS, swapped=way.swapped), (words.yes, words.no)
    answers = [
        f"{label}. {labels[index]}"
        for label, index in zip(labels_of(way.labels, _N_ANSWERS), order, strict=True)
    ]
    for option in trial.shown.options:
        text = f"{trial.shown.prefix} {option}".strip()
        yield "\n".join([text, *answers])


def _label(trial: TakerTrial, way: Way, answer: GivenAnswer | None) -> str:
    if answer is None:
        return ""
    index = order_in_prompt(_N_ANSWERS, swapped=way.swapped).index(trial.answers.index(answer))
    return labels_of(way.labels, _N_ANSWERS)[index]
