"""Simulated answers in the cells of a design: choices, ratings, yes or no, and reading times.

Every type of answer has the same crossed random effects. The predictor of the answer of participant
p to frame f in cell c is

    eta = b_c + u_p + v_f + w_pc + z_fc,

with normal u, v, w and z: participants and frames differ, and so do their effects of the cell
(Barr, Levy, Scheepers & Tily 2013, Journal of Memory and Language 68, 255-278). A point of a scale
of K points follows the cumulative logit model (Christensen 2019, the ordinal package for R):
P(point <= k) = logistic(t_k - eta), with bounds t_k one logit apart; those of a slider are as far
apart altogether as those of nine points. A choice, right or wrong, and a yes or no have two points:
this is logistic regression. ``b_c`` is chosen so that the points have
the cell's expected mean; a share ``lapse`` of the answers, and all answers of a share of the
participants, are uniform over the points. The logarithm of a reading time is eta with a normal
residual; a number of entries is the exponential of such a sum, rounded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from analysis.data.inclusion import add_inclusion, weigh_frames
from analysis.data.own_columns import PREFIX, prefix_own_columns
from analysis.errors import AnalysisError
from analysis.findings.design import with_units
from analysis.power.simulated_choices import Assumptions
from analysis.statistics.resample import Floats
from experiment.design.counterbalancing import arrangements
from experiment.design.lists import BuiltLists
from experiment.exclusion.rules import verdict
from experiment.materials.item_rows import item_row
from experiment.materials.read import load_items
from experiment.records import PAIR, Item, Judgment, ListEntry, Side, Variant
from experiment.responses.base import Arrangement, GivenAnswer
from experiment.responses.registry import response_of
from experiment.studies.analysis_plan import is_count
from experiment.studies.study import Study

Codes = NDArray[np.intp]
ACCURACY, RATING, YES, LOG_RT = "accuracy", "rating", "yes", "log_rt"
# Assumed of lists: the mean number of entries, and five standard deviations of its logarithm.
USUAL_ENTRIES = 16
LOG_SDS_OF_ENTRIES = (0.2, 0.1, 0.3, 0.1, 0.2)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
_FARTHEST_LOGIT = 40.0
# How far from the ends of what can be reached expected means stay, as a share of the scale.
_EDGE_SHARE = 0.005
# How far apart the outer bounds are at most: those of nine points.
_WIDEST_LOGITS = 7


@dataclass(frozen=True, slots=True)
class Coded:
    """The participant, the frame and the cell of each answer, numbered from 0."""

    person: Codes
    unit: Codes
    cell: Codes


@dataclass(frozen=True, slots=True)
class RandomSds:
    """Standard deviations of the random effects, in logits or in log milliseconds.

    Attributes:
        participants: Between participants.
        their_effect: Between participants in each cell.
        frames: Between frames.
        frames_effect: Between frames in each cell.
    """

    participants: float
    their_effect: float
    frames: float
    frames_effect: float

    def draw(self, base: Floats, coded: Coded, rng: np.random.Generator) -> Floats:
        """Return the predictor of each answer: its base and a draw of every effect."""
        n_people, n_units, n_cells = (
            int(numbers.max()) + 1 for numbers in (coded.person, coded.unit, coded.cell)
        )
        eta = base + rng.normal(0, self.participants, n_people)[coded.person]
        eta += rng.normal(0, self.frames, n_units)[coded.unit]
        eta += rng.normal(0, self.their_effect, (n_people, n_cells))[coded.person, coded.cell]
        eta += rng.normal(0, self.frames_effect, (n_units, n_cells))[coded.unit, coded.cell]
        return eta


class AnswerModel(Protocol):
    """How answers of one measure are drawn."""

    @property
    def origin(self) -> str:
        """The assumptions, in a sentence."""

    def find_mean_range(self) -> tuple[float, float]:
        """Return the lowest and the highest mean that a cell can have."""

    def find_base(self, mean: float) -> float:
        """Return the base at which answers have a mean."""

    def draw(self, base: Floats, coded: Coded, rng: np.random.Generator) -> Floats:
        """Return the value of each answer."""


@dataclass(frozen=True, slots=True)
class TimesModel:
    """The logarithms of reading times.

    Attributes:
        spread: The standard deviations of the random effects.
        residual: The standard deviation of the residuals.
    """

    logged: ClassVar[str] = "times"

    spread: RandomSds
    residual: float

    @classmethod
    def of_differences(cls, log_sds: tuple[float, ...]) -> Self:
        """Return the model with five standard deviations, effects' being of a difference.

        The difference of two independent terms has twice the variance of one.
        """
        participants, their_effect, frames, frames_effect, residual = log_sds
        of_cell = sqrt(0.5)
        spread = RandomSds(participants, their_effect * of_cell, frames, frames_effect * of_cell)
        return cls(spread, residual)

    @property
    def origin(self) -> str:
        """The assumptions, in a sentence."""
        spread, of_difference = self.spread, sqrt(2)
        return (
            f"Logarithms of {self.logged} with sd {spread.participants:g} between participants, "
            f"{spread.their_effect * of_difference:g} between their effects, {spread.frames:g} "
            f"between frames, {spread.frames_effect * of_difference:g} between their effects and "
            f"{self.residual:g} residual."
        )

    def find_mean_range(self) -> tuple[float, float]:
        """Return the lowest and the highest mean that a cell can have."""
        return -np.inf, np.inf

    def find_base(self, mean: float) -> float:
        """Return the base at which logarithms of times have a mean."""
        return mean

    def draw(self, base: Floats, coded: Coded, rng: np.random.Generator) -> Floats:
        """Return the logarithm of each time."""
        return self.spread.draw(base, coded, rng) + rng.normal(0, self.residual, len(base))


@dataclass(frozen=True, slots=True)
class CountModel(TimesModel):
    """The numbers of entries of lists: log-normal, rounded to whole numbers."""

    logged: ClassVar[str] = "numbers of entries"

    def find_mean_range(self) -> tuple[float, float]:
        """Return the lowest and the highest mean that a cell can have."""
        return 1.0, np.inf

    def find_base(self, mean: float) -> float:
        """Return the base at which the numbers have a mean, that of a log-normal distribution.

        Raises:
            AnalysisError: No value gives the mean.
        """
        if not mean > 0:
            raise AnalysisError(
                f"lists cannot have a mean of {mean:g} entries", expected="means above 0"
            )
        spread = self.spread
        sds = (
            spread.participants,
            spread.their_effect,
            spread.frames,
            spread.frames_effect,
            self.residual,
        )
        return float(np.log(mean)) - sum(sd**2 for sd in sds) / 2

    def draw(self, base: Floats, coded: Coded, rng: np.random.Generator) -> Floats:
        """Return the number of entries of each list."""
        return np.rint(np.exp(TimesModel.draw(self, base, coded, rng)))


@dataclass(frozen=True, slots=True)
class ScaleModel:
    """The scale, and the assumptions about participants.

    Attributes:
        points: The number of points of the scale; 2 for no and yes.
        people: The assumptions about participants; ``sd_items`` applies to frames.
        sd_effects: Standard deviations of cell-specific participant and frame effects, in logits.
        lowest: The lowest point.
    """

    points: int
    people: Assumptions
    sd_effects: float
    lowest: int = 1

    @property
    def highest(self) -> int:
        """The highest point."""
        return self.lowest + self.points - 1

    @property
    def bounds(self) -> Floats:
        """The bounds between the points, in logits."""
        n_steps = self.points - 2
        step = _WIDEST_LOGITS / max(n_steps, _WIDEST_LOGITS)
        return step * (np.arange(self.points - 1, dtype=np.float64) - n_steps / 2)

    @property
    def spread(self) -> RandomSds:
        """The standard deviations of the random effects, in logits."""
        people = self.people
        return RandomSds(people.sd_participants, self.sd_effects, people.sd_items, self.sd_effects)

    @property
    def origin(self) -> str:
        """The assumptions, in a sentence."""
        people = self.people
        return (
            f"{'Logistic' if self.points == len(PAIR) else 'Cumulative logit'} model with sd "
            f"{people.sd_participants:g} between participants, {people.sd_items:g} between frames "
            f"and {self.sd_effects:g} of both in each condition (logits), lapse rate "
            f"{people.lapse:g}, {people.guessing:.0%} of participants guessing; the study's "
            "exclusion rules."
        )

    def find_mean_range(self) -> tuple[float, float]:
        """Return the lowest and the highest mean that a cell can have."""
        edge = _EDGE_SHARE * (self.points - 1)
        return self.mean(-_FARTHEST_LOGIT) + edge, self.mean(_FARTHEST_LOGIT) - edge

    def mean(self, eta: float) -> float:
        """Return the mean point at ``b_c = eta``, of participants who do not guess throughout."""
        spread = self.spread
        total = np.hypot(
            np.hypot(spread.participants, spread.frames),
            np.hypot(spread.their_effect, spread.frames_effect),
        )
        above = expit(eta + total * _NODES[:, None] - self.bounds).sum(axis=1)
        attentive = self.lowest + float(_WEIGHTS @ above) / float(_WEIGHTS.sum())
        lapse = self.people.lapse
        return lapse * (self.lowest + self.highest) / 2 + (1 - lapse) * attentive

    def find_base(self, mean: float) -> float:
        """Return the ``b_c`` that gives a mean point.

        Raises:
            AnalysisError: No value gives the mean.
        """
        low, high = self.mean(-_FARTHEST_LOGIT), self.mean(_FARTHEST_LOGIT)
        if not low < mean < high:
            raise AnalysisError(
                f"a mean of {mean:g} cannot be reached on a scale from {self.lowest} to "
                f"{self.highest} with a lapse rate of {self.people.lapse:g}",
                expected=f"means between {low:.2f} and {high:.2f}",
            )
        return float(brentq(lambda eta: self.mean(eta) - mean, -_FARTHEST_LOGIT, _FARTHEST_LOGIT))

    def draw(self, base: Floats, coded: Coded, rng: np.random.Generator) -> Floats:
        """Return the point of each answer."""
        people, n = self.people, len(base)
        eta = self.spread.draw(base, coded, rng)
        points = self.lowest + np.searchsorted(self.bounds, eta + rng.logistic(size=n))
        at_random = rng.random(n) < people.lapse
        at_random |= (rng.random(int(coded.person.max()) + 1) < people.guessing)[coded.person]
        guesses = rng.integers(self.lowest, self.highest + 1, n)
        return np.where(at_random, guesses, points).astype(float)


@dataclass(frozen=True, slots=True)
class SimulatedAnswers:
    """The answers of the largest study tried.

    Attributes:
        rows: One row per answer, with participant and place (from 0), list, item, version, unit.
        items: The table of items.
        judge: Converts a row index and a point to an answer as the exclusion rules see it.
    """

    rows: pd.DataFrame
    items: pd.DataFrame
    judge: Callable[[int, int], Judgment]

    def keeps(self, study: Study) -> Callable[[Floats], set[int]]:
        """Return a function that takes all points and returns whom the study's rules keep."""
        grouped = self.rows.groupby("participant").indices
        of_person = {int(str(person)): list(places) for person, places in grouped.items()}

        def kept(points: Floats) -> set[int]:
            if not study.exclusion:
                return set(of_person)
            return {
                person for person, places in of_person.items()
                if verdict(study.exclusion, [self.judge(at, int(points[at])) for at in places]).kept
            }  # fmt: skip

        return kept


def has_no_points(measure: str) -> bool:
    """Return whether a measure has no points, so that exclusion rules cannot judge its answers."""
    return measure == LOG_RT or is_count(measure)


def answers_of(study: Study, built: BuiltLists, per_list: int, measure: str) -> SimulatedAnswers:
    """Return the answers of the given number of participants per list.

    Args:
        study: The study.
        built: The study's lists.
        per_list: The number of participants per list.
        measure: What is measured of each answer.
    """
    response = response_of(study)
    trials: list[tuple[ListEntry, Arrangement]] = []
    rows = []
    for list_, entries in enumerate(built.lists):
        levels = built.levels[list_] if built.levels else {}
        for place in range(per_list):
            arranged_trials = arrangements(
                entries, response, seed=built.seed, list_=list_, place=place
            )
            for entry, arranged in zip(entries, arranged_trials, strict=True):
                trials.append((entry, arranged))
                options = response.part_of(arranged)[1].options
                version = options[0] if options and measure != ACCURACY else Variant.GOOD
                rows.append(
                    {"participant": list_ * per_list + place, "place": place, "list": list_,
                     "item_id": entry.item.item_id, "construction": entry.item.construction,
                     "condition": entry.item.condition, "kind": str(entry.kind),
                     "version": str(version)}
                    | {f"{PREFIX}{name}": value for name, value in entry.item.extra}
                    | {f"{PREFIX}{name}": level for name, level in levels.items()}
                )  # fmt: skip
    items = prefix_own_columns(
        pd.DataFrame([item_row(item) for item in items_in(study, built)]).fillna("")
    )

    def judge(at: int, point: int) -> Judgment:
        fields: dict[str, Any]
        entry, arranged = trials[at]
        if measure not in (response.of_item(entry.item).measures or (ACCURACY,)):
            # The trials of a session's other tasks are answered without an error.
            fields = response.score_answer(arranged, response.correct_answer(arranged)).fields()
        elif measure == ACCURACY:
            is_right = point == len(PAIR)
            good_side = arranged.good_side or Side.FIRST
            side = good_side if is_right else PAIR[good_side is Side.FIRST]
            fields = {"chose_good": is_right, "chosen_side": side}
        else:
            rated = measure == RATING
            answer = (
                GivenAnswer(rating=point) if rated else GivenAnswer(side=PAIR[point != len(PAIR)])
            )
            fields = response.score_answer(arranged, answer).fields()
        return Judgment(
            position=at + 1, item_id=entry.item.item_id, kind=entry.kind, rt_ms=None,
            construction=entry.item.construction, condition=entry.item.condition,
            extra=entry.item.extra, **fields,
        )  # fmt: skip

    answers = add_inclusion(pd.DataFrame(rows), items, weigh_frames(built.inclusion))
    return SimulatedAnswers(with_units(answers, items), items, judge)


def items_in(study: Study, built: BuiltLists) -> list[Item]:
    """Return the items of the lists, in the order of the study's table if it has one."""
    item_by_id = {entry.item.item_id: entry.item for entries in built.lists for entry in entries}
    if not study.materials.items:
        return list(item_by_id.values())
    return [item for item in load_items(study) if item.item_id in item_by_id]
