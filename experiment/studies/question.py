"""The model of a question that participants answer in a form."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator

Kind = Literal["text", "long_text", "choice", "choices", "number", "scale", "slider"]
# Between the answers of who chose several; no option may hold it.
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


def _texts(value: object) -> object:
    """Return a condition with a list of answers for each question, however it was written."""
    if not isinstance(value, Mapping):
        return value
    return {name: [one] if isinstance(one, str) else one for name, one in value.items()}


class Question(BaseModel):
    """A question of a form."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="the field's name in exports")
    label: str = Field(min_length=1, description="the question as participants read it")
    type: Kind = Field(default="text", description="the field")
    options: list[str] = Field(default=[], description="the answers offered by a choice")
    required: bool = Field(default=False, description="whether it must be answered")
    fewest: PositiveInt | None = Field(
        default=None, description="of several choices, how many at least, where any is chosen"
    )
    most: PositiveInt | None = Field(
        default=None, description="of several choices, how many at most"
    )
    points: int | None = Field(
        default=None, ge=2, le=MOST_POINTS, description="the scale's points, from 1"
    )
    lowest: str = Field(default="", description="the label of a scale's or slider's low end")
    highest: str = Field(default="", description="the label of its high end")
    from_number: float | None = Field(default=None, description="a slider's lowest number, or 0")
    to_number: float | None = Field(default=None, description="its highest number, or 100")
    step: float | None = Field(default=None, gt=0, description="the numbers' distance, or 1")

    @model_validator(mode="after")
    def _keys_of_its_type(self) -> Self:
        for key, types in _OWN_KEYS.items():
            # Options have a check of their own, with the line that they stand in.
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
        """The lowest and the highest number of a slider, and the distance of two."""
        low = 0 if self.from_number is None else self.from_number
        high = 100 if self.to_number is None else self.to_number
        return low, high, 1 if self.step is None else self.step

    @property
    def offered(self) -> list[str]:
        """The answers that can be chosen among; empty where people write or set a number."""
        return [str(n + 1) for n in range(self.points)] if self.points else list(self.options)

    @property
    def closed(self) -> bool:
        """Whether nobody can write their own words into it."""
        return self.type not in ("text", "long_text")

    @property
    def in_words(self) -> str:
        """What is asked and may be answered, for a codebook."""
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
        description="factor = level: only participants of that level are asked; all by default",
    )
    only_if: Annotated[dict[str, list[str]], BeforeValidator(_texts)] = Field(
        default={},
        description="earlier question = answer, or a list of answers: only who gave one of them "
        "is asked",
    )

    @property
    def in_words(self) -> str:
        """What is asked and may be answered, and of whom, for a codebook."""
        whom = [f"{factor} = {level}" for factor, level in self.when.items()]
        whom += [f"{name} = {' or '.join(wanted)}" for name, wanted in self.only_if.items()]
        return super().in_words + (f", asked only if {' and '.join(whom)}" if whom else "")
