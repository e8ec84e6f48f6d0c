"""A yes/no judgment of one sentence, and the score of a word test."""

import random
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import ClassVar

from pydantic import Field

from experiment.errors import StudyError
from experiment.materials.formats.words import BAD_WORDS, GOOD_WORDS, NAMES, key_of
from experiment.records import PAIR, Item, Side, Variant
from experiment.responses.answer import CHOICE
from experiment.responses.base import Arrangement, GivenAnswer, Gives, Known, ScoredAnswer
from experiment.responses.one_version import OneVersion
from experiment.responses.responders import Responder
from experiment.tables.column import Column
from experiment.tables.schemas import MEASURED_COLUMNS, OPTIONS_COLUMN

YES, NO = PAIR
_SIDE_WORDS = {YES: "yes", NO: "no"}
# If no answer is expected, simulated participants say yes half of the time.
_YES_WITHOUT_EXPECTED = 0.5


class YesNo(OneVersion):
    """Shows one version of an item and asks whether it is acceptable.

    If an item has two versions, the good one is acceptable and the other is not. If an item has a
    single version, one of the study's own columns may give the expected answer.
    """

    name: ClassVar[str] = "yes_no"
    family: ClassVar[str] = "yes_no"
    measures: ClassVar[tuple[str, ...]] = ("yes", "accuracy", "d_prime")
    template: ClassVar[str] = "yes_no/yes_no.html"
    script: ClassVar[str] = "yes_no/yes_no.js"
    gives: ClassVar[frozenset[Gives]] = CHOICE
    typical_rt_ms: ClassVar[float] = 2500.0
    asked: ClassVar[str] = "yes_no"
    instructions: ClassVar[str] = "instructions_yes_no"
    comments: ClassVar[Mapping[str, str]] = {
        "expected": "your column that says which single sentences are acceptable",
    }
    columns: ClassVar[tuple[Column, ...]] = (
        Column("chosen_side", "string", "first for yes, second for no", values=PAIR),
        Column(
            "chose_good",
            "boolean",
            "whether the answer was the expected one; empty where none is expected",
            optional=True,
        ),
        Column("version", "string", "the version that was judged"),
        Column("said_yes", "boolean", "whether the sentence was judged acceptable"),
        *MEASURED_COLUMNS,
    )
    trial_columns: ClassVar[tuple[Column, ...]] = (
        Column(
            "good_side",
            "string",
            "the expected answer: first for yes, second for no; empty where none is expected",
            optional=True,
            values=PAIR,
        ),
        OPTIONS_COLUMN,
    )

    yes: str = Field(default="", description="what the button for yes says; empty for Yes")
    no: str = Field(default="", description="what the button for no says; empty for No")
    expected: str = Field(
        default="",
        description="your own column that says whether a single sentence is acceptable",
    )
    score: str = Field(
        default="",
        pattern=r"^([a-z][a-z0-9_]*)?$",
        description="the name of each participant's score in the export; empty for none",
    )

    @property
    def score_columns(self) -> tuple[Column, ...]:
        """The score of a word test, if the study names one."""
        return (make_score_column(self.score),) if self.score else ()

    def expected_side(self, item: Item, version: str) -> Side | None:
        """Return the expected answer to a version of an item; None if no answer is expected.

        Raises:
            StudyError: The item's own column contains neither yes nor no.
        """
        if item.alternative:
            return YES if version == Variant.GOOD else NO
        expected = dict(item.extra).get(self.expected, "").strip()
        if not expected:
            return None
        if expected.lower() not in GOOD_WORDS | BAD_WORDS:
            raise StudyError(
                f'the column "{self.expected}" of the item "{item.item_id}" says "{expected}"',
                where="response yes_no",
                expected="yes or no, 1 or 0, good or bad, or nothing where no answer is expected",
            )
        return YES if expected.lower() in GOOD_WORDS else NO

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's versions that may be shown, the good one first.

        Raises:
            StudyError: The item's own column contains neither yes nor no.
        """
        self.expected_side(item, Variant.GOOD)
        return super().versions(item)

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version, with the side of its expected answer."""
        return Arrangement(self.expected_side(item, options[0]), options)

    def n_offered(self, options: str | None) -> int:
        """Return 2: every trial offers both answers."""
        return len(PAIR)

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the judgment, which is right or wrong only if an answer is expected."""
        side = answer.side or NO
        return ScoredAnswer(
            chose_good=None if arrangement.good_side is None else side == arrangement.good_side,
            chosen_side=side,
            version=arrangement.options[0],
            answer=_SIDE_WORDS[side],
        )

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return the expected answer, or yes if none is expected."""
        return GivenAnswer(side=arrangement.good_side or YES)

    @property
    def completes_rows(self) -> bool:
        """True: the column ``said_yes`` is derived from the side."""
        return True

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the column ``said_yes``."""
        return row | {"said_yes": row["chosen_side"] == YES}

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return a simulated participant's answer, correct with the item's accuracy.

        Args:
            responder: The simulated participant's way of answering.
            known: What the participant knows about the item.
            options: The text on the screen.
            rng: The random generator.
        """
        version = Variant.GOOD if options[0] == known.good else known.item.contrast
        side = self.expected_side(known.item, version)
        accuracy = _YES_WITHOUT_EXPECTED if side is None else known.accuracy
        return GivenAnswer(side=responder.choose(known.item.kind, side or YES, accuracy, rng))

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the column with the expected answers to single sentences, if there is one."""
        note = "Each sentence is judged acceptable or not."
        for header, _ in items[0].extra:
            answers = {dict(item.extra).get(header, "").strip().lower() for item in items} - {""}
            if key_of(header) in NAMES["version"] and answers and answers <= GOOD_WORDS | BAD_WORDS:
                return {"expected": header}, f'{note} The column "{header}" says what is expected.'
        return {}, note

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return yes or no."""
        return _SIDE_WORDS[answer.side or NO]

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return "a trial shows one of the texts, and asks whether it is acceptable"


def score_words(answers: Iterable[tuple[Side, bool]]) -> float | None:
    """Return a word test's score, from 0 to 100; None if there are no words or no nonwords.

    The formula is that of LexTALE (Lemhöfer & Broersma, 2012, Behavior Research Methods 44,
    325-343, doi:10.3758/s13428-011-0146-0): the mean of the percentage of words that are accepted
    and the percentage of nonwords that are rejected. Somebody who always gives the same answer gets
    50, whatever the share of words.

    Args:
        answers: The expected answer to each string (the first side is yes), and whether it was
            given.
    """
    given: dict[Side, list[bool]] = {side: [] for side in PAIR}
    for expected, right in answers:
        given[expected].append(right)
    if not all(given.values()):
        return None
    return fmean(100 * fmean(right) for right in given.values())


def make_score_column(name: str) -> Column:
    """Return the column of participants for a score with this name."""
    return Column(
        name,
        "number",
        "the score of a yes/no word test: the mean of the percentage of the trials with the "
        "expected answer yes that are right, and of those with the expected answer no (Lemhöfer & "
        "Broersma 2012)",
        unit="%",
        optional=True,
        absent="",
    )
