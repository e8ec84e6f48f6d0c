"""Self-paced reading of a sentence, followed by a rating after the sentence has disappeared."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, cast

from experiment.records import Item, Side, Variant
from experiment.responses.base import Arrangement, GivenAnswer, Gives, Known, ScoredAnswer
from experiment.responses.proposals import CatchTrials
from experiment.responses.rating.rating import SCALE_COMMENTS, Points, propose_rating_rules
from experiment.responses.reading.division import Question
from experiment.responses.reading.reading import PLAN_COLUMN, WHOLE_MS_COLUMN, add_question_time
from experiment.responses.reading.self_paced import Paced
from experiment.responses.responders import Rater, Responder
from experiment.tables.column import Column
from experiment.tables.schemas import RATED_SIDE_COLUMN, RATING_COLUMNS

_TIME_COLUMNS = (
    WHOLE_MS_COLUMN,
    Column(
        "rating_rt_ms",
        "number",
        "from the painting of the scale to the rating",
        unit="ms",
        optional=True,
    ),
    Column("n_steps", "integer", "how many words or regions were read", unit="step"),
)


class ReadThenRate(Points, Paced):
    """Shows a version step by step, or as a whole, and then a scale instead."""

    name: ClassVar[str] = "read_then_rate"
    family: ClassVar[str] = "read_then_rate"
    measures: ClassVar[tuple[str, ...]] = ("rating", "log_rt")
    template: ClassVar[str] = "reading/read_then_rate.html"
    columns: ClassVar[tuple[Column, ...]] = (
        *(column for column in RATING_COLUMNS if column.name != "rt_ms"),
        *_TIME_COLUMNS,
    )
    trial_columns: ClassVar[tuple[Column, ...]] = (RATED_SIDE_COLUMN, PLAN_COLUMN)
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.POINT, Gives.WHOLE_TIME})
    responder_method: ClassVar[str] = "rate"
    asked: ClassVar[str] = "rating"
    instructions: ClassVar[str] = "instructions_read_then_rate"
    comments: ClassVar[Mapping[str, str]] = {
        **Paced.comments,
        "by": "what one press shows: word, region or sentence",
        **SCALE_COMMENTS,
    }

    def question(self, item: Item) -> Question | None:
        """Return None: this type asks for a rating instead of a question."""
        return None

    @property
    def n_answers(self) -> int:
        """The number of answers: the scale's points."""
        return self.points

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version with its plan and scale; only a good version has a side."""
        side = Side.FIRST if options[0] == Variant.GOOD else None
        return replace(super().arrangement(item, options), good_side=side, points=self.points)

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether the steps match the trial and the rating is a point of the scale."""
        if answer.side is not None or answer.steps is None or not answer.steps.is_whole:
            return False
        _, _, plan = (options or " ").partition(" ")
        return answer.rating in range(1, self.points + 1) and self.fits(answer.steps, plan)

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the chosen point and the steps; no rating is right or wrong."""
        return ScoredAnswer(
            rating=answer.rating,
            version=arrangement.options[0],
            answer=f"point {answer.rating} of the scale",
            steps=answer.steps,
        )

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return evenly timed steps, with the highest point for a good version, else the lowest."""
        answer = super().correct_answer(arrangement)
        return replace(answer, side=None, rating=self.points if arrangement.good_side else 1)

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the columns that are derived from its steps."""
        done = super().derive_columns(row)
        return done | {"rating_rt_ms": done.pop("question_rt_ms")}

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return the reading times and the rating of a simulated participant."""
        is_good = options[0] == known.good
        version = Variant.GOOD if is_good else str(known.item.contrast)
        steps = add_question_time(self.simulate_steps(responder, known, version, rng), rng)
        rater = cast(Rater, responder)
        point = rater.rate(known.item.kind, self.points, is_good, known.accuracy, rng)
        return GivenAnswer(rating=point, steps=steps)

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return False: a table cannot indicate that sentences disappear before the rating."""
        return False

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the parameters of the reading and of the scale."""
        reading, _ = super().propose_parameters(items, against, ends)
        scale = cls.proposed_scale(items, ends)
        return (
            {**reading, **scale},
            f"Each sentence is read {reading['by']} by {reading['by']} and then rated on a scale "
            f"of {scale['points']} points.",
        )

    def proposed_rules(self, catch: Sequence[CatchTrials]) -> Iterator[str]:
        """Yield a rule for the catch trials that have two versions, or an example of a rule."""
        yield from propose_rating_rules(catch)

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return the total reading time and the chosen point."""
        read = super().describe_answer(arrangement, answer)
        return ", ".join(filter(None, [read, f"{answer.rating} of {arrangement.points}"]))

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return f"a trial shows one of the texts, and then a scale from 1 to {self.points}"
