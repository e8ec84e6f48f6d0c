"""The model of a question that participants answer in a form."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Question(BaseModel):
    """A question of a form."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="the field's name in exports")
    label: str = Field(min_length=1, description="the question as participants read it")
    type: Literal["text", "choice", "number"] = Field(default="text", description="the field")
    options: list[str] = Field(default=[], description="the answers offered by a choice")
    required: bool = Field(default=False, description="whether it must be answered")


class FinalQuestion(Question):
    """A field of the questionnaire."""

    when: dict[str, str] = Field(
        default={},
        description="factor = level: only participants of that level are asked; all by default",
    )
