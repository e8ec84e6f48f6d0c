"""The tables ``privacy`` and ``oversight``: what is kept of people, and what takes two to do."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from experiment.studies.toml_lists import AS_TUPLE, Texts


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Oversight(_Table):
    """What one person alone may not do."""

    second_person: Annotated[
        tuple[Literal["payments", "publishing", "unblinding"], ...], AS_TUPLE
    ] = Field(
        default=(),
        description="what is done only once another person has asked for the same: payments, "
        "publishing, unblinding",
    )


class Privacy(_Table):
    """How long what identifies participants is kept, and where nothing may be kept."""

    keep_identifying_days: int | None = Field(
        default=None,
        ge=0,
        le=36_500,
        description="how many days after the run was closed what identifies people is kept; "
        "without it, until somebody is forgotten",
    )
    identifying_questions: Texts = Field(
        default=(), description="the questions whose answers identify people, by name"
    )
    legal_basis: str = Field(
        default="", description="the legal basis of the processing, as the consent page names it"
    )
    shared_device: bool = Field(
        default=False,
        description="whether several people take part at one computer: its browser forgets each of "
        "them at the end",
    )
