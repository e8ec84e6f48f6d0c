"""Power of ratings and yes-or-no answers: contrasts in studies by simulated participants.

The answer of participant p to frame f in a cell c is a point of a scale of K points; yes-or-no
answers have two points. It follows the cumulative logit model with crossed random effects
(Christensen 2019, the ordinal package for R), with lapses:

    eta = b_c + u_p + v_f + w_pc + z_fc,  P(point <= k) = logistic(t_k - eta),

where the bounds t_k are one logit apart. u, v, w and z are normal. ``b_c`` is chosen so that the
points have the cell's expected mean; a share ``lapse`` of the answers, and all answers of a share
of the participants, are uniform over the points. Intervals come from
``analysis.statistics.contrasts``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from analysis.errors import AnalysisError
from analysis.power.simulated_choices import Assumptions
from analysis.statistics.contrasts import Weights, contrasts
from analysis.statistics.resample import Floats, codes, numpy_generator

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
_FURTHEST = 40.0


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale, and the assumptions about participants.

    Attributes:
        points: The number of points of the scale; 2 for no and yes.
        people: The assumptions about participants; ``sd_items`` applies to frames.
        sd_effects: Standard deviations of cell-specific participant and frame effects, in logits.
    """

    points: int
    people: Assumptions
    sd_effects: float

    @property
    def bounds(self) -> Floats:
        """The bounds between the points, in logits."""
        return np.arange(self.points - 1, dtype=np.float64) - (self.points - 2) / 2

    @property
    def _spread(self) -> float:
        sds = (self.people.sd_participants, self.people.sd_items, self.sd_effects, self.sd_effects)
        return float(np.sqrt(np.sum(np.square(sds))))

    def mean(self, eta: float) -> float:
        """Return the mean point at ``b_c = eta``, of participants who do not guess throughout."""
        above = expit(eta + self._spread * _NODES[:, None] - self.bounds).sum(axis=1)
        attentive = 1 + float(_WEIGHTS @ above) / float(_WEIGHTS.sum())
        lapse = self.people.lapse
        return lapse * (self.points + 1) / 2 + (1 - lapse) * attentive

    def place(self, mean: float) -> float:
        """Return the ``b_c`` that gives a mean point.

        Raises:
            AnalysisError: No value gives the mean.
        """
        low, high = self.mean(-_FURTHEST), self.mean(_FURTHEST)
        if not low < mean < high:
            raise AnalysisError(
                f"a mean of {mean:g} cannot be reached on a scale from 1 to {self.points} with a "
                f"lapse rate of {self.people.lapse:g}",
                expected=f"means between {low:.2f} and {high:.2f}",
            )
        return float(brentq(lambda eta: self.mean(eta) - mean, -_FURTHEST, _FURTHEST))


@dataclass(frozen=True, slots=True)
class Planned:
    """A construction's answers and its planned contrasts.

    Attributes:
        rows: The indices of its answers among all answers.
        answers: Those answers, with cell, participant, unit, and perhaps ``also`` and ``group``.
        comparisons: Each contrast's weights of cells.
        truth: Each contrast's value if all participants were attentive.
    """

    rows: NDArray[np.intp]
    answers: pd.DataFrame
    comparisons: Mapping[str, Weights]
    truth: Mapping[str, float]


def simulate_scale(
    answers: pd.DataFrame,
    planned: Mapping[str, Planned],
    scale: Scale,
    keeps: Callable[[NDArray[np.intp]], set[int]],
    sizes: Iterable[int],
    simulations: Iterable[int],
    *,
    difference: float,
    seed: int,
) -> pd.DataFrame:
    """Return the result of each simulated study: a row per study, size and contrast.

    Smaller sizes use the first participants of each list of the same simulated study.

    Args:
        answers: All answers of the largest study: participant (from 0), place (in the list), unit,
            cell and mean (the expected mean).
        planned: The constructions that are analysed.
        scale: The scale and the assumptions.
        keeps: Returns the participants kept by the study's rules, given the points of all answers.
        sizes: Participants per list.
        simulations: The numbers of the simulated studies.
        difference: The distance between the true value and the value to distinguish from it.
        seed: The random seed.

    Returns:
        ``simulation``, ``per_list``, ``construction``, ``contrast``, ``kept``, ``estimate``,
        ``half_width``, ``detected`` (the interval excludes truth - difference), ``not_zero``.
    """
    etas = {mean: scale.place(mean) for mean in answers["mean"].unique()}
    base = answers["mean"].map(etas).to_numpy(dtype=float)
    person = answers["participant"].to_numpy(dtype=np.intp)
    unit, cell = (codes(answers[name].astype(str))[0] for name in ("unit", "cell"))
    place = answers["place"].to_numpy()
    results = []
    for number in simulations:
        rng = numpy_generator(seed, "power of a scale", number)
        points = _simulate_points(base, person, unit, cell, scale, rng)
        is_kept = np.isin(person, list(keeps(points)))
        for size in sizes:
            in_size = is_kept & (place < size)
            for name, design in planned.items():
                rows = _result_rows(design, points, in_size, difference).assign(construction=name)
                n_kept = len(np.unique(person[in_size]))
                results.append(rows.assign(simulation=number, per_list=size, kept=n_kept))
    return pd.concat(results, ignore_index=True)


def _simulate_points(
    base: Floats,
    person: NDArray[np.intp],
    unit: NDArray[np.intp],
    cell: NDArray[np.intp],
    scale: Scale,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    people, n_cells = scale.people, int(cell.max()) + 1
    n_people, n_units = int(person.max()) + 1, int(unit.max()) + 1
    eta = base + rng.normal(0, people.sd_participants, n_people)[person]
    eta += rng.normal(0, people.sd_items, n_units)[unit]
    eta += rng.normal(0, scale.sd_effects, (n_people, n_cells))[person, cell]
    eta += rng.normal(0, scale.sd_effects, (n_units, n_cells))[unit, cell]
    points = 1 + np.searchsorted(scale.bounds, eta + rng.logistic(size=len(eta)))
    at_random = rng.random(len(eta)) < people.lapse
    at_random |= (rng.random(n_people) < people.guessing)[person]
    return np.where(at_random, rng.integers(1, scale.points + 1, len(eta)), points)


def _result_rows(
    design: Planned, points: NDArray[np.intp], in_size: NDArray[np.bool_], difference: float
) -> pd.DataFrame:
    selected = in_size[design.rows]
    answers = design.answers[selected].assign(point=points[design.rows][selected].astype(float))
    estimates = contrasts(answers, "point", design.comparisons)
    truth = estimates["contrast"].map(design.truth)
    low, high = estimates["low"], estimates["high"]
    return pd.DataFrame(
        {
            "contrast": estimates["contrast"],
            "truth": truth,
            "estimate": estimates["estimate"],
            "half_width": (high - low) / 2,
            "detected": (low > truth - difference) | (high < truth - difference),
            "not_zero": (low > 0) | (high < 0),
        }
    )
