"""Questions in forms: their model, checks before the first trial, and checks of answers."""

import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

Kind = Literal["text", "long_text", "choice", "choices", "number", "scale", "slider"]
# The separator of several chosen answers; no option may contain it.
BETWEEN_CHOICES = "; "
MOST_POINTS = 11
_OWN_KEYS: Mapping[str, tuple[Kind, ...]] = {
    "options": ("choice", "choices"),
    "fewest": ("choices",),
    "most": ("choices",),
    "points": ("scale",),
    "lowest": ("scale", "slider"),
    "highest": ("scale", "slider"),
    "from_number": ("slider",),
    "to_number": ("slider",),
    "step": ("slider",),
}


def list_unused_keys(type_: str) -> list[str]:
    """Return the keys that questions of a type do not have."""
    return [key for key, types in _OWN_KEYS.items() if type_ not in types]


def _normalise_condition(value: object) -> object:
    """Return a condition with a list of answers per question, whichever notation was used."""
    if not isinstance(value, Mapping):
        return value
    return {name: [text] if isinstance(text, str) else text for name, text in value.items()}


class Question(BaseModel):
    """A question of a form."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="the field's name in exports")
    label: str = Field(min_length=1, description="the question as participants read it")
    type: Kind = Field(default="text", description="the kind of field")
    options: list[str] = Field(default=[], description="the options of a choice")
    required: bool = Field(default=False, description="whether the question must be answered")
    fewest: PositiveInt | None = Field(
        default=None, description="if several options may be chosen: the minimum, if any is chosen"
    )
    most: PositiveInt | None = Field(
        default=None, description="if several options may be chosen: the maximum"
    )
    points: int | None = Field(
        default=None, ge=2, le=MOST_POINTS, description="the scale's points, from 1"
    )
    lowest: str = Field(default="", description="the label of a scale's or slider's low end")
    highest: str = Field(default="", description="the label of a scale's or slider's high end")
    from_number: float | None = Field(default=None, description="a slider's lowest number, or 0")
    to_number: float | None = Field(default=None, description="a slider's highest number, or 100")
    step: float | None = Field(
        default=None, gt=0, description="the step between a slider's numbers, or 1"
    )

    @model_validator(mode="after")
    def _check_keys_of_type(self) -> Self:
        for key, types in _OWN_KEYS.items():
            # Options have a separate check, which reports their line.
            if key != "options" and key in self.model_fields_set and self.type not in types:
                raise ValueError(
                    f"{key} is a key of type {' or '.join(types)}, and the type is {self.type}"
                )
        if self.type == "scale" and self.points is None:
            raise ValueError("points of the scale, such as points = 7")
        low, high, step = self.numbers
        if low + step > high:
            raise ValueError("to_number greater than from_number by a step or more")
        if (self.fewest or 0) > (most := self.most or len(self.options)) and self.options:
            raise ValueError(f"fewest no greater than what can be chosen, which is {most}")
        return self

    @property
    def numbers(self) -> tuple[float, float, float]:
        """The lowest and the highest number of a slider, and its step."""
        low = 0 if self.from_number is None else self.from_number
        high = 100 if self.to_number is None else self.to_number
        return low, high, 1 if self.step is None else self.step

    @property
    def offered(self) -> list[str]:
        """The possible answers; empty for questions answered with a text or a number."""
        return [str(n + 1) for n in range(self.points)] if self.points else list(self.options)

    @property
    def closed(self) -> bool:
        """Whether the question does not accept free text."""
        return self.type not in ("text", "long_text")

    @property
    def in_words(self) -> str:
        """The question and its possible answers, for a codebook."""
        low, high, step = self.numbers
        offered = ", ".join(self.options)
        answers: Mapping[Kind, str] = {
            "text": "a text",
            "long_text": "a text",
            "choice": f"one of: {offered}",
            "choices": f"any of: {offered}; several stand with a semicolon and a space between",
            "number": "a number",
            "scale": f"a point from 1{_end(self.lowest)} to {self.points}{_end(self.highest)}",
            "slider": f"a number from {low:g}{_end(self.lowest)} to {high:g}{_end(self.highest)}"
            f" in steps of {step:g}",
        }
        return f"{self.label} {answers[self.type]}"


def _end(label: str) -> str:
    return f" ({label})" if label else ""


class FinalQuestion(Question):
    """A field of the questionnaire."""

    when: dict[str, str] = Field(
        default={},
        description="factor = level: only participants of that level get the question; all by "
        "default",
    )
    only_if: Annotated[dict[str, list[str]], BeforeValidator(_normalise_condition)] = Field(
        default={},
        description="earlier question = answer, or a list of answers: only participants who "
        "gave one of them get the question",
    )

    @property
    def in_words(self) -> str:
        """The question, its possible answers and its condition, for a codebook."""
        conditions = [f"{factor} = {level}" for factor, level in self.when.items()]
        conditions += [
            f"{name} = {' or '.join(accepted)}" for name, accepted in self.only_if.items()
        ]
        return super().in_words + (
            f", asked only if {' and '.join(conditions)}" if conditions else ""
        )


# Screening is decided automatically, so only simple answer types are allowed.
_Plain = Literal["text", "choice", "number"]


class ScreeningQuestion(Question):
    """A question before the start; people who give any other answer are sent back."""

    type: _Plain = Field(default="text", description="the field")

    required: bool = Field(default=True, description="whether the question must be answered")
    accept: list[str] = Field(default=[], description="the answers with which people can take part")
    at_least: float | None = Field(
        default=None, description="the lowest number with which people can take part"
    )
    at_most: float | None = Field(
        default=None, description="the highest number with which people can take part"
    )

    @model_validator(mode="after")
    def _require_criterion(self) -> Self:
        if self.type == "number":
            if self.accept or (self.at_least is None and self.at_most is None):
                raise ValueError("at_least or at_most for a number, without accept")
        elif not self.accept or self.at_least is not None or self.at_most is not None:
            raise ValueError("accept = [...], the answers of the people whom the study is for")
        if not self.required:
            raise ValueError(
                "required = true, because without an answer it cannot be decided whom to let in"
            )
        _among_options(self, self.accept, "accept")
        return self

    def accepts(self, answer: str) -> bool:
        """Return whether a participant with this answer is admitted."""
        if self.type != "number":
            return _is_among(answer, self.accept)
        number = float(answer.replace(",", "."))
        low, high = self.at_least, self.at_most
        return (low is None or number >= low) and (high is None or number <= high)


class ComprehensionQuestion(Question):
    """A question on the instructions."""

    type: _Plain = Field(default="text", description="the field")

    required: bool = Field(default=True, description="whether the question must be answered")
    correct: list[str] = Field(min_length=1, description="the right answer, or several")

    @model_validator(mode="after")
    def _check_answer(self) -> Self:
        _among_options(self, self.correct, "correct")
        return self

    def is_right(self, answer: str) -> bool:
        """Return whether the answer is right, ignoring case and surrounding spaces."""
        return _is_among(answer, self.correct)


class Comprehension(BaseModel):
    """Questions on the instructions; people who do not get them right end there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: list[ComprehensionQuestion] = Field(min_length=1, description="the questions")
    tries: PositiveInt = Field(
        default=2,
        le=10,
        description="how many attempts a participant has to answer all questions correctly",
    )

    def passes(self, answers: Mapping[str, str]) -> bool:
        """Return whether every answer is right."""
        return all(question.is_right(answers.get(question.name, "")) for question in self.questions)


class Attention(BaseModel):
    """A check of the catch trials that ends the session where too many went wrong."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_catch_errors: NonNegativeInt = Field(
        description="how many errors on catch trials are allowed; one more ends the session"
    )


def admits(questions: Sequence[ScreeningQuestion], answers: Mapping[str, str]) -> bool:
    """Return whether a participant with these valid answers is admitted."""
    answered = ((question, answers.get(question.name, "")) for question in questions)
    return all(question.accepts(answer) for question, answer in answered if answer)


def _is_among(answer: str, accepted: Sequence[str]) -> bool:
    return answer.strip().casefold() in {text.strip().casefold() for text in accepted}


def _among_options(question: Question, answers: Sequence[str], key: str) -> None:
    if question.type != "choice":
        return
    if missing := [answer for answer in answers if answer not in question.options]:
        raise ValueError(f'{key} among the options of "{question.name}", unlike "{missing[0]}"')


LONGEST_TEXT = 5000
_LONGEST_NUMBER = 32
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?", re.ASCII)
# Databases refuse the null character, and the other characters cannot be typed; tabs and line ends
# are kept.
_LINE_END = re.compile(r"\r\n?")
_UNTYPEABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Mistake(StrEnum):
    """The kinds of mistakes in an answer."""

    REQUIRED = "required"
    CHOICE = "choice"
    FEWER = "fewer"
    MORE = "more"
    NUMBER = "number"
    RANGE = "range"
    LONGEST = "longest"


def clean_text(text: str) -> str:
    """Return the text of a field without characters that cannot be typed."""
    return _UNTYPEABLE.sub("", _LINE_END.sub("\n", text)).strip()


def chosen_answers(answer: str) -> list[str]:
    """Return all answers chosen in a question of the type choices, in the options' order."""
    return [option for option in answer.split(BETWEEN_CHOICES) if option]


def is_asked(question: Question, answers: Mapping[str, str]) -> bool:
    """Return whether the earlier answers meet a question's condition."""
    if not isinstance(question, FinalQuestion):
        return True
    # If several answers were chosen, one matching answer is enough.
    return all(
        not {answers.get(name, ""), *chosen_answers(answers.get(name, ""))}.isdisjoint(accepted)
        for name, accepted in question.only_if.items()
    )


def asked_questions(
    questions: Sequence[Question], answers: Mapping[str, str]
) -> dict[str, Question]:
    """Return the questions that a participant with these answers is asked, by name.

    An answer to a question that is not asked does not affect later questions.
    """
    question_by_name: dict[str, Question] = {}
    for question in questions:
        if is_asked(question, {name: answers.get(name, "") for name in question_by_name}):
            question_by_name[question.name] = question
    return question_by_name


def mistake(question: Question, answer: str) -> Mistake | None:
    """Return the mistake in a cleaned answer; None if there is none."""
    if not answer:
        return Mistake.REQUIRED if question.required else None
    match question.type:
        case "choice" | "scale":
            return None if answer in map(clean_text, question.offered) else Mistake.CHOICE
        case "choices":
            return _find_mistake_of_several(question, chosen_answers(answer))
        case "number":
            return None if _is_number(answer) else Mistake.NUMBER
        case "slider":
            return None if _is_number(answer) and _is_on_slider(question, answer) else Mistake.RANGE
        case _:
            return Mistake.LONGEST if len(answer) > LONGEST_TEXT else None


def _find_mistake_of_several(question: Question, answers: Sequence[str]) -> Mistake | None:
    offered = list(map(clean_text, question.offered))
    if not set(answers) <= set(offered) or len(set(answers)) < len(answers):
        return Mistake.CHOICE
    if question.fewest and len(answers) < question.fewest:
        return Mistake.FEWER
    return Mistake.MORE if question.most and len(answers) > question.most else None


def _is_number(answer: str) -> bool:
    return len(answer) <= _LONGEST_NUMBER and bool(_NUMBER.fullmatch(answer))


def _is_on_slider(question: Question, answer: str) -> bool:
    low, high, step = question.numbers
    number = float(answer.replace(",", "."))
    steps = (number - low) / step
    return low <= number <= high and math.isclose(steps, round(steps), abs_tol=1e-6)
