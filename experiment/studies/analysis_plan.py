"""The table ``analysis`` of study.toml: choices for the report, declared before data collection."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from experiment.studies.toml_values import Texts


class Analysis(BaseModel):
    """What the study declares of its analysis before anybody has answered."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    margin: float | None = Field(
        default=None, gt=0, lt=1,
        description="how far accuracies may lie apart and still count as the same",
    )  # fmt: skip
    factors: Texts = Field(
        default=(),
        description="columns of the items, or features of templates, whose levels make the cells; "
        "by default two columns that cross to the conditions. Factors between participants of "
        "design.factors always count",
    )
    coding: Literal["sum", "treatment", "helmert"] = Field(
        default="sum",
        description="sum: a main effect is averaged over the other factors; treatment: it is "
        "that at their first levels; helmert: each level is told less the mean of those before it",
    )
    simple_effects: bool = Field(
        default=True, description="whether one factor's effect is told at each level of the other"
    )
    interactions: bool = Field(
        default=True, description="whether differences of differences are told"
    )
    covariates: Texts = Field(
        default=(),
        description="columns of the items and questions of the questionnaire that the mixed "
        "model of the design holds constant",
    )
    least_rt_ms: float = Field(
        default=100,
        ge=0,
        description="times of words or regions below this are left out, ms; of what is read step "
        "by step",
    )
    most_rt_ms: float = Field(default=5000, gt=0, description="and those above this")
    repeats: str = Field(
        default="",
        description="a column of the items whose values repeat over frames as well, such as a "
        "verb: a third level of clustering beside participant and frame",
    )
