"""The reading that asks for a rating of each text in a separate prompt."""

from collections.abc import Sequence
from math import exp, inf
from typing import ClassVar

from experiment.responses.base import GivenAnswer
from experiment.takers.prompt import Ask, Way, labels_of
from experiment.takers.readings.base import Reading, Situation, order_in_prompt, reorder_to_answers
from experiment.takers.session import Form, TakerTrial

# The scale for trials that have no scale of their own.
_POINTS = 7


class Rating(Reading):
    """Asks for a rating of each text; among several, the highest mean rating wins.

    The mean is weighted by the points' probabilities. In the swapped order the first label is the
    best.
    """

    name: ClassVar[str] = "rating"
    prompted: ClassVar[bool] = True
    forms: ClassVar[frozenset[Form]] = frozenset({Form.CHOOSE, Form.RATE})
    native: ClassVar[frozenset[Form]] = frozenset({Form.RATE})
    probabilistic: ClassVar[bool] = False

    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return a prompt for each text on the screen."""
        way, prompter = situation.way, situation.writes
        labels = labels_of(way.labels, _list_points(trial))
        from_worst = [labels[index] for index in order_in_prompt(len(labels), swapped=way.swapped)]
        earlier_lines = [
            (text, _label(screen, way, answer))
            for screen, answer in situation.earlier
            for text in _list_texts(screen)
        ]
        practice = [
            (text, "", feedback)
            for screen, _, feedback in prompter.practised(way)
            for text in _list_texts(screen)
        ]
        return tuple(
            Ask(
                prompter.prompt(
                    way, prompter.words.rate, text, from_worst, earlier_lines, practice
                ),
                labels,
            )
            for text in _list_texts(trial)
        )

    def weights(
        self, trial: TakerTrial, situation: Situation, replies: Sequence[Sequence[float]]
    ) -> tuple[float, ...]:
        """Return each point's log-probability, or for several texts each one's mean rating."""
        order = order_in_prompt(_list_points(trial), swapped=situation.way.swapped)
        log_probabilities = [reorder_to_answers(order, reply) for reply in replies]
        return (
            log_probabilities[0]
            if trial.form is Form.RATE
            else tuple(map(mean_point, log_probabilities))
        )


def mean_point(logprobs_nats: Sequence[float]) -> float:
    """Return the mean point, from 1, under log-probabilities that need not sum to 1."""
    greatest_logprob = max(logprobs_nats)
    if greatest_logprob == -inf:
        return -inf
    shares = [exp(logprob - greatest_logprob) for logprob in logprobs_nats]
    return sum(point * share for point, share in enumerate(shares, start=1)) / sum(shares)


def _list_points(trial: TakerTrial) -> int:
    return len(trial.answers) if trial.form is Form.RATE else _POINTS


def _list_texts(trial: TakerTrial) -> list[str]:
    return [f"{trial.shown.prefix} {option}".strip() for option in trial.shown.options]


def _label(trial: TakerTrial, way: Way, answer: GivenAnswer) -> str:
    n = len(trial.answers)
    index = order_in_prompt(n, swapped=way.swapped).index(trial.answers.index(answer))
    return labels_of(way.labels, n)[index]
