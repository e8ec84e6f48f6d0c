"""The interface of a response type; all code that depends on the type uses this interface."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import ConfigDict

from experiment.errors import StudyError
from experiment.records import PAIR, SIDES, Item, Side, Steps, Variant
from experiment.responses.answer import (
    Arrangement,
    Balance,
    GivenAnswer,
    Gives,
    Known,
    PartSettings,
    Render,
    ScoredAnswer,
    Shown,
    Timed,
)
from experiment.responses.proposals import Proposals
from experiment.responses.responders import Responder
from experiment.tables.column import Column, TableSchema

__all__ = [
    "Arrangement",
    "Balance",
    "GivenAnswer",
    "Gives",
    "Known",
    "PartSettings",
    "Render",
    "ResponseType",
    "ScoredAnswer",
    "Shown",
]


class ResponseType(Timed, Proposals, ABC):
    """Base class of all response types: a pydantic model of the parameters in ``trial.parameters``.

    Attributes:
        name: The type's name in the registry, in study.toml and on the page.
        family: The name of its analysis, which several types may share.
        measures: What comparisons of the answers can be about, the main measure first (see
            ``[[comparisons]]``); empty for accuracy if answers are right or wrong, else nothing.
        template: The page fragment for a trial, below ``webapp/participant/responses/``; in a
            package, ``"package:path"``.
        script: The script that reads an answer on the page, located likewise.
        details: What the script sends of an answer besides a side or a rating: each key with the
            sentence by which the consent names it. Only these keys are stored, and a run stores
            only those that were declared at its launch. ``accepts`` refuses wrong details.
        columns: The columns that one answer fills in the exported table of responses.
        trial_columns: Columns that the exported table of trials adds or redefines.
        step_table: The exported table of the measurements of each word or region, for types that
            show a sentence step by step; None for all others.
        default_keys: The answer keys if the study names none; empty for the digits from 1.
        typical_rt_ms: The typical reaction time in milliseconds; simulated participants use it if
            the study sets no other.
        gives: What the answers provide. Rules, checks and bonuses that need anything else are
            refused, and no sign of a program counts that needs anything else.
        balance: What the design balances, and the audit checks.
        alone: Whether an item may have only a good version.
        responder_method: The method that a simulated responder must have.
        letters_in_place: How many letters of a word fit on a narrow phone, if the page does not
            break words; None if it does.
        has_context_above: Whether the context is shown above the answers, so that it may have a
            picture.
        shows_one_pair: Whether a trial is a choice between the good version and one other, so that
            other programs can give the items to a model as they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str]
    family: ClassVar[str] = "choice"
    measures: ClassVar[tuple[str, ...]] = ()
    template: ClassVar[str]
    script: ClassVar[str] = "choice/choice.js"
    details: ClassVar[Mapping[str, str]] = {}
    columns: ClassVar[tuple[Column, ...]]
    trial_columns: ClassVar[tuple[Column, ...]] = ()
    step_table: ClassVar[TableSchema | None] = None
    default_keys: ClassVar[tuple[str, ...]] = ()
    typical_rt_ms: ClassVar[float]
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.RIGHT})
    balance: ClassVar[Balance] = Balance.SIDES
    alone: ClassVar[bool] = False
    responder_method: ClassVar[str] = "choose"
    letters_in_place: ClassVar[int | None] = None
    has_context_above: ClassVar[bool] = False
    shows_one_pair: ClassVar[bool] = False

    @property
    def measured_name(self) -> str:
        """The type's name in the table of false-alarm rates.

        A plug-in's type has a name with a colon, which is in no table: it may share its ``name``
        with the type that it extends, and still take people other times.
        """
        own = type(self)
        is_shipped = own.__module__.startswith("experiment.responses.")
        return own.name if is_shipped else f"{own.__module__}:{own.__name__}"

    @property
    def score_columns(self) -> tuple[Column, ...]:
        """The columns of participants that hold their scores on the type's trials."""
        return ()

    # The type of each trial: a mixed session has several.

    @property
    def types(self) -> Mapping[str, "ResponseType"]:
        """The types of a mixed session's tasks by task name; empty for all other types."""
        return {}

    @property
    def page_tasks(self) -> Mapping[str, Mapping[str, object]]:
        """What the page knows of each task, by task name; empty unless the session is mixed."""
        return {}

    def of_item(self, item: Item) -> "ResponseType":
        """Return the response type of an item's trials."""
        return self

    def of_options(self, options: str | None) -> "ResponseType":
        """Return the response type of a stored trial.

        Args:
            options: The versions on the trial's screen, joined by spaces; None for a pair.
        """
        return self

    def task_of(self, item: Item) -> str:
        """Return the name of an item's task; empty if the session is not mixed."""
        return ""

    def part_of(self, arrangement: Arrangement) -> tuple[str, Arrangement]:
        """Return the task of a stored trial, and the trial as the task's own type stores it."""
        return "", arrangement

    def within(self, block_of: Mapping[str, str]) -> Self:
        """Return this type adapted to a design.

        Args:
            block_of: The block of each template.
        """
        return self

    # What the screen shows.

    @abstractmethod
    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the texts of a trial.

        Args:
            item: The trial's item.
            good_side: The side of the good option. If only one version is shown, the first side
                means the good one.
            render: Converts plain words to the text on the screen.

        Raises:
            StudyError: The item cannot be shown in this way.
        """

    def show_options(self, item: Item, options: Sequence[str], render: Render) -> Shown:
        """Return the texts of a trial that shows these versions in this order."""
        good_first = options[0] == Variant.GOOD
        return self.show(item, Side.FIRST if good_first else Side.SECOND, render)

    def show_arranged(self, item: Item, arrangement: Arrangement, render: Render) -> Shown:
        """Return the texts of a stored trial."""
        if arrangement.options:
            return self.show_options(item, arrangement.options, render)
        return self.show(item, arrangement.good_side or Side.FIRST, render)

    def screens(self, item: Item, render: Render) -> tuple[Shown, ...]:
        """Return every screen that an item can have with the good option first."""
        return (self.show(item, Side.FIRST, render),)

    @property
    def named_scales(self) -> Mapping[str, int]:
        """The number of points of each scale by name; empty if a trial has at most one scale."""
        return {}

    @property
    def shows_words_alone(self) -> bool:
        """Whether an option is shown as its words alone, which go on from the context."""
        return False

    def settings_of_part(self, name: str) -> PartSettings:
        """Return the response type of one task or one scale, as a study with only that part has it.

        Args:
            name: A name of ``types`` or of ``named_scales``.

        Raises:
            KeyError: There is no such task or scale.
        """
        raise KeyError(name)

    def unbroken_words(self, item: Item) -> Iterator[str]:
        """Yield an item's words that the page shows without line breaks inside them."""
        yield from ()

    # What the design balances.

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's versions that may be shown, the good one first.

        Raises:
            StudyError: The item has too few versions, or two identical ones.
        """
        return (Variant.GOOD, str(item.contrast))

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return a trial's arrangement (which version is on which side) in the form to store."""
        return Arrangement(SIDES[options.index(Variant.GOOD)], options)

    def drawn(
        self,
        item: Item,
        arranged: Arrangement,
        draw: Callable[[], random.Random],
        *,
        mirrored: bool,
    ) -> Arrangement:
        """Return an arrangement with the parts that are drawn anew for each participant.

        Args:
            item: The item.
            arranged: The item's arrangement as the design balances it.
            draw: Returns the random generator, the same for two neighbouring places.
            mirrored: Whether the place is the second of the two, which gets the opposite.
        """
        return arranged

    def practice_arrangement(self, item: Item, good_side: Side) -> Arrangement:
        """Return the arrangement of a practice trial, the same for all participants.

        Args:
            item: The practice item.
            good_side: The side of the good option.
        """
        return Arrangement(good_side)

    def practice_fields(self, item: Item, render: Render) -> Mapping[str, Any]:
        """Return what the page needs to judge the answer to a practice item, besides its side."""
        return {}

    @property
    def balanced_over(self) -> int:
        """The number of neighbouring places of a list over which the design is balanced."""
        return len(PAIR)

    # How the server reads and checks an answer.

    @property
    def n_answers(self) -> int:
        """The largest number of answers that a trial offers; each has a key."""
        return len(PAIR)

    @property
    def rating_ends(self) -> tuple[int, int]:
        """The lowest and the highest rating of a type that asks for points of a scale."""
        return 1, self.n_answers

    def n_offered(self, options: str | None) -> int:
        """Return how many answers a trial offers.

        Args:
            options: The versions on the trial's screen, joined by spaces; None for a pair.
        """
        return self.n_answers

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether an answer is valid for a trial; called for every answer, so keep it cheap.

        Args:
            answer: The answer.
            options: The versions on the trial's screen, joined by spaces; None for a pair.
        """
        has_side_only = answer.rating is None and answer.steps is None and answer.details is None
        return has_side_only and answer.side in SIDES[: self.n_offered(options)]

    def settle(self, answer: GivenAnswer, options: str | None) -> GivenAnswer:
        """Return an accepted answer as it is stored, with what only the server can add.

        Args:
            answer: The answer.
            options: The versions on the trial's screen, joined by spaces; None for a pair.
        """
        return answer

    def time_outside_rt_ms(self, answer: GivenAnswer) -> float | None:
        """Return the time of a trial that the answer's reaction time leaves out.

        Together they last from the trial's appearance to the moment at which the page has its
        answer. Types whose reaction time spans the trial say so in ``gives``.

        Args:
            answer: The stored answer.

        Returns:
            The milliseconds; None if they are unknown.
        """
        return 0.0 if Gives.WHOLE_TIME in self.gives else None

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the evaluation of an answer to a trial."""
        return ScoredAnswer(
            chose_good=answer.side == arrangement.good_side,
            chosen_side=answer.side,
        )

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return the error-free answer to a trial."""
        return GivenAnswer(side=arrangement.good_side)

    # What the export contains.

    @property
    def completes_rows(self) -> bool:
        """Whether ``derive_columns`` changes rows; if not, a large run's export skips the call."""
        return False

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the columns that are derived from the stored ones."""
        return row

    def derive_all_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with all derived columns, including lateness."""
        if self.deadline_ms is None:
            return self.derive_columns(row) if self.completes_rows else row
        done = self.derive_columns(dict(row)) if self.completes_rows else row
        return self.with_lateness(done, row)

    def is_late(
        self, arrangement: Arrangement, rt_ms: float | None, steps: Steps | None = None
    ) -> bool | None:
        """Return whether an answer came after the trial's deadline: see ``late``."""
        return self.late(rt_ms, steps)

    def step_rows(
        self, item: Item, arrangement: Arrangement, answer: GivenAnswer
    ) -> Iterator[dict[str, object]]:
        """Yield an answer's rows of ``step_table``, without the columns that identify the trial.

        Args:
            item: The item that was read.
            arrangement: The trial's arrangement on the screen.
            answer: The answer.
        """
        yield from ()

    # How items are checked.

    def flaws(self, items: Sequence[Item]) -> Iterator[tuple[Item, StudyError]]:
        """Yield the faults that appear when items are compared, each with the item concerned."""
        yield from ()

    def find_imbalances(self, arrangements: Sequence[Arrangement]) -> Iterator[str]:
        """Yield a session's imbalances that ``balance`` does not cover."""
        yield from ()

    # How answers are simulated.

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return the answer of a simulated participant.

        Args:
            responder: The simulated participant's way of answering.
            known: What the participant knows about the item.
            options: The texts on the screen.
            rng: The random generator.
        """
        sides, good_side = SIDES[: len(options)], SIDES[options.index(known.good)]
        kind = known.item.kind
        if sides == PAIR:
            return GivenAnswer(responder.choose(kind, good_side, known.accuracy, rng))
        return GivenAnswer(responder.choose(kind, good_side, known.accuracy, rng, sides=sides))

    # How an answer is described in words.

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return an answer in a word or two, for the researcher's page about a participant."""
        return str(answer.side)

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return "the expected option has a + before it"
