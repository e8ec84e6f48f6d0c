"""The table ``comparisons`` of study.toml: the researcher's questions, declared before the data."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from experiment.studies.toml_lists import Texts


class Comparison(BaseModel):
    """One comparison: what is compared, of which measure, where, and with what prediction."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(
        min_length=1, max_length=300, description="the comparison's name in reports, unique"
    )
    compare: str = Field(
        min_length=1,
        description='what is compared: "factor: level - level", also with "at factor = level"; '
        '"factor x factor" for an interaction; "people - models"; or "slope of column"',
    )
    of: Literal["", "accuracy", "share", "rating", "yes", "d_prime", "log_rt"] = Field(
        default="", description="the measure; by default the main measure of the type of response"
    )
    option: str = Field(default="", description="with of = share, the option whose share it is")
    constructions: Texts = Field(
        default=(),
        description="the constructions whose items are compared, pooled; all with these cells "
        "by default",
    )
    regions: tuple[int, ...] = Field(
        default=(),
        description="for reading times, regions relative to the critical one (0), such as [0, 1]; "
        "the times of several regions are added",
    )
    predicted: Literal["", "positive", "negative"] = Field(
        default="", description="the sign of the predicted difference; it never halves a p-value"
    )
    one_sided: bool = Field(
        default=False, description="whether the test is one-sided, in the predicted direction"
    )
    smallest_effect: float | None = Field(
        default=None,
        gt=0,
        description="the smallest difference of interest, in the unit of the measure (log "
        "milliseconds for reading times); smaller ones count as no difference",
    )
    role: Literal["primary", "exploratory"] = Field(
        default="primary",
        description="primary comparisons are answered first, and corrected among themselves",
    )

    @property
    def is_primary(self) -> bool:
        """Whether the comparison belongs to the corrected family that the report answers first."""
        return self.role == "primary"
