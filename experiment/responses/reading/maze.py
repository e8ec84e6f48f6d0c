"""The Maze task: at each word the reader chooses which of two words continues the sentence.

Forster, K. I., Guerrera, C. & Elliot, L. (2009). The maze task: Measuring forced incremental
sentence processing time. Behavior Research Methods, 41(1).
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from experiment.records import Item, Side, Steps, Variant
from experiment.responses.base import Arrangement, Known
from experiment.responses.reading.alignment import proposed_alignment
from experiment.responses.reading.division import Questioned, StepUnit, flaw, sentence_of
from experiment.responses.reading.reading import READ_COLUMNS, Read
from experiment.responses.responders import Responder
from experiment.seeds import generator
from experiment.tables.column import Column, TableSchema
from experiment.tables.observation_tables import READINGS, STEP_KEYS, STEP_TIMES

# The conventional placeholder shown next to the first word.
NO_WORD = "x-x-x"
LEFT, RIGHT = "l", "r"
_SIDES = {LEFT: "left", RIGHT: "right"}
_OTHER_SIDE = {LEFT: RIGHT, RIGHT: LEFT}
_LONGEST_RUN = 3
# The error rate per word: a participant who answers nine of ten sentences correctly chooses most
# words correctly.
_ERRORS_A_WORD = 0.2
_MARKS = ".,;:!?…。、،؟"


# The table of each word's choice against its distractor.
_WORDS_TABLE = TableSchema(
    READINGS.name,
    "The Maze: one row per word that was chosen. Exported where trials are a Maze.",
    READINGS.primary_key,
    (
        *STEP_KEYS,
        Column("distractor", "string", "the word that stood beside it"),
        Column("side", "string", "where the right word stood", values=("left", "right")),
        Column("correct", "boolean", "whether the right word was chosen first"),
        Column("n_wrong", "integer", "how often the distractor was chosen", unit="press"),
        Column(
            "done_ms",
            "number",
            "from the painting to the choice of the right word; empty where the sentence ended",
            unit="ms",
            optional=True,
        ),
        *STEP_TIMES,
    ),
)


class Maze(Questioned, Read):
    """Shows each word of a version next to a distractor that does not continue the sentence."""

    name: ClassVar[str] = "maze"
    family: ClassVar[str] = "maze"
    measures: ClassVar[tuple[str, ...]] = ("log_rt", "accuracy")
    template: ClassVar[str] = "reading/maze.html"
    columns: ClassVar[tuple[Column, ...]] = (
        *READ_COLUMNS,
        Column("n_wrong", "integer", "how many words were chosen wrongly first", unit="word"),
        Column("is_finished", "boolean", "whether the sentence was read to its end"),
    )
    measured_steps: ClassVar[TableSchema] = _WORDS_TABLE
    # Half a line, measured with the page's own style: the two words are shown side by side.
    letters_in_place: ClassVar[int | None] = 13
    log_rt_sds: ClassVar[tuple[float, ...]] = (0.17, 0.06, 0.10, 0.09, 0.29)
    default_keys: ClassVar[tuple[str, ...]] = ("f", "j")
    typical_rt_ms: ClassVar[float] = 9000.0
    asked: ClassVar[str] = "maze"
    instructions: ClassVar[str] = "instructions_maze"
    comments: ClassVar[Mapping[str, str]] = {
        "on_error": "or end: the sentence ends; delay: a pause before one may choose again",
    }

    on_error: Literal["end", "correct", "delay"] = Field(
        default="correct",
        description="what a wrong choice does: end the sentence; correct: it must be corrected; "
        "delay: it must be, after a pause",
    )
    delay_ms: int = Field(
        default=1000,
        ge=0,
        le=10_000,
        description="how long the message stays after a wrong choice that ends, or the pause",
    )
    punctuation: bool = Field(
        default=True,
        description="whether a distractor is shown with the punctuation of its word",
    )

    @property
    def unit(self) -> StepUnit:
        """The unit of a step: a word."""
        return "word"

    def distractors(self, item: Item, version: str) -> tuple[str, ...]:
        """Return the distractor of each word of a version, with its punctuation.

        Raises:
            StudyError: A word has no distractor, or is its own distractor.
        """
        columns = dict(item.extra)
        text = columns.get(f"{version}_distractors", "")
        if not text and version == Variant.GOOD:
            text = columns.get("distractors", "")
        words = [step.text for step in self.steps(item, version)]
        distractors = text.split()
        if len(distractors) != len(words):
            raise flaw(
                item,
                _describe_counts(words, distractors, sentence_of(item, version, self.context)),
                f'one for each word in the column "{version}_distractors", divided by spaces; '
                f"{NO_WORD} for the first",
                "`parallax maze distractors` makes them",
            )
        same = [
            w
            for w, d in zip(words, distractors, strict=True)
            if _strip_punctuation(w) == _strip_punctuation(d)
        ]
        if same:
            raise flaw(
                item,
                f'the distractor of the word "{same[0]}" is the word itself',
                "another word",
            )
        if self.punctuation:
            distractors = [_copy_punctuation(d, w) for d, w in zip(distractors, words, strict=True)]
        return tuple(distractors)

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's versions that may be shown, the good one first.

        Raises:
            StudyError: A word has no distractor.
        """
        versions = super().versions(item)
        for version in versions:
            self.distractors(item, version)
        return versions

    def plan(self, item: Item, version: str) -> str:
        """Return the default side of each right word, for use outside a participant's session."""
        return draw_sides(
            len(self.steps(item, version)), generator(0, "maze sides", item.item_id, version)
        )

    def drawn(
        self,
        item: Item,
        arranged: Arrangement,
        draw: Callable[[], random.Random],
        *,
        mirrored: bool,
    ) -> Arrangement:
        """Return the sides of a participant's words; over two places each word is on both sides.

        Args:
            item: The item.
            arranged: The item's version and plan.
            draw: Returns the random generator, the same for two neighbouring places.
            mirrored: Whether the place is the second of the two, which gets the opposite sides.
        """
        version, plan, *question = arranged.options
        drawn = draw_sides(len(plan), draw())
        if mirrored:
            drawn = "".join(_OTHER_SIDE[side] for side in drawn)
        return replace(arranged, options=(version, drawn, *question))

    def page(self, item: Item, version: str, texts: Sequence[str], plan: str) -> dict[str, object]:
        """Return each word with its distractor, and the side of the right word.

        The page needs the right side because it reports a wrong choice at once.
        """
        distractors = self.distractors(item, version)
        if self.punctuation and texts[-1] != self.steps(item, version)[-1].text:
            distractors = (*distractors[:-1], _copy_punctuation(distractors[-1], texts[-1]))
        first = texts[0][:1].isupper()
        begun = (
            distractors[0] if distractors[0] == NO_WORD else _match_capital(distractors[0], first)
        )
        return {
            "steps": list(texts),
            "distractors": [begun, *distractors[1:]],
            "right": plan,
        }

    def fits(self, steps: Steps, plan: str) -> bool:
        """Return whether each word was chosen, or a wrong choice ended the sentence if it may."""
        n = len(steps.onset_ms)
        if len(steps.wrong) != n or not 0 < n <= len(plan):
            return False
        if self.on_error != "end":
            return n == len(plan)
        return not any(steps.wrong[:-1]) and (n == len(plan) or bool(steps.wrong[-1]))

    def is_finished(self, steps: Steps, plan: str) -> bool:
        """Return whether the sentence was read to its end, without an error that ended it."""
        is_complete = len(steps.onset_ms) == len(plan)
        return is_complete and (self.on_error != "end" or not any(steps.wrong))

    def wait_ms(self, steps: Steps) -> float:
        """Return the time of the message after a wrong choice that ended the sentence, else 0."""
        ended = self.on_error == "end" and any(steps.wrong)
        return float(self.delay_ms) if ended else 0.0

    def steady(self, plan: str) -> Steps:
        """Return steps of 800 ms each, all chosen correctly."""
        n = len(plan)
        times = (800.0,) * n
        onsets = tuple(800.0 * k for k in range(n))
        return Steps(onsets, times, "p" * n, (4.0,) * n, (0,) * n, times)

    def simulate_steps(
        self, responder: Responder, known: Known, version: str, rng: random.Random
    ) -> Steps:
        """Return mostly correct choices, with times that grow with word length."""
        accuracy = 1 - (1 - known.accuracy) * _ERRORS_A_WORD
        onsets, times, wrong, done = [0.0], [], [], []
        for step in self.steps(known.item, version):
            chosen = responder.choose(known.item.kind, Side.FIRST, accuracy, rng)
            times.append(self.word_ms(step.text, rng, 2))
            wrong.append(int(chosen is not Side.FIRST))
            ended = bool(wrong[-1]) and self.on_error == "end"
            second_attempt_ms = 600.0 + (self.delay_ms if self.on_error == "delay" else 0)
            done.append(None if ended else times[-1] + wrong[-1] * second_attempt_ms)
            if ended:
                break
            onsets.append(round(onsets[-1] + (done[-1] or 0.0), 1))
        n = len(times)
        return Steps(
            tuple(onsets[:n]), tuple(times), "p" * n, (4.0,) * n, tuple(wrong), tuple(done)
        )

    def find_imbalances(self, arrangements: Sequence[Arrangement]) -> Iterator[str]:
        """Yield trials whose right words favour one side, or repeat a side four times in a row."""
        for number, arranged in enumerate(arrangements, start=1):
            plan = arranged.options[1]
            lefts = plan.count(LEFT)
            runs = any(side * (_LONGEST_RUN + 1) in plan for side in _SIDES)
            if lefts not in (len(plan) // 2, len(plan) - len(plan) // 2) or runs:
                yield f"trial {number}: {plan}"

    # What the export contains.

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the number of words chosen wrongly."""
        steps = row.get("steps")
        plan = f"{row['version']} ".split(" ")[1]
        assert isinstance(steps, Steps | None)
        return super().derive_columns(row) | {
            "n_wrong": sum(map(bool, steps.wrong)) if steps else 0,
            "is_finished": steps is not None and self.is_finished(steps, plan),
        }

    def step_columns(
        self, item: Item, arrangement: Arrangement, steps: Steps, index: int
    ) -> Mapping[str, object]:
        """Return a step's distractor, the side of the right word, and the choice."""
        return {
            "distractor": self.distractors(item, arrangement.options[0])[index],
            "side": _SIDES[arrangement.options[1][index]],
            "correct": steps.wrong[index] == 0,
            "n_wrong": steps.wrong[index],
            "done_ms": steps.done_ms[index],
        }

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether the items have distractors."""
        columns = dict(items[0].extra).keys()
        return bool(columns & {"distractors", "good_distractors"})

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return parameters with which errors must be corrected."""
        parameters = {"on_error": "correct", **proposed_alignment(items)}
        return parameters, "Each sentence is a Maze: word by word, errors corrected."


def draw_sides(n: int, rng: random.Random) -> str:
    """Return the side of each of n right words: half per side, no side four times in a row."""
    n_left = n // 2 + (rng.choice((0, 1)) if n % 2 else 0)
    drawn = ""
    while len(drawn) < n:
        remaining = {LEFT: n_left - drawn.count(LEFT), RIGHT: n - n_left - drawn.count(RIGHT)}
        for side in (LEFT, RIGHT):
            if drawn.endswith(side * _LONGEST_RUN):
                remaining[side] = 0
        if not any(remaining.values()):
            # Only a run on one side could complete the sequence: start again from the beginning.
            drawn = ""
            continue
        drawn += rng.choices((LEFT, RIGHT), (remaining[LEFT], remaining[RIGHT]))[0]
    return drawn


def _describe_counts(words: Sequence[str], distractors: Sequence[str], text: str) -> str:
    if not distractors:
        return f'no word of "{text}" has a distractor'
    if len(distractors) < len(words):
        return f'the word "{words[len(distractors)]}" of "{text}" has no distractor'
    return f'"{text}" has {len(words)} words and {len(distractors)} distractors'


def _strip_punctuation(word: str) -> str:
    return word.strip(_MARKS).casefold()


def _copy_punctuation(distractor: str, word: str) -> str:
    """Return a distractor with the final punctuation of the word next to it."""
    if distractor == NO_WORD:
        return distractor
    stem = word.rstrip(_MARKS)
    return distractor.rstrip(_MARKS) + word[len(stem) :]


def _match_capital(distractor: str, capital: bool) -> str:
    return f"{distractor[:1].upper()}{distractor[1:]}" if capital else distractor
