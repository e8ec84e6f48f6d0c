"""Rules that exclude participants who answer too fast, too slowly, or after the deadline."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import ClassVar, Self

from pydantic import Field, PositiveFloat, model_validator

from experiment.errors import ParallaxError
from experiment.exclusion.base import Assessment, PlannedStudy, never
from experiment.exclusion.selection import Counted, Selection, count_most_trials
from experiment.records import Judgment


class TooLate(Selection):
    """Excludes participants with too large a share of answers after the deadline."""

    name: ClassVar[str] = "too_late"
    reason: ClassVar[str] = "answering after the deadline"
    max_share: float = Field(
        ge=0, lt=1, description="the largest share of trials answered after the deadline"
    )

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether few enough answers were late, ignoring trials without a measured time.

        Raises:
            StudyError: No trial is selected.
        """
        selected = self.selected(judgments, self.name)
        judged_late = [judgment.is_late for judgment in selected if judgment.is_late is not None]
        if not judged_late:
            return None, f"no time was measured on the {self.trials} that have a deadline"
        n = sum(judged_late)
        evidence = f"{n} of the {len(judged_late)} {self.trials} answered after the deadline"
        return n / len(
            judged_late
        ) <= self.max_share, f"{evidence}; at most {self.max_share:.1%} allowed"

    def powerless_on(self, lists: Counted, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that no trial has a deadline."""
        if not count_most_trials(lists, lambda trial: trial.response.deadline_ms):
            yield never(
                "it counts answers after the deadline, and there is none",
                expected="deadline_ms below [trial.parameters]",
            )


class _TimeRule(Selection):
    """Base class of both rules: a limit on the share of trials beyond a time, or on the median."""

    name: ClassVar[str]
    max_share: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="the largest share of trials answered outside the limits",
    )
    # The names of the rule's two keys in study.toml, and the wording of the evidence.
    _bound_key: ClassVar[str]
    _median_key: ClassVar[str]
    _beyond: ClassVar[str]
    _limit: ClassVar[str]
    # 1 if times above the limit count, -1 if times below it count.
    _sign: ClassVar[int]

    @model_validator(mode="after")
    def _require_one_limit(self) -> Self:
        bound, middle = getattr(self, self._bound_key), getattr(self, self._median_key)
        by_share = bound is not None and self.max_share is not None
        by_median = bound is None and self.max_share is None and middle is not None
        if by_share == by_median or (by_share and middle is not None):
            raise ValueError(f"give {self._bound_key} and max_share, or {self._median_key} alone")
        return self

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the times are within bounds, ignoring trials without a measured time.

        Raises:
            StudyError: No trial is selected.
        """
        selected = self.selected(judgments, self.name)
        times = [judgment.rt_ms for judgment in selected if judgment.rt_ms is not None]
        if not times:
            return None, f"no time was measured on the {self.trials}"
        if (limit := getattr(self, self._median_key)) is not None:
            middle = median(times)
            evidence = f"median {middle:.0f} ms on the {len(times)} {self.trials}"
            return not self._is_beyond(middle, limit), f"{evidence}; {self._limit} {limit:g} ms"
        bound, share = getattr(self, self._bound_key), self.max_share
        assert share is not None
        n = sum(self._is_beyond(time, bound) for time in times)
        evidence = f"{n} of the {len(times)} {self.trials} answered in {self._beyond} {bound:g} ms"
        return n / len(times) <= share, f"{evidence}; at most {share:.1%} allowed"

    def _is_beyond(self, time_ms: float, limit_ms: float) -> bool:
        return self._sign * (time_ms - limit_ms) > 0


class TooFast(_TimeRule):
    """Excludes participants with too many answers below a time limit, or a too short median."""

    name: ClassVar[str] = "too_fast"
    reason: ClassVar[str] = "answering too fast"
    below_ms: PositiveFloat | None = Field(
        default=None, description="a trial answered in less than this is too fast, in milliseconds"
    )
    min_median_ms: PositiveFloat | None = Field(
        default=None, description="the least median time, in milliseconds"
    )
    _bound_key, _median_key, _sign = "below_ms", "min_median_ms", -1
    _beyond, _limit = "less than", "at least"

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that the page accepts no press as early as the limit."""
        yield from super().powerless(planned)
        key = "below_ms" if self.below_ms is not None else "min_median_ms"
        limit, lockout = self.below_ms or self.min_median_ms or 0, planned.study.trial.lockout_ms
        if limit <= lockout:
            yield never(f"no press counts in the first {lockout} ms", key, f"more than {lockout}")


class TooSlow(_TimeRule):
    """Excludes participants with too many answers above a time limit, or a too long median."""

    name: ClassVar[str] = "too_slow"
    reason: ClassVar[str] = "answering too slowly"
    above_ms: PositiveFloat | None = Field(
        default=None, description="a trial answered in more than this is too slow, in milliseconds"
    )
    max_median_ms: PositiveFloat | None = Field(
        default=None, description="the greatest median time, in milliseconds"
    )
    _bound_key, _median_key, _sign = "above_ms", "max_median_ms", 1
    _beyond, _limit = "more than", "at most"
