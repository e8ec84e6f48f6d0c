"""The model of ``[recruitment]``: a study's terms on a paying platform."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    StringConstraints,
    model_validator,
)

from experiment.studies.toml_values import Amount

_Qualification = Annotated[str, StringConstraints(pattern=r"^[A-Z0-9]{1,64}$")]
_Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]


class Recruitment(BaseModel):
    """What workers read, what they earn, and who may take part."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    title: str = Field(
        default="",
        max_length=128,
        description="the title in the platform's list; else the study's title",
    )
    description: str = Field(
        min_length=1, max_length=2000, description="what participants will do, in a sentence or two"
    )
    keywords: list[str] = Field(default=[], description="search terms for workers")
    reward: Amount = Field(
        description='the reward of everyone who finishes, such as "1.50", in the currency of '
        "[payment]"
    )
    screen_out_reward: Amount | None = Field(
        default=None,
        description="the reward of people who are screened out, if the platform can pay it",
    )
    screen_out_places: int = Field(
        default=0, ge=0, description="the maximum number of paid screen-outs"
    )
    withdrawn_percent: int | None = Field(
        default=None,
        ge=8,
        le=99,
        description="the percentage of the reward that a participant who withdraws gets "
        "automatically, if the platform can pay it and they stayed for at least "
        "that percentage of median_minutes",
    )
    median_minutes: float = Field(gt=0, description="the median time that the study takes")
    duration_minutes: PositiveInt = Field(
        default=60, description="the time that a worker has, from accepting to submitting"
    )
    lifetime_hours: int = Field(
        default=72, ge=1, le=8760, description="how long workers can find the offer"
    )
    auto_approve_days: int = Field(
        default=3,
        ge=1,
        le=30,
        description="the time after which the platform approves the work automatically",
    )
    frame_height_px: int = Field(
        default=0, ge=0, description="the height of the frame; 0 for the worker's whole window"
    )
    devices: list[Literal["desktop", "tablet", "mobile"]] = Field(
        default=[], description="kinds of device on which the study can be taken; any when empty"
    )
    filters: list[dict[str, Any]] = Field(
        default=[], description="the platform's own filters, which decide who may take part"
    )
    filter_set: str = Field(
        default="", description="the id of a filter set on the platform, in place of filters"
    )
    filter_set_version: PositiveInt | None = Field(
        default=None, description="the version of the filter set; the latest if left out"
    )
    peripherals: list[Literal["audio", "camera", "download", "microphone"]] = Field(
        default=[], description="equipment that participants need"
    )
    naivety: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="how much the platform prefers people who seldom take part; 0 for speed",
    )
    most_at_once: PositiveInt | None = Field(
        default=None,
        description="how many people may work at the same time; any number if left out",
    )
    list_quotas: bool = Field(
        default=False,
        description="whether each list gets an address and a number of places of its own on the"
        " platform",
    )
    label: str = Field(
        default="", max_length=64, description="the kind of work: one of the platform's own labels"
    )
    group: str = Field(
        default="",
        pattern=r"^([0-9a-f]{24})?$",
        description="the id of the participant group to which everybody who finishes is added",
    )
    content_warning: Literal["", "sensitive", "explicit"] = Field(
        default="", description="the kind of content that the platform warns participants of"
    )
    content_warning_details: str = Field(
        default="", max_length=1000, description="the reason for the warning, for participants"
    )
    after: list[str] = Field(
        default=[],
        description="the names of earlier studies that participants must have finished",
    )
    countries: list[_Country] = Field(
        default=[], max_length=30, description="where workers live, as ISO 3166 codes"
    )
    min_approval_percent: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="the minimum percentage of a worker's earlier work that was approved",
    )
    min_approved: int | None = Field(
        default=None,
        ge=0,
        description="the minimum number of a worker's earlier tasks that were approved",
    )
    masters: bool = Field(
        default=False, description="whether only Masters may take part, which costs 5 % more"
    )
    require: list[_Qualification] = Field(
        default=[], description="ids of qualifications that workers must have"
    )
    refuse: list[_Qualification] = Field(
        default=[], description="ids of qualifications that workers must not have"
    )
    exclude_earlier_runs: bool = Field(
        default=False,
        description="whether people who took part in an earlier run of the study may not take part",
    )

    @model_validator(mode="after")
    def _check_terms(self) -> Self:
        if self.filter_set and self.filters:
            raise ValueError("filter_set or filters, not both: a filter set has filters of its own")
        if self.filter_set_version and not self.filter_set:
            raise ValueError("filter_set together with filter_set_version")
        if self.content_warning_details and not self.content_warning:
            raise ValueError(
                'content_warning = "sensitive" or "explicit" together with its details'
            )
        return self
