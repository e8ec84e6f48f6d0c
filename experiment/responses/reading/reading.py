"""Base class of the response types in which a sentence is read step by step."""

import math
import random
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from experiment.errors import StudyError
from experiment.records import PAIR, SIDES, Item, Kind, Side, Steps, Variant, join_context
from experiment.responses.answer import Arrangement, GivenAnswer, Gives, ScoredAnswer, Shown
from experiment.responses.base import Known, Render
from experiment.responses.one_version import OneVersion
from experiment.responses.reading.alignment import Regions, find_misaligned, regions_of
from experiment.responses.reading.division import (
    ContextUse,
    Question,
    Step,
    StepUnit,
    context_regions,
    divide_into_steps,
    question_of,
    sentence_of,
    split_rendered_text,
)
from experiment.responses.responders import Responder
from experiment.tables.column import Column, TableSchema
from experiment.tables.observation_tables import READINGS, RELATIVE_REGION
from experiment.tables.schemas import MEASURED_COLUMNS

QUESTION_MARK = "question"
_MS_A_DAY = 24 * 60 * 60 * 1000
# Simulated reading times are log-normal, with a median that grows with word length; the values are
# chosen, not estimated.
_WORD_MS, _LETTER_MS, _SPREAD = 280.0, 14.0, 0.3

PLAN_COLUMN = Column(
    "options",
    "string",
    'the version on the screen, how it was read, and "question" where one followed, joined by '
    "spaces",
)
ASKED_SIDE_COLUMN = Column(
    "good_side",
    "string",
    "where the right answer to the question stood; empty where no question followed",
    optional=True,
    values=PAIR,
)
WHOLE_MS_COLUMN = Column(
    "rt_ms",
    "number",
    "reading time of the whole sentence: from the painting of its first word or region to the "
    "press that ended the last one",
    unit="ms",
    optional=True,
)
_ANSWER_COLUMNS = (
    Column(
        "chosen_side",
        "string",
        "the answer to the question: its place; empty where no question followed",
        optional=True,
        values=PAIR,
    ),
    Column(
        "chose_good",
        "boolean",
        "whether the question was answered rightly; empty where no question followed",
        optional=True,
    ),
    Column("version", "string", "the version that was read"),
    WHOLE_MS_COLUMN,
    Column(
        "question_rt_ms",
        "number",
        "from the painting of the question to its answer; empty where no question followed",
        unit="ms",
        optional=True,
    ),
    Column("n_steps", "integer", "how many words or regions were read", unit="step"),
)
# The columns that both types store per trial; the sentence's own columns replace those of a choice.
READ_COLUMNS = (
    *_ANSWER_COLUMNS,
    *(column for column in MEASURED_COLUMNS if column.name != "rt_ms"),
)


class Read(OneVersion):
    """Shows one version of an item step by step, and may ask a question about it.

    A stored trial has the version, its plan (the number of steps, or the sides of the right words),
    and a mark if a question follows.
    """

    script: ClassVar[str] = "reading/reading.js"
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.RIGHT, Gives.WHOLE_TIME})
    columns: ClassVar[tuple[Column, ...]] = READ_COLUMNS
    trial_columns: ClassVar[tuple[Column, ...]] = (ASKED_SIDE_COLUMN, PLAN_COLUMN)
    responder_method: ClassVar[str] = "choose"
    # A whole line, measured with the page's own style.
    letters_in_place: ClassVar[int | None] = 23
    # Standard deviations of log times, for planning: between participants, of their effects,
    # between frames, of their effects, residual. Medians over three constructions of Witzel et al.
    # (2012) at the word that differs by condition.
    log_rt_sds: ClassVar[tuple[float, ...]] = (0.35, 0.08, 0.07, 0.03, 0.42)
    # The columns of the table of steps, without the region relative to the critical one.
    measured_steps: ClassVar[TableSchema] = READINGS

    critical: str = Field(
        default="",
        description="the column of the items that names the critical word or region, by its number "
        "in the sentence or by its text; regions are then compared relative to it",
    )
    context: ContextUse = Field(
        default="read",
        description="whole: an item's context is shown as a whole, before its sentence or above "
        "it; read: it is part of the sentence",
    )

    @property
    def step_table(self) -> TableSchema:  # type: ignore[override]
        """The table of reading steps; with a critical region, also the position relative to it."""
        table = self.measured_steps
        return table.with_columns((RELATIVE_REGION,)) if self.critical else table

    # What the screen shows.

    def unbroken_words(self, item: Item) -> Iterator[str]:
        """Yield the words of every version that may be shown."""
        for version in self.versions(item):
            for step in self.steps(item, version):
                yield from step.text.split()

    @property
    @abstractmethod
    def unit(self) -> StepUnit:
        """The unit of a step: a word, a region or the whole sentence."""

    @abstractmethod
    def plan(self, item: Item, version: str) -> str:
        """Return a version's plan (how it is read) as one word, the same for all participants."""

    def question(self, item: Item) -> Question | None:
        """Return the question that follows an item, or None.

        Raises:
            StudyError: The item does not name the right answer.
        """
        return question_of(item)

    def steps(self, item: Item, version: str) -> tuple[Step, ...]:
        """Return the steps in which a version is read.

        Raises:
            StudyError: The version cannot be divided.
        """
        return divide_into_steps(item, version, self.unit, self.context)

    def regions(self, item: Item, version: str) -> Regions:
        """Return the regions of a version, and which of them is critical.

        Raises:
            StudyError: The version cannot be divided, or its critical region is not found.
        """
        steps = self.steps(item, version)
        if self.unit == "sentence":
            return regions_of(item, version, steps, "", 0)
        n_context = context_regions(item, steps) if self.critical and self.context == "read" else 0
        return regions_of(item, version, steps, self.critical, n_context)

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's versions that may be shown, the good one first.

        Raises:
            StudyError: A version cannot be read step by step, or the question has no right answer.
        """
        self.question(item)
        versions = super().versions(item)
        for version in versions:
            self.regions(item, version)
        return versions

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version with its plan, and the side of the right answer to its question."""
        question, version = self.question(item), options[0]
        parts = (version, self.plan(item, version), *((QUESTION_MARK,) if question else ()))
        return Arrangement(question.right if question else None, parts)

    def practice_arrangement(self, item: Item, good_side: Side) -> Arrangement:
        """Return the good version, which every practice trial shows."""
        return self.arrangement(item, (Variant.GOOD,))

    def show_options(self, item: Item, options: Sequence[str], render: Render) -> Shown:
        """Return the shown version, and the values that the page needs to show its steps."""
        version = options[0]
        text = render(sentence_of(item, version, self.context))
        steps = self.steps(item, version)
        texts = split_rendered_text(item, steps, text)
        plan = options[1] if len(options) > 1 else self.plan(item, version)
        besides = self.page(item, version, texts, plan) | _question_fields(self.question(item))
        if self.context == "read" or not item.context:
            return Shown(text, besides=besides)
        context = render(item.context)
        return Shown(join_context(context, text), besides=besides | {"context": context})

    @abstractmethod
    def page(self, item: Item, version: str, texts: Sequence[str], plan: str) -> dict[str, object]:
        """Return the values that the page's script needs to show a version.

        Args:
            item: The item.
            version: The version.
            texts: The steps' texts as the screen shows them.
            plan: The plan: how the version is read.
        """

    # How the server reads and checks an answer.

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether the steps match the trial, and a question that was asked has an answer."""
        if answer.rating is not None or answer.steps is None or not answer.steps.is_whole:
            return False
        _, plan, *question = (options or " ").split(" ")
        expected_sides = PAIR if question and self.is_finished(answer.steps, plan) else (None,)
        return answer.side in expected_sides and self.fits(answer.steps, plan)

    def time_outside_rt_ms(self, answer: GivenAnswer) -> float | None:
        """Return the wait before the first step and the time of the question or scale.

        None for answers from pages that did not measure the wait.
        """
        if answer.steps is None:
            return None
        wait_ms, question_ms = self.wait_ms(answer.steps), answer.steps.question_ms
        is_asked = answer.side is not None or answer.rating is not None
        if wait_ms is None or (is_asked and question_ms is None):
            return None
        return wait_ms + (question_ms or 0.0)

    def wait_ms(self, steps: Steps) -> float | None:
        """Return how long the page waited before the first step and after the last."""
        return steps.wait_ms

    @abstractmethod
    def fits(self, steps: Steps, plan: str) -> bool:
        """Return whether the steps are possible for a trial with this plan."""

    def is_finished(self, steps: Steps, plan: str) -> bool:
        """Return whether the sentence was read to its end, so that its question was shown."""
        return True

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the steps, and whether the question was answered correctly."""
        is_question_answered = answer.side is not None and arrangement.good_side is not None
        return ScoredAnswer(
            chose_good=answer.side == arrangement.good_side if is_question_answered else None,
            chosen_side=answer.side,
            version=arrangement.options[0],
            answer=str(answer.side or "no question"),
            steps=answer.steps,
        )

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return evenly timed steps and the right answer."""
        steps = self.steady(arrangement.options[1] if len(arrangement.options) > 1 else "2")
        return GivenAnswer(side=arrangement.good_side, steps=steps)

    @abstractmethod
    def steady(self, plan: str) -> Steps:
        """Return error-free steps of equal duration."""

    # What the export contains.

    @property
    def completes_rows(self) -> bool:
        """Always true: the chosen version and the time at the question come from stored values."""
        return True

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the columns that are derived from its steps."""
        steps = row.pop("steps", None)
        assert isinstance(steps, Steps | None)
        return row | {
            "version": str(row["version"]).split(" ", 1)[0],
            "question_rt_ms": steps.question_ms if steps else None,
            "n_steps": len(steps.onset_ms) if steps else 0,
        }

    def step_rows(
        self, item: Item, arrangement: Arrangement, answer: GivenAnswer
    ) -> Iterator[dict[str, object]]:
        """Yield one row for each step that was read."""
        version, measured = arrangement.options[0], answer.steps
        if measured is None:
            return
        regions = self.regions(item, version) if self.critical else None
        for index, step in enumerate(self.steps(item, version)[: len(measured.onset_ms)]):
            yield {
                "step": index + 1,
                "version": version,
                "region": step.region,
                **({RELATIVE_REGION.name: regions.relative(step.region)} if regions else {}),
                "text": step.text,
                "rt_ms": measured.rt_ms[index],
                "onset_ms": measured.onset_ms[index],
                "onset_source": _SOURCES.get(measured.sources[index], ""),
                "onset_uncertainty_ms": measured.uncertainty_ms[index],
                **self.step_columns(item, arrangement, measured, index),
            }

    def step_columns(
        self, item: Item, arrangement: Arrangement, steps: Steps, index: int
    ) -> Mapping[str, object]:
        """Return a step's further columns of the table of steps."""
        return {}

    # How items are checked.

    def flaws(self, items: Sequence[Item]) -> Iterator[tuple[Item, StudyError]]:
        """Yield constructions whose conditions have regions that do not correspond."""
        if self.critical and items and not any(self.critical in dict(i.extra) for i in items):
            yield (
                items[0],
                StudyError(
                    f'no item has the column "{self.critical}", which names the critical region',
                    expected="critical = a column of the items: "
                    + ", ".join(name for name, _ in items[0].extra),
                ),
            )
            return
        targets = [item for item in items if item.kind is Kind.TARGET]
        yield from find_misaligned(self, targets, self.critical)

    def compared_regions(self, items: Sequence[Item]) -> tuple[int, ...]:
        """Return the critical region and the next one, if every item names a critical region."""
        critical_regions = (self.regions(item, Variant.GOOD).critical for item in items)
        return (0, 1) if self.critical and all(critical_regions) else ()

    # How answers are simulated.

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return a simulated reader's times, and their answer to the question."""
        version = Variant.GOOD if options[0] == known.good else str(known.item.contrast)
        steps = self.simulate_steps(responder, known, version, rng)
        question = self.question(known.item)
        if question is None or not self.is_finished(steps, self.plan(known.item, version)):
            return GivenAnswer(steps=steps)
        side = responder.choose(known.item.kind, question.right, known.accuracy, rng)
        return GivenAnswer(side, steps=add_question_time(steps, rng))

    @abstractmethod
    def simulate_steps(
        self, responder: Responder, known: Known, version: str, rng: random.Random
    ) -> Steps:
        """Return the steps of a simulated reader."""

    def word_ms(self, word: str, rng: random.Random, times: float = 1) -> float:
        """Return a simulated reader's time for a word, in milliseconds.

        Args:
            word: The word.
            rng: The random generator.
            times: A factor on the time for reading the word alone.
        """
        median = self.limit_time(times * (_WORD_MS + _LETTER_MS * len(word)))
        return min(round(rng.lognormvariate(math.log(median), _SPREAD), 1), _MS_A_DAY)

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return the total reading time, and the answer to the question."""
        total = answer.steps.total_ms if answer.steps else None
        read = "" if total is None else f"read in {total / 1000:.1f} s"
        return ", ".join(filter(None, [read, str(answer.side or "")]))

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return "a trial shows one of the texts, step by step"


_SOURCES = {"p": "presentation", "f": "frames"}


def add_question_time(steps: Steps, rng: random.Random) -> Steps:
    """Return a simulated reader's steps with a response time for the question or scale."""
    return replace(steps, question_ms=round(rng.lognormvariate(7.4, 0.4), 1))


def _question_fields(question: Question | None) -> dict[str, object]:
    if question is None:
        return {}
    places = [str(side) for side in SIDES[: len(PAIR)]]
    return {"question": question.text, "answers": dict(zip(places, question.answers, strict=False))}
