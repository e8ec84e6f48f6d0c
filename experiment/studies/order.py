"""The model of ``[design.order]``: what the order of a session's trials must keep."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

_AtLeastTwo = Annotated[int, Field(ge=2)]


class Order(BaseModel):
    """Constraints besides ``design.separate``; columns are those that it may name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    in_a_row: dict[str, PositiveInt] = Field(
        default={}, description="column = how many trials in a row may share it"
    )
    distance: dict[str, _AtLeastTwo] = Field(
        default={}, description="column = how far apart trials that share it stand at least"
    )
    targets_apart: bool = Field(default=False, description="whether no two targets are neighbours")
    first_fillers: NonNegativeInt = Field(
        default=0, description="how many of the first trials are fillers"
    )
    blocks: Literal["fixed", "counterbalanced"] = Field(
        default="fixed", description="whether blocks come as listed, or take turns at each place"
    )
    breaks: bool = Field(
        default=False, description="whether a page for a break comes between two blocks"
    )
    pages: dict[str, str] = Field(
        default={}, description="block = the text shown before it: a file beside instructions.md"
    )
    first_blocks: list[str] = Field(
        default=[], description="blocks that come before the others, in this order, for everybody"
    )
