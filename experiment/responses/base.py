"""What a type of response says of itself; whatever depends on the type asks it here."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Self

from pydantic import ConfigDict

from experiment.errors import StudyError
from experiment.records import PAIR, SIDES, Item, Side, Steps, Variant
from experiment.responses.answer import (
    Arrangement,
    Balance,
    Given,
    Gives,
    Judged,
    Known,
    Render,
    Shown,
    Timed,
)
from experiment.responses.proposed_rules import CatchTrials, no_rule, rules_of_errors
from experiment.simulation.responders import Responder
from experiment.tables.column import Column, TableSchema

__all__ = [
    "Arrangement",
    "Balance",
    "Given",
    "Gives",
    "Judged",
    "Known",
    "Render",
    "ResponseType",
    "Shown",
]


class ResponseType(Timed, ABC):
    """A pydantic model of the type's own parameters, as ``trial.parameters`` gives them.

    Attributes:
        name: As the registry, study.toml and the page know it.
        family: The name of its analysis, which several types may share.
        template: The page's part that shows it, below ``webapp/participant/responses/``; of a
            package, ``"package:path"``.
        script: The page's program that reads an answer, likewise.
        columns: What one answer measures, as the exported table of responses has it.
        trial_columns: What the exported table of trials has besides, or in another form.
        step_table: The exported table of what was measured of each word or region, for types
            that show a sentence step by step; None for all others.
        default_keys: The keys that choose, where the study names none; empty for the digits from 1.
        typical_rt_ms: How long people take, in milliseconds; simulated ones do where the study
            says nothing else.
        gives: What its answers tell. Rules, checks and bonuses that need something else are
            refused.
        balance: What the design balances, and the audit checks.
        alone: Whether an item may have its good version alone.
        responder_method: What a simulated participant must be able to do.
        asked: Under which heading ``words.toml`` has the words of a new study: that of its folder.
        instructions: Which page of instructions a new study gets.
        comments: What a new study's study.toml says of its parameters, by name.
        letters_in_place: How many letters of a word a narrow phone has room for, where words are
            not broken; None where they are.
        has_context_above: Whether the context stands above the answers, so that it may have a
            picture.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str]
    family: ClassVar[str] = "choice"
    template: ClassVar[str]
    script: ClassVar[str] = "choice/choice.js"
    columns: ClassVar[tuple[Column, ...]]
    trial_columns: ClassVar[tuple[Column, ...]] = ()
    step_table: ClassVar[TableSchema | None] = None
    default_keys: ClassVar[tuple[str, ...]] = ()
    typical_rt_ms: ClassVar[float]
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.RIGHT})
    balance: ClassVar[Balance] = Balance.SIDES
    alone: ClassVar[bool] = False
    responder_method: ClassVar[str] = "choose"
    asked: ClassVar[str] = "pair"
    instructions: ClassVar[str] = "instructions"
    comments: ClassVar[Mapping[str, str]] = {}
    letters_in_place: ClassVar[int | None] = None
    has_context_above: ClassVar[bool] = False

    # Which type a trial is of: a mixed session has several.

    @property
    def types(self) -> Mapping[str, "ResponseType"]:
        """The types of a session's tasks by the tasks' names; empty where all trials are alike."""
        return {}

    def of_item(self, item: Item) -> "ResponseType":
        """Return the type that an item's trials are of."""
        return self

    def task_of(self, item: Item) -> str:
        """Return the name of an item's task; empty where all trials are alike."""
        return ""

    def within(self, block_of: Mapping[str, str]) -> Self:
        """Return it as it is in a design.

        Args:
            block_of: The block of each template.
        """
        return self

    # What is shown.

    @abstractmethod
    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the texts of a trial.

        Args:
            item: The trial's item.
            good_side: Where its good option stands; where one version is shown, the good one if
                this is the first side.
            render: From plain words to what the screen shows.

        Raises:
            StudyError: The item cannot be shown in this way.
        """

    def show_options(self, item: Item, options: Sequence[str], render: Render) -> Shown:
        """Return the texts of a trial that has these versions on the screen, in this order."""
        good_first = options[0] == Variant.GOOD
        return self.show(item, Side.FIRST if good_first else Side.SECOND, render)

    def show_arranged(self, item: Item, shown: Arrangement, render: Render) -> Shown:
        """Return the texts of a trial as it is stored."""
        if shown.options:
            return self.show_options(item, shown.options, render)
        return self.show(item, shown.good_side or Side.FIRST, render)

    def screens(self, item: Item, render: Render) -> tuple[Shown, ...]:
        """Return every screen that an item can have, up to the options' order; good comes first."""
        return (self.show(item, Side.FIRST, render),)

    @property
    def named_scales(self) -> Mapping[str, int]:
        """The number of points of each scale by its name; empty where trials have one or none."""
        return {}

    def unbroken_words(self, item: Item) -> Iterator[str]:
        """Yield the words of an item that a page shows without breaking them."""
        yield from ()

    # What is balanced.

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the item's versions that may be shown, by name, the good one first.

        Raises:
            StudyError: The item has too few, or two that are the same.
        """
        return (Variant.GOOD, str(item.contrast))

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return what is stored of a trial that shows these versions of an item, in this order."""
        return Arrangement(SIDES[options.index(Variant.GOOD)], options)

    def drawn(
        self,
        item: Item,
        arranged: Arrangement,
        draw: Callable[[], random.Random],
        *,
        mirrored: bool,
    ) -> Arrangement:
        """Return an arrangement with what is drawn anew for each participant.

        Args:
            item: The item.
            arranged: Its arrangement as the design balances it.
            draw: Returns the source of randomness, the same for two neighbouring places.
            mirrored: Whether it is the second of the two, which gets the opposite.
        """
        return arranged

    def practised(self, item: Item, good_side: Side) -> Arrangement:
        """Return what a practice trial shows: the same for everybody.

        Args:
            item: What is practised.
            good_side: Where its good option stands.
        """
        return Arrangement(good_side)

    @property
    def balanced_over(self) -> int:
        """Over how many neighbouring places of a list it is balanced."""
        return len(PAIR)

    # How an answer is read and checked.

    @property
    def n_answers(self) -> int:
        """How many answers a trial offers at most; each has a key."""
        return len(PAIR)

    def n_offered(self, options: str | None) -> int:
        """Return how many answers a trial offers.

        Args:
            options: The versions on its screen, joined by spaces; None of a pair.
        """
        return self.n_answers

    def accepts(self, given: Given, options: str | None) -> bool:
        """Return whether a trial can be answered so; for each answer, so it must be cheap.

        Args:
            given: The answer.
            options: The versions on its screen, joined by spaces; None of a pair.
        """
        plain = given.rating is None and given.steps is None
        return plain and given.side in SIDES[: self.n_offered(options)]

    def judged(self, shown: Arrangement, given: Given) -> Judged:
        """Return what an answer says of the trial."""
        return Judged(
            chose_good=given.side == shown.good_side,
            chosen_side=given.side,
        )

    def faultless(self, shown: Arrangement) -> Given:
        """Return what somebody answers who makes no error."""
        return Given(side=shown.good_side)

    # What is exported.

    @property
    def completes_rows(self) -> bool:
        """Whether ``exported`` does anything: a run may have ten million rows."""
        return False

    def exported(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of the responses with what follows from its stored columns."""
        return row

    def completed(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of the responses with all that follows from its stored columns."""
        if self.deadline_ms is None:
            return self.exported(row) if self.completes_rows else row
        done = self.exported(dict(row)) if self.completes_rows else row
        return self.with_lateness(done, row)

    def is_late(
        self, shown: Arrangement, rt_ms: float | None, steps: Steps | None = None
    ) -> bool | None:
        """Return whether a trial's answer came after its deadline: see ``late``."""
        return self.late(rt_ms, steps)

    def step_rows(
        self, item: Item, shown: Arrangement, given: Given
    ) -> Iterator[dict[str, object]]:
        """Yield the rows of ``step_table`` that an answer gives, without whose and where.

        Args:
            item: What was read.
            shown: What was on the screen of it.
            given: The answer.
        """
        yield from ()

    # How an item is checked.

    def flaws(self, items: Sequence[Item]) -> Iterator[tuple[Item, StudyError]]:
        """Yield what is wrong with items beside each other, each with the item it is about."""
        yield from ()

    def unbalanced(self, shown: Sequence[Arrangement]) -> Iterator[str]:
        """Yield what of a session's trials is not balanced beyond ``balance``."""
        yield from ()

    # How it is simulated.

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> Given:
        """Return what a simulated participant answers.

        Args:
            responder: How they answer.
            known: What they know of the item.
            options: The texts on the screen.
            rng: The source of randomness.
        """
        sides, good_side = SIDES[: len(options)], SIDES[options.index(known.good)]
        kind = known.item.kind
        if sides == PAIR:
            return Given(responder.choose(kind, good_side, known.accuracy, rng))
        return Given(responder.choose(kind, good_side, known.accuracy, rng, sides=sides))

    # How a table becomes a study of it.

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether it is what a table's items ask for, where their author names none.

        Args:
            items: The items.
            against: The columns that stand against good, where these are two or more.
        """
        return False

    @classmethod
    def proposed(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the parameters of a new study, and what was decided in a sentence.

        Args:
            items: The items.
            against: The columns that stand against good, where these are two or more.
            ends: The words for the two ends of a scale, in the study's language.
        """
        return {}, ""

    # How a new study's rules are proposed.

    def proposed_rules(self, catch: Sequence[CatchTrials]) -> Iterator[str]:
        """Yield the lines of a new study.toml about who is excluded.

        Args:
            catch: The constructions whose items are all catch trials.
        """
        yield from rules_of_errors(catch) if Gives.RIGHT in self.gives else no_rule()

    # How it is said.

    def said(self, shown: Arrangement, given: Given) -> str:
        """Return an answer in a word or two, for the researcher's page of a participant."""
        return str(given.side)

    @property
    def example_note(self) -> str:
        """What `parallax study show` says above its examples."""
        return "the expected option has a + before it"
