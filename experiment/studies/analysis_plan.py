"""The tables ``analysis`` and ``comparisons`` of study.toml, declared before data collection."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from experiment.studies.toml_values import AS_TUPLE, Texts

# What precedes an option's name in the measure "share of bad".
SHARE_OF = "share of "
# What precedes a category's name in the measure "number of animals", of the entries of lists.
NUMBER_OF = "number of "
D_PRIME = "d_prime"
# The entries of a list, with and without repetitions.
ENTRIES, DIFFERENT_ENTRIES = "entries", "different_entries"
# The covariate that is no column: the number of the trial in its session.
TRIAL_ORDER = "trial_order"
_MEASURES = (
    "", "accuracy", "rating", "yes", D_PRIME, "log_rt", DIFFERENT_ENTRIES, ENTRIES
)  # fmt: skip
Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class Analysis(BaseModel):
    """What the study declares of its analysis before anybody has answered."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    margin: float | None = Field(
        default=None, gt=0, lt=1,
        description="the largest difference of accuracies that still counts as equivalent",
    )  # fmt: skip
    factors: Texts = Field(
        default=(),
        description="columns of the items, or features of templates, whose levels define the "
        "cells; by default two columns that cross to the conditions. Factors "
        "between participants (design.factors) are always included",
    )
    coding: Literal["sum", "treatment", "helmert"] = Field(
        default="sum",
        description="sum: a main effect is averaged over the other factors; treatment: it is the "
        "effect at their first levels; helmert: each level minus the mean of the levels before it",
    )
    simple_effects: bool = Field(
        default=True,
        description="whether one factor's effect is also reported at each level of the other",
    )
    interactions: bool = Field(
        default=True, description="whether interactions (differences of differences) are reported"
    )
    covariates: Texts = Field(
        default=(),
        description="columns of the items, questions of the questionnaire, or trial_order (the "
        "number of the trial), that the mixed model of the design holds constant",
    )
    least_rt_ms: float = Field(
        default=100,
        ge=0,
        description="reading and Maze times below this are left out, ms",
    )
    most_rt_ms: float = Field(default=5000, gt=0, description="times above this are left out, ms")
    most_sds: float | None = Field(
        default=None,
        gt=0,
        description="times whose logarithm is more than this many standard deviations from the "
        "participant's mean log time are left out",
    )
    residual_on_length: bool = Field(
        default=False,
        description="whether comparisons use residual times, from each participant's linear "
        "regression of the log time of a word or region on its number of characters",
    )
    repeats: str = Field(
        default="",
        description="a column of the items whose values repeat over frames, such as a verb: a "
        "third level of clustering, besides participant and frame",
    )
    same_answers: Annotated[tuple[Literal["spelling", "lemma"], ...], AS_TUPLE] = Field(
        default=(),
        description="further steps by which reports count typed answers as the same: spelling "
        "replaces a word of no dictionary by its commonest neighbour, lemma a form by its "
        "dictionary form",
    )
    labels: dict[str, dict[str, Label]] = Field(
        default={},
        description="factor = its levels in the words of reports, such as number = "
        '{ sg = "singular", pl = "plural" }; other levels keep their names',
    )

    def label(self, factor: str, level: str) -> str:
        """Return a level in the words of reports: its label, or else its name."""
        return self.labels.get(factor, {}).get(level, level)


class Comparison(BaseModel):
    """One comparison: what is compared, of which measure, where, and with what prediction."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(
        min_length=1, max_length=300, description="the comparison's name in reports, unique"
    )
    compare: str = Field(
        min_length=1,
        description='the comparison: "factor: level - level", also with "at factor = level"; '
        '"factor x factor" for an interaction; "people - models"; or "slope of '
        'column"',
    )
    of: str = Field(
        default="",
        description="the measure: accuracy, rating, yes, d_prime, log_rt, different_entries, "
        'entries; "share of" and the name of an option, or of a category of typed answers; or '
        '"number of" and a category of entries; by default the main measure of the type of '
        "response",
    )
    constructions: Texts = Field(
        default=(),
        description="the constructions whose items are compared, pooled; all with these cells "
        "by default",
    )
    regions: Annotated[tuple[int, ...], AS_TUPLE] = Field(
        default=(),
        description="for reading times, regions relative to the critical one (0), such as [0, 1]; "
        "the times of several regions are added",
    )
    covariates: Texts = Field(
        default=(),
        description="the variables held constant: columns of the items, covariates of "
        "[analysis], or trial_order (the number of the trial)",
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
        "milliseconds for reading times); smaller differences count as none",
    )
    role: Literal["primary", "exploratory"] = Field(
        default="primary",
        description="whether the comparison is primary: the report answers primary comparisons "
        "first, and corrects for their number",
    )

    @field_validator("of")
    @classmethod
    def _check_measure(cls, of: str) -> str:
        if of not in _MEASURES and not of.startswith((SHARE_OF, NUMBER_OF)):
            raise ValueError(
                f"one of: {', '.join(_MEASURES[1:])}; {SHARE_OF}and the name of an option; or "
                f"{NUMBER_OF}and the name of a category"
            )
        return of

    @property
    def is_primary(self) -> bool:
        """Whether the comparison belongs to the corrected family that the report answers first."""
        return self.role == "primary"


def is_count(measure: str) -> bool:
    """Return whether a measure is a number of entries of a list."""
    return measure in (ENTRIES, DIFFERENT_ENTRIES) or measure.startswith(NUMBER_OF)
