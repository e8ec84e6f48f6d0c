"""A typed answer: the word for a gap in a sentence, or what comes to mind after a prompt."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationError, model_validator

from experiment.coding.normalise import normalise
from experiment.errors import StudyError
from experiment.materials.formats.words import key_of
from experiment.materials.render import PICTURE
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
from experiment.responses.typed.accepted import (
    ANSWER_SEPARATOR,
    MOST_ACCEPTED,
    OF_NEXT_GAP,
    decode,
    encode,
    find_side,
)
from experiment.responses.typed.simulated import WORDS, simulate_text
from experiment.responses.typed.text import (
    GAP_SEPARATOR,
    LONGEST_TEXT,
    MOST_GAPS,
    RIGHT,
    TYPED_STORED,
    TYPED_TRIAL_COLUMNS,
    TypedText,
    gap_values,
    has_typable_characters,
    list_columns,
)
from experiment.tables.column import Column

GAP = re.compile("_{3,}")
NO_ANSWER = "no answer"


class Typed(OneVersion):
    """Shows one version of an item and asks for a typed text.

    A text with three or more underscores is a sentence with a gap there; any other is a prompt. A
    stored trial has the version and the accepted answers, if there are any. The texts typed into
    several gaps are one answer, with a separator between them.
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
    has_context_above: ClassVar[bool] = True
    comments: ClassVar[Mapping[str, str]] = {
        "accepted": "your column with the right answers, where there are any",
    }
    trial_columns: ClassVar[tuple[Column, ...]] = TYPED_TRIAL_COLUMNS

    words: Literal["one", "many"] = Field(
        default="one", description="whether an answer is one word or may be many"
    )
    gaps: int = Field(default=1, ge=1, le=MOST_GAPS, description="the most gaps of a text")
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
        separators = (self.gaps - 1) * len(GAP_SEPARATOR)
        if self.gaps * self.max_length + separators > LONGEST_TEXT:
            raise ValueError(
                f"{self.gaps} gaps of {self.max_length} characters are more than {LONGEST_TEXT:,} "
                "characters: choose a smaller max_length"
            )
        return self

    @cached_property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """The columns of an answer, with the times and edits of each of several gaps."""
        return tuple(list_columns(self.gaps))

    def accepted_answers(self, item: Item) -> tuple[tuple[str, ...], ...]:
        """Return the right answers for each gap of an item; none if any answer is as good.

        A gap without right answers, of an item that has some for another gap, accepts any.

        Raises:
            StudyError: Nobody can type one of the answers.
        """
        cell = dict(item.extra).get(self.accepted, "")
        n_gaps = count_gaps(item, Variant.GOOD)
        cells = cell.split(OF_NEXT_GAP) if n_gaps > 1 else [cell]
        of_gaps = tuple(self._read_accepted(item, of_gap) for of_gap in cells)
        if not any(of_gaps):
            return ()
        if len(of_gaps) != max(n_gaps, 1):
            raise StudyError(
                f'the item "{item.item_id}" has {n_gaps} gaps, and accepted answers of '
                f"{len(of_gaps)}",
                where="response typed",
                expected=f'the answers of each gap, with "{OF_NEXT_GAP}" between the gaps',
            )
        return of_gaps

    def _read_accepted(self, item: Item, cell: str) -> tuple[str, ...]:
        """Return the right answers in a cell, or in the part of it that concerns one gap."""
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
        if self.gaps > 1 and GAP_SEPARATOR.strip() in text:
            return False
        return has_typable_characters(text)

    # What the screen shows.

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's versions that may be shown, the good one first.

        Raises:
            StudyError: A version has too many gaps, or an accepted answer cannot be typed.
        """
        self.accepted_answers(item)
        versions = super().versions(item)
        for version in versions:
            n_gaps = count_gaps(item, version)
            if n_gaps > self.gaps:
                raise StudyError(
                    f'the version {version} of the item "{item.item_id}" has {n_gaps} gaps',
                    where="response typed",
                    expected="one gap (___), or none for a prompt"
                    if self.gaps == 1
                    else f"at most {self.gaps} gaps (___)",
                    remedy=f"Make an item of each gap, or write gaps = {n_gaps} into "
                    f"[trial.parameters]; at most {MOST_GAPS} are possible",
                )
        return versions

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version with its accepted answers, encoded so that none has a space."""
        accepted = encode(self.accepted_answers(item))
        return Arrangement(RIGHT if accepted else None, (options[0], *accepted))

    def practice_arrangement(self, item: Item, good_side: Side) -> Arrangement:
        """Return the good version, which every practice trial shows."""
        return self.arrangement(item, (Variant.GOOD,))

    def practice_fields(self, item: Item, render: Render) -> Mapping[str, Any]:
        """Return the right answers for each gap, and one of them in the text, if there are any."""
        of_gaps = self.accepted_answers(item)
        if not of_gaps:
            return {}
        words = [answers[0] if answers else "___" for answers in of_gaps]
        text = self.show_options(item, (Variant.GOOD,), render).options[0]
        answer = GAP.sub(lambda _: words.pop(0), text) if GAP.search(text) else words[0]
        return {"accepted": of_gaps, "answer": answer}

    def show_options(self, item: Item, options: Sequence[str], render: Render) -> Shown:
        """Return the shown version: the text, its parts around the gaps, and its pictures."""
        pictures = "".join(picture[0] for picture in PICTURE.finditer(item.context))
        if pictures:
            item = replace(item, context=PICTURE.sub("", item.context).strip())
        besides = {"picture": pictures} if pictures else {}
        text = render(item.after_context(item.version(options[0])))
        gap = GAP.search(text)
        if gap is None:
            return Shown(text, besides={"before": text, "after": "", "gap": "", **besides})
        before, after, *after_others = GAP.split(text)
        besides |= {f"after{number}": part for number, part in enumerate(after_others, start=2)}
        return Shown(text, besides={"before": before, "after": after, "gap": gap[0], **besides})

    # How the server reads and checks an answer.

    def _split(self, text: str) -> list[str]:
        """Return the text of each gap; a study of single gaps has no separator."""
        return text.split(GAP_SEPARATOR) if self.gaps > 1 else [text]

    @property
    def n_answers(self) -> int:
        """0: nothing is offered to choose from."""
        return 0

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether the answer is an allowed text, or no answer if the study allows that."""
        if not answer.has_details_alone:
            return False
        try:
            texts = self._split(_read_typed(answer).text)
        except ValidationError:
            return False
        return len(texts) <= self.gaps and all(
            self.allows(text) if text else self.no_answer for text in texts
        )

    def settle(self, answer: GivenAnswer, options: str | None) -> GivenAnswer:
        """Return the answer with its side: the first if it is an accepted one, else the second."""
        accepted, typed = (options or "").split()[1:], _read_typed(answer)
        details = typed.model_dump(exclude_unset=True)
        return replace(answer, side=find_side(typed.text, accepted), details=details)

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the answer, which is right or wrong only if one is expected."""
        text = _read_typed(answer).text
        side = find_side(text, arrangement.options[1:])
        return ScoredAnswer(
            chose_good=None if side is None else side is RIGHT,
            chosen_side=side,
            version=arrangement.options[0],
            answer=GAP_SEPARATOR.join(map(normalise, self._split(text))) or NO_ANSWER,
            typed=text,
        )

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return the first accepted answer of each gap, or any text if none is expected."""
        texts = [
            answers[0] if answers else "x" * self.min_length
            for answers in decode(arrangement.options[1:])
        ]
        return GivenAnswer(details={"text": GAP_SEPARATOR.join(texts)})

    # What the export contains.

    @property
    def completes_rows(self) -> bool:
        """True: the text and its measurements are derived from the stored details."""
        return True

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the text and its measurements."""
        details = row.pop("details", None)
        typed = TypedText.model_validate(details)
        measured = typed.model_dump(exclude={"text", "gaps"})
        of_gaps = gap_values(typed.gaps or (), self.gaps) if self.gaps > 1 else {}
        return row | {
            "version": str(row["version"]).split(" ", 1)[0],
            "typed": typed.text or None,
            "no_answer": not typed.text,
            **measured,
            **of_gaps,
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
        """Return accepted answers with the item's accuracy, otherwise some of ten common words.

        Where no answer is accepted, each frame has its own order of these words for each gap, in
        which each is typed as often as the reciprocal of its place.
        """
        n_gaps = max(1, len(GAP.findall(options[0])))
        accepted = self.accepted_answers(known.item) or ((),) * n_gaps
        words = [word for word in WORDS if self.allows(word)] or ["x" * self.min_length]
        texts = [
            simulate_text(
                responder,
                known,
                accepted[gap],
                words,
                gap=gap,
                may_pass=self.no_answer,
                rng=rng,
            )
            for gap in range(n_gaps)
        ]
        text = GAP_SEPARATOR.join(texts) if any(texts) else ""
        return GivenAnswer(details={"text": text})

    def asked_about(self, items: Sequence[Item]) -> tuple[str, str]:
        """Return the same words of a new study with pictures or without."""
        return self.asked, self.instructions

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
        """Return the number of gaps, if texts have several, and the column of accepted answers."""
        note = "Participants type one word for each gap."
        most_gaps = max(count_gaps(item, Variant.GOOD) for item in items)
        parameters: dict[str, object] = {"gaps": most_gaps} if most_gaps > 1 else {}
        for header, _ in items[0].extra:
            if key_of(header) in _ACCEPTED_HEADERS:
                return (
                    {**parameters, "accepted": header},
                    f'{note} The column "{header}" has the right answers.',
                )
        return parameters, note

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return the text as it was typed."""
        return _read_typed(answer).text or NO_ANSWER

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return "a trial shows one of the texts, and asks for what belongs into the gap"


_ACCEPTED_HEADERS = ("accepted", "accepted_answers", "accepted_answer", "right_answers")


def count_gaps(item: Item, version: str) -> int:
    """Return how many gaps a version of an item has."""
    return len(GAP.findall(item.after_context(item.version(version))))


def _read_typed(answer: GivenAnswer) -> TypedText:
    return TypedText.model_validate(answer.details)
