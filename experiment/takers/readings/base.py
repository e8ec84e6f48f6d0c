"""The interface and the registry of readings (ways of asking a model)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, cast

from experiment.plugins import Registry
from experiment.responses.base import GivenAnswer
from experiment.takers.prompt import Ask, Context, Prompter, Way
from experiment.takers.session import Form, TakerTrial

Earlier = Sequence[tuple[TakerTrial, GivenAnswer]]


@dataclass(frozen=True, slots=True)
class Situation:
    """The circumstances in which a trial is asked.

    Attributes:
        way: The cell of the crossed factors.
        prompter: Writes prompts; None for readings that need none.
        instructions: The participants' instructions.
        earlier: The earlier trials with their answers, if the prompt shows them.
    """

    way: Way
    prompter: Prompter | None
    instructions: str
    earlier: Earlier = ()

    @property
    def writes(self) -> Prompter:
        """The prompter, which every prompted reading has."""
        assert self.prompter is not None, "a prompted reading is given a prompter"
        return self.prompter


class Reading(ABC):
    """A way of asking a model the question that a trial asks a participant.

    Attributes:
        name: The reading's name in the command and in the tables.
        prompted: Whether the reading uses prompts, in every cell of ``Way``; if not, it needs the
            log-probabilities of whole texts.
        forms: The forms of trial that the reading supports.
        native: The forms that the reading answers directly, so that earlier answers can be shown.
        probabilistic: Whether the weights are log-probabilities up to a constant.
    """

    name: ClassVar[str]
    prompted: ClassVar[bool] = False
    forms: ClassVar[frozenset[Form]]
    native: ClassVar[frozenset[Form]] = frozenset()
    probabilistic: ClassVar[bool] = True

    @abstractmethod
    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return the questions to the model about a trial."""

    def weights(
        self, trial: TakerTrial, situation: Situation, replies: Sequence[Sequence[float]]
    ) -> tuple[float, ...]:
        """Return one weight for each answer of the trial; the highest is chosen.

        Unless a reading says otherwise, the weights are the log-probabilities of the answers to its
        one question.

        Args:
            trial: The trial.
            situation: The situation in which the trial was asked.
            replies: For each question, the log-probability of each of its answers in nats.
        """
        return tuple(replies[0])

    def refusal(self, form: Form, context: Context) -> str:
        """Return why a form cannot be asked in a context; empty if it can."""
        if form not in self.forms:
            return f"trials of this study ask for {form}, which it cannot read from a model"
        if context.has_practice and form not in self.native:
            return f"it gives no answer to {form} that the context {context} could show"
        return ""


def order_in_prompt(n: int, *, swapped: bool) -> tuple[int, ...]:
    """Return the answer's index at each position of a prompt."""
    return tuple(range(n))[::-1] if swapped else tuple(range(n))


def reorder_to_answers(order: Sequence[int], weights: Sequence[float]) -> tuple[float, ...]:
    """Return values that were found per position in the order of the answers."""
    by_answer = dict(zip(order, weights, strict=True))
    return tuple(by_answer.get(answer, -inf) for answer in range(len(order)))


READINGS = Registry(
    "reading",
    {
        "sentence": "experiment.takers.readings.sentence:Sentence",
        "difference": "experiment.takers.readings.difference:Difference",
        "after_instructions": "experiment.takers.readings.sentence:AfterInstructions",
        "acceptability": "experiment.takers.readings.acceptability:Acceptability",
        "forced_choice": "experiment.takers.readings.forced_choice:ForcedChoice",
        "completion": "experiment.takers.readings.completion:Completion",
        "rating": "experiment.takers.readings.rating:Rating",
    },
    group="parallax.readings",
    requires=("name", "forms", "asks", "weights"),
)


def load_reading(name: str) -> Reading:
    """Return a reading by name.

    Args:
        name: A registered name, or ``"module:Class"`` for the user's own reading.

    Raises:
        UnknownNameError: No reading has this name.
        PluginError: The class cannot be imported, or is not a reading.
    """
    return cast(type[Reading], READINGS.load(name))()
