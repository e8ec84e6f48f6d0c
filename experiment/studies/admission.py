"""Who may begin and who goes on: screening questions, a comprehension check, an attention check."""

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from experiment.studies.question import Question

# What decides who begins is read by a machine, so it is a plain answer.
_Plain = Literal["text", "choice", "number"]


class ScreeningQuestion(Question):
    """A question before the start; people who give any other answer are sent back."""

    type: _Plain = Field(default="text", description="the field")

    required: bool = Field(default=True, description="whether it must be answered")
    accept: list[str] = Field(
        default=[], description="the answers of the people whom the study is for"
    )
    at_least: float | None = Field(default=None, description="or the lowest number")
    at_most: float | None = Field(default=None, description="and the highest")

    @model_validator(mode="after")
    def _decides_something(self) -> Self:
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
        """Return whether the study is for people who give this answer."""
        if self.type != "number":
            return _same(answer, self.accept)
        number = float(answer.replace(",", "."))
        low, high = self.at_least, self.at_most
        return (low is None or number >= low) and (high is None or number <= high)


class ComprehensionQuestion(Question):
    """A question on the instructions."""

    type: _Plain = Field(default="text", description="the field")

    required: bool = Field(default=True, description="whether it must be answered")
    correct: list[str] = Field(min_length=1, description="the right answer, or several")

    @model_validator(mode="after")
    def _can_be_right(self) -> Self:
        _among_options(self, self.correct, "correct")
        return self

    def is_right(self, answer: str) -> bool:
        """Return whether the answer is right; capitals and spaces around it do not matter."""
        return _same(answer, self.correct)


class Comprehension(BaseModel):
    """Questions on the instructions; people who do not get them right end there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: list[ComprehensionQuestion] = Field(min_length=1, description="the questions")
    tries: PositiveInt = Field(
        default=2, le=10, description="how many attempts a participant has to answer all of them"
    )

    def passes(self, answers: Mapping[str, str]) -> bool:
        """Return whether every answer is right."""
        return all(each.is_right(answers.get(each.name, "")) for each in self.questions)


class Attention(BaseModel):
    """A check of the catch trials that ends the session where too many went wrong."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_catch_errors: NonNegativeInt = Field(
        description="how many errors on catch trials are allowed; one more ends the session at once"
    )


def admits(questions: Sequence[ScreeningQuestion], answers: Mapping[str, str]) -> bool:
    """Return whether the study is for people who give these checked answers."""
    given = ((question, answers.get(question.name, "")) for question in questions)
    return all(question.accepts(answer) for question, answer in given if answer)


def _same(answer: str, wanted: Sequence[str]) -> bool:
    return answer.strip().casefold() in {each.strip().casefold() for each in wanted}


def _among_options(question: Question, answers: Sequence[str], key: str) -> None:
    if question.type != "choice":
        return
    if missing := [answer for answer in answers if answer not in question.options]:
        raise ValueError(f'{key} among the options of "{question.name}", unlike "{missing[0]}"')
