"""What a way of asking says of itself."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from experiment.responses.base import Given
from experiment.takers.prompt import Ask, Context, Prompter, Way
from experiment.takers.session import Form, TakerTrial

Earlier = Sequence[tuple[TakerTrial, Given]]


@dataclass(frozen=True, slots=True)
class Situation:
    """In what a trial is asked.

    Attributes:
        way: The cell of the crossed factors.
        prompter: Writes prompts; None for readings that need none.
        instructions: The text that people read first.
        earlier: The trials before this one with their answers, where the prompt shows them.
    """

    way: Way
    prompter: Prompter | None
    instructions: str
    earlier: Earlier = ()

    @property
    def writes(self) -> Prompter:
        """What writes prompts, which prompted readings have."""
        assert self.prompter is not None, "a prompted reading is given a prompter"
        return self.prompter


class Reading(ABC):
    """A way of asking a model what a trial asks a person.

    Attributes:
        name: As the command and the tables know it.
        prompted: Whether it asks by a prompt, in every way that ``Way`` crosses; if not, it needs
            the log-probabilities of whole texts.
        forms: What trials may ask for.
        native: The forms whose answer it gives itself, so that earlier answers can be shown.
        probabilistic: Whether the weights are log-probabilities up to a constant.
    """

    name: ClassVar[str]
    prompted: ClassVar[bool] = False
    forms: ClassVar[frozenset[Form]]
    native: ClassVar[frozenset[Form]] = frozenset()
    probabilistic: ClassVar[bool] = True

    @abstractmethod
    def asks(self, trial: TakerTrial, situation: Situation) -> tuple[Ask, ...]:
        """Return what the model is asked about a trial."""

    @abstractmethod
    def weights(
        self, trial: TakerTrial, situation: Situation, replies: Sequence[Sequence[float]]
    ) -> tuple[float, ...]:
        """Return one number for each answer of the trial; the highest is the answer.

        Args:
            trial: The trial.
            situation: In what it was asked.
            replies: For each thing asked, the log-probability of each of its answers in nats.
        """

    def refusal(self, form: Form, context: Context) -> str:
        """Return why trials of a form cannot be asked so in a context; empty where they can."""
        if form not in self.forms:
            return f"trials of this study ask for {form}, which it cannot read from a model"
        if context.has_practice and form not in self.native:
            return f"it gives no answer to {form} that the context {context} could show"
        return ""


def displayed(n: int, *, swapped: bool) -> tuple[int, ...]:
    """Return which answer stands in each place of a prompt."""
    return tuple(range(n))[::-1] if swapped else tuple(range(n))


def placed(order: Sequence[int], found: Sequence[float]) -> tuple[float, ...]:
    """Return what was found of each place as the answers have it."""
    by_answer = dict(zip(order, found, strict=True))
    return tuple(by_answer.get(answer, -inf) for answer in range(len(order)))
