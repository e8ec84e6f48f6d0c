"""Excluding participants who keep to one side, or to one point of the scale."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar, Self

from pydantic import Field, PositiveInt, model_validator

from experiment.exclusion.answered import Assessment
from experiment.exclusion.rating_gap import OfScale
from experiment.records import Judgment


class SameSide(OfScale):
    """Excludes participants who choose one side, or one point, too often or too often in a row."""

    name: ClassVar[str] = "same_side"
    max_share: float | None = Field(
        default=None, ge=0.5, lt=1, description="the largest share of answers on one side"
    )
    max_run: PositiveInt | None = Field(
        default=None, description="or the most answers in a row on one side"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.max_share is None) == (self.max_run is None):
            raise ValueError("give either max_share or max_run")
        return self

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the sides vary enough, in the order in which the trials were shown.

        A sentence that no question followed has neither side nor point, and does not count.

        Raises:
            StudyError: No trial is selected.
        """
        counted = sorted(self.selected(judgments, self.name), key=lambda one: one.position)
        return self.on_scales(counted, self._sides)

    def _sides(self, counted: Sequence[Judgment]) -> Assessment:
        sides = [_answer(one) for one in counted if one.answer or one.chosen_side]
        if not sides:
            return None, f"no answer to the {self.trials} has a side or a point"
        if self.max_run is not None:
            side, longest = max(
                ((side, len(list(run))) for side, run in groupby(sides)), key=lambda run: run[1]
            )
            evidence = f"{longest} of the {len(sides)} {self.trials} in a row on {side}"
            return longest <= self.max_run, f"{evidence}; at most {self.max_run} allowed"
        assert self.max_share is not None
        [(side, n)] = Counter(sides).most_common(1)
        evidence = f"{n} of the {len(sides)} {self.trials} ({n / len(sides):.1%}) on {side}"
        return n / len(sides) <= self.max_share, f"{evidence}; at most {self.max_share:.1%} allowed"


def _answer(judgment: Judgment) -> str:
    return judgment.answer or f"the {judgment.chosen_side} side"
