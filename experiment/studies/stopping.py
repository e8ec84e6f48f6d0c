"""The table ``stopping`` of study.toml: when the study stops, declared before the data."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from experiment.studies.toml_values import AS_TUPLE, Texts


class Stopping(BaseModel):
    """A rule that stops the study as soon as its comparisons are answered."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    rule: Literal["any_time", "planned_looks"] = Field(
        description="any_time: valid at any number of looks at the data; planned_looks: valid "
        "only at the numbers of participants in looks"
    )
    comparisons: Texts = Field(
        default=(),
        description="the names of the comparisons that must all be answered; by default the "
        "primary ones",
    )
    alpha: float = Field(
        default=0.05,
        gt=0,
        lt=0.5,
        description="the error rate of all comparisons together, over all looks",
    )
    minimum: PositiveInt = Field(
        default=1,
        description="the number of kept participants before which the study does not stop",
    )
    maximum: PositiveInt = Field(
        description="the number of kept participants at which the study stops in any case; a "
        "multiple of the number of lists"
    )
    looks: Annotated[tuple[PositiveInt, ...], AS_TUPLE] = Field(
        default=(),
        max_length=20,
        description="for planned_looks: the numbers of kept participants at the looks, such as "
        "[32, 48], multiples of the number of lists; the maximum is the last look",
    )
    spending: Literal["obrien_fleming", "pocock"] = Field(
        default="obrien_fleming",
        description="for planned_looks: the alpha-spending function: little at first, or about "
        "the same at each look",
    )
    half_width: float | None = Field(
        default=None,
        gt=0,
        description="the half-width of an interval that is precise enough to stop, in the unit "
        "of the measure",
    )
    bounds: Annotated[tuple[float, ...], AS_TUPLE] = Field(
        default=(),
        max_length=2,
        description="for any_time: the bounds of a participant's difference, such as [-.5, .5];"
        " larger differences count as the bound. By default the largest possible "
        "difference; reading times have none and need bounds, in log milliseconds",
    )

    @model_validator(mode="after")
    def _check_keys_of_rule(self) -> Self:
        if self.rule == "any_time" and self.looks:
            raise ValueError(
                "no looks with the rule any_time, which may stop after any participant"
            )
        if self.rule == "planned_looks":
            if not self.looks:
                raise ValueError("looks with the rule planned_looks, such as looks = [32, 48]")
            if self.bounds:
                raise ValueError("no bounds with the rule planned_looks, which needs none")
        if list(self.looks) != sorted(set(self.looks)) or self.looks[-1:] >= (self.maximum,):
            raise ValueError("looks that rise, the last one below maximum")
        if self.minimum > self.maximum:
            raise ValueError("a minimum that is not above maximum")
        if self.bounds and (len(self.bounds) != 2 or not self.bounds[0] < 0 < self.bounds[1]):
            raise ValueError("two numbers as bounds, one below 0 and one above, such as [-.5, .5]")
        return self

    @property
    def words(self) -> str:
        """The rule as a sentence, for a plan and a description of the study."""
        if self.rule == "any_time":
            looked_at = f"looked at after every participant, from {self.minimum} kept ones on"
        else:
            *others, last = map(str, (*self.looks, self.maximum))
            spent = {"obrien_fleming": "little at first", "pocock": "evenly"}[self.spending]
            looked_at = f"looked at with {', '.join(others)} and {last} kept participants, "
            looked_at += f"alpha spent {spent}"
        asked = ", ".join(self.comparisons) or "the primary comparisons"
        sentence = f"{asked}: {looked_at}; alpha {self.alpha:g}; at most {self.maximum}"
        if self.half_width is not None:
            sentence += f"; enough if half the interval is at most {self.half_width:g}"
        if self.bounds:
            low, high = self.bounds
            sentence += f"; each participant's difference is limited to {low:g} to {high:g}"
        return sentence
