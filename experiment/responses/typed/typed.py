"""A typed answer: the word for a gap in a sentence, or what comes to mind after a prompt."""

import random
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, Self
from urllib.parse import quote, unquote

from pydantic import Field, ValidationError, model_validator

from experiment.coding.normalise import normalise
from experiment.errors import StudyError
from experiment.materials.formats.columns import key_of
from experiment.records import Item, Side, Variant
from experiment.responses.base import (
    Arrangement,
    GivenAnswer,
    Gives,
    Known,
    Render,
    ScoredAnswer,
    Shown,
)
from experiment.responses.one_version import OneVersion
from experiment.responses.responders import Responder
from experiment.responses.typed.text import (
    LONGEST_TEXT,
    RIGHT,
    TYPED_COLUMNS,
    TYPED_STORED,
    TYPED_TRIAL_COLUMNS,
    WRONG,
    TypedText,
)
from experiment.seeds import generator
from experiment.tables.column import Column

GAP = re.compile("_{3,}")
ANSWER_SEPARATOR = "|"
MOST_ACCEPTED = 100
NO_ANSWER = "no answer"
# A screen never shows them where they stand: they turn the text around them.
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# What simulated participants type where no answer is accepted; the first word of a frame's own
# order is typed most often, the second half as often, the third a third as often, and so on.
_SIMULATED_WORDS = (
    "house", "water", "book", "friend", "street", "morning", "garden", "letter", "music", "table",
)  # fmt: skip


class Typed(OneVersion):
    """Shows one version of an item and asks for a typed text.

    A text with three or more underscores is a sentence with a gap there; any other is a prompt. A
    stored trial has the version and the accepted answers, if there are any.
    """

    name: ClassVar[str] = "typed"
    family: ClassVar[str] = "typed"
    template: ClassVar[str] = "typed/typed.html"
    script: ClassVar[str] = "typed/typed.js"
    details: ClassVar[Mapping[str, str]] = dict.fromkeys(TypedText.model_fields, TYPED_STORED)
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.RIGHT, Gives.WHOLE_TIME})
    typical_rt_ms: ClassVar[float] = 6000.0
    asked: ClassVar[str] = "typed"
    instructions: ClassVar[str] = "instructions_typed"
    comments: ClassVar[Mapping[str, str]] = {
        "accepted": "your column with the right answers, where there are any",
    }
    columns: ClassVar[tuple[Column, ...]] = TYPED_COLUMNS
    trial_columns: ClassVar[tuple[Column, ...]] = TYPED_TRIAL_COLUMNS

    words: Literal["one", "many"] = Field(
        default="one", description="whether an answer is one word or may be many"
    )
    min_length: int = Field(
        default=1, ge=1, le=LONGEST_TEXT, description="the fewest characters of an answer"
    )
    max_length: int = Field(
        default=40, ge=1, le=LONGEST_TEXT, description="the most characters of an answer"
    )
    no_answer: bool = Field(
        default=True, description="whether participants may say that they cannot think of one"
    )
    accepted: str = Field(
        default="",
        description="your own column with the right answers of catch trials and practice, "
        f'separated by "{ANSWER_SEPARATOR}"',
    )

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(
                f"min_length is {self.min_length} and max_length {self.max_length}: no answer "
                "can have such a length"
            )
        return self

    def accepted_answers(self, item: Item) -> tuple[str, ...]:
        """Return the right answers to an item; none if every answer is as good as any other.

        Raises:
            StudyError: Nobody can type one of the answers.
        """
        cell = dict(item.extra).get(self.accepted, "")
        answers = [answer.strip() for answer in cell.split(ANSWER_SEPARATOR)]
        answers = [answer for answer in answers if answer]
        if len(answers) > MOST_ACCEPTED:
            # The server compares each of them with every answer.
            raise StudyError(
                f'the item "{item.item_id}" has {len(answers):,} accepted answers',
                where="response typed",
                expected=f"at most {MOST_ACCEPTED}",
                remedy="`parallax compare --variants` counts misspellings as the answers that you "
                "name",
            )
        for answer in answers:
            if not self.allows(answer):
                raise StudyError(
                    f'nobody can type the accepted answer "{answer}" of the item "{item.item_id}"',
                    where="response typed",
                    expected=f"{self.words} word{'s' * (self.words == 'many')} of "
                    f"{self.min_length} to {self.max_length} characters",
                )
        return tuple(answers)

    def allows(self, text: str) -> bool:
        """Return whether a text has an allowed length and only characters that people type."""
        stripped_text = text.strip()
        if len(text) > self.max_length or len(stripped_text) < self.min_length:
            return False
        if self.words == "one" and len(stripped_text.split()) != 1:
            return False
        return not any(
            character in _DIRECTION_MARKS or unicodedata.category(character) in ("Cc", "Cs")
            for character in text
        )

    # What the screen shows.

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's versions that may be shown, the good one first.

        Raises:
            StudyError: A version has two gaps, or an accepted answer cannot be typed.
        """
        self.accepted_answers(item)
        versions = super().versions(item)
        for version in versions:
            n_gaps = len(GAP.findall(item.after_context(item.version(version))))
            if n_gaps > 1:
                raise StudyError(
                    f'the version {version} of the item "{item.item_id}" has {n_gaps} gaps',
                    where="response typed",
                    expected="one gap (___), or none for a prompt",
                    remedy="Make an item of each gap",
                )
        return versions

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version with its accepted answers, encoded so that none has a space."""
        accepted = tuple(quote(answer, safe="") for answer in self.accepted_answers(item))
        return Arrangement(RIGHT if accepted else None, (options[0], *accepted))

    def practice_arrangement(self, item: Item, good_side: Side) -> Arrangement:
        """Return the good version, which every practice trial shows."""
        return self.arrangement(item, (Variant.GOOD,))

    def show_options(self, item: Item, options: Sequence[str], render: Render) -> Shown:
        """Return the shown version: the text, and its parts before and after the gap."""
        text = render(item.after_context(item.version(options[0])))
        gap = GAP.search(text)
        if gap is None:
            return Shown(text, besides={"before": text, "after": "", "gap": ""})
        besides = {"before": text[: gap.start()], "after": text[gap.end() :], "gap": gap[0]}
        return Shown(text, besides=besides)

    # How the server reads and checks an answer.

    @property
    def n_answers(self) -> int:
        """0: nothing is offered to choose from."""
        return 0

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether the answer is an allowed text, or no answer if the study allows that."""
        if answer.side is not None or answer.rating is not None or answer.steps is not None:
            return False
        try:
            text = _read_typed(answer).text
        except ValidationError:
            return False
        return self.allows(text) if text else self.no_answer

    def settle(self, answer: GivenAnswer, options: str | None) -> GivenAnswer:
        """Return the answer with its side: the first if it is an accepted one, else the second."""
        accepted, typed = (options or "").split()[1:], _read_typed(answer)
        details = typed.model_dump(exclude_unset=True)
        return replace(answer, side=_find_side(typed.text, accepted), details=details)

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the answer, which is right or wrong only if one is expected."""
        text = _read_typed(answer).text
        side = _find_side(text, arrangement.options[1:])
        return ScoredAnswer(
            chose_good=None if side is None else side is RIGHT,
            chosen_side=side,
            version=arrangement.options[0],
            answer=normalise(text) or NO_ANSWER,
        )

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return the first accepted answer, or any text if none is expected."""
        accepted = [unquote(answer) for answer in arrangement.options[1:]]
        return GivenAnswer(details={"text": (accepted or ["x" * self.min_length])[0]})

    # What the export contains.

    @property
    def completes_rows(self) -> bool:
        """True: the text and its measurements are derived from the stored details."""
        return True

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the text and its measurements."""
        details = row.pop("details", None)
        typed = TypedText.model_validate(details)
        measured = typed.model_dump(exclude={"text"})
        return row | {
            "version": str(row["version"]).split(" ", 1)[0],
            "typed": typed.text or None,
            "no_answer": not typed.text,
            **measured,
        }

    # How items are checked.

    def flaws(self, items: Sequence[Item]) -> Iterator[tuple[Item, StudyError]]:
        """Yield that no item has the column of accepted answers."""
        if not self.accepted or not items:
            return
        own_columns = {name: None for item in items for name, _ in item.extra}
        if self.accepted not in own_columns:
            yield (
                items[0],
                StudyError(
                    f'no item has the column "{self.accepted}" of accepted answers',
                    expected="accepted = one of your own columns: "
                    + (", ".join(own_columns) or "there is none"),
                ),
            )

    # How answers are simulated and described.

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return an accepted answer with the item's accuracy, otherwise one of ten common words.

        Where no answer is accepted, each frame has its own order of these words, in which each is
        typed as often as the reciprocal of its place.
        """
        item = known.item
        accepted = self.accepted_answers(item)
        side = responder.choose(item.kind, RIGHT, known.accuracy, rng)
        if accepted and side is RIGHT:
            return GivenAnswer(details={"text": accepted[0]})
        words = [word for word in _SIMULATED_WORDS if self.allows(word)] or ["x" * self.min_length]
        generator(0, "typed words", item.construction, item.frame).shuffle(words)
        if side is not RIGHT and not accepted:
            text = "" if self.no_answer else rng.choice(words)
        else:
            weights = [1 / place for place in range(1, len(words) + 1)]
            [text] = rng.choices(words, weights)
        return GivenAnswer(details={"text": text})

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether every item has a gap and only one version."""
        return all(
            not item.alternative and GAP.search(item.after_context(item.good)) for item in items
        )

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the column of accepted answers, if there is one."""
        note = "Participants type one word for each gap."
        for header, _ in items[0].extra:
            if key_of(header) in _ACCEPTED_HEADERS:
                return {"accepted": header}, f'{note} The column "{header}" has the right answers.'
        return {}, note

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return the text as it was typed."""
        return _read_typed(answer).text or NO_ANSWER

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return "a trial shows one of the texts, and asks for what belongs into the gap"


_ACCEPTED_HEADERS = ("accepted", "accepted_answers", "accepted_answer", "right_answers")


def _read_typed(answer: GivenAnswer) -> TypedText:
    return TypedText.model_validate(answer.details)


def _find_side(text: str, accepted: Sequence[str]) -> Side | None:
    """Return the side of an answer; None where no answer is expected.

    Args:
        text: The answer as it was typed.
        accepted: The accepted answers, encoded as in a stored trial.
    """
    if not accepted:
        return None
    is_accepted = normalise(text) in {normalise(unquote(answer)) for answer in accepted}
    return RIGHT if is_accepted else WRONG
