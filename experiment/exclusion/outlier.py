"""A rule that excludes participants whose accuracy or times are outliers."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, median, stdev
from typing import ClassVar, Literal

from pydantic import Field, PositiveFloat

from experiment.errors import ParallaxError
from experiment.exclusion.base import Answered, Assessment, PlannedStudy, never
from experiment.exclusion.max_errors import count_right_answers, make_nothing_right_error
from experiment.exclusion.selection import Counted, Selection
from experiment.records import Judgment
from experiment.responses.base import Gives

# Factor from the median absolute deviation of a normal distribution to its standard deviation.
_MAD_TO_SD = 1.4826
FEWEST = 3
_MEASURES = {"log_rt": "mean log time", "accuracy": "accuracy"}


class Outlier(Selection):
    """Excludes participants who deviate too far from the centre of all participants.

    The deviation is the median absolute deviation times 1.4826, from the median (Leys, Ley, Klein,
    Bernard & Licata 2013, Journal of Experimental Social Psychology 49, 764-766), or the standard
    deviation (n - 1) from the mean. Both include all participants who finished, even those whom
    other rules exclude.
    """

    name: ClassVar[str] = "outlier"
    reason: ClassVar[str] = "answers far from everyone else's"
    needs_everyone: ClassVar[bool] = True

    @property
    def needs(self) -> Gives | None:  # type: ignore[override]
        """The needed answers: ``Gives.RIGHT`` for accuracy; otherwise None."""
        return Gives.RIGHT if self.measure == "accuracy" else None

    measure: Literal["log_rt", "accuracy"] = Field(description="what is compared")
    method: Literal["mad", "sd"] = Field(default="mad", description="how deviation is measured")
    cutoff: PositiveFloat = Field(default=3.0, description="the most deviations from the centre")
    side: Literal["low", "high", "both"] = Field(
        default="both",
        description="whether values below the centre are excluded, above it, or both",
    )

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the participant's value is close enough to the other participants' values.

        Raises:
            StudyError: No trial is selected.
        """
        session, measure = Answered.of(judgments), f"{_MEASURES[self.measure]} on the {self.trials}"
        value = self._measure(session)
        if value is None:
            return None, f"no time was measured on the {self.trials}"
        if session.everyone is None:
            return None, f"{measure} {value:.3f}; the other participants' values are not known"
        values = session.everyone.measured(self.model_dump_json(), self._measure)
        if len(values) < FEWEST:
            return None, f"{measure} {value:.3f}; fewer than {FEWEST} participants to compare with"
        return self._compare_with_others(value, values, measure)

    def _compare_with_others(self, value: float, values: list[float], measure: str) -> Assessment:
        centre, spread = _compute_mad(values) if self.method == "mad" else _compute_sd(values)
        evidence = f"{measure} {value:.3f} among {len(values)} participants"
        if spread == 0:
            return None, f"{evidence}, too many of them alike to identify an outlier"
        away = (value - centre) / spread
        distance = {"low": -away, "high": away, "both": abs(away)}[self.side]
        ends = {"low": "below", "high": "above", "both": "from"}[self.side]
        return distance <= self.cutoff, (
            f"{evidence}: {away:+.2f} {self.method.upper()} from {centre:.3f}; "
            f"at most {self.cutoff:g} {ends} it allowed"
        )

    def _measure(self, session: Answered) -> float | None:
        if self.measure == "accuracy":
            return fmean(self.right(session, self.name))
        counted_trials = self.selected(session, self.name)
        times = [
            math.log(judgment.rt_ms)
            for judgment in counted_trials
            if judgment.rt_ms is not None and judgment.rt_ms > 0
        ]
        return fmean(times) if times else None

    def powerless_on(self, lists: Counted, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that no answer can be an error, or that no value can be far enough away."""
        if self.measure == "accuracy" and not count_right_answers(lists):
            yield make_nothing_right_error(self)
        design = planned.study.design
        n = design.lists * design.participants_per_list
        # The largest possible distance of one of n values from their mean (Shiffler 1988).
        farthest = (n - 1) / math.sqrt(n)
        if n < FEWEST:
            yield never(f"it compares {FEWEST} participants or more, and the study has {n}")
        elif self.method == "sd" and self.cutoff >= farthest:
            yield never(
                f"among {n} participants none can be {self.cutoff:g} standard deviations away",
                expected=f'cutoff below {farthest:.2f}, or method = "mad"',
            )


def _compute_mad(values: list[float]) -> tuple[float, float]:
    centre = median(values)
    return centre, _MAD_TO_SD * median(abs(value - centre) for value in values)


def _compute_sd(values: list[float]) -> tuple[float, float]:
    # ``stdev`` computes with exact fractions, so the spread of equal values is exactly 0.
    return fmean(values), stdev(values)
