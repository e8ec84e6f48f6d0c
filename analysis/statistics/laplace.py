"""Laplace's approximation of a cumulative-logit mixed model, with its exact gradient.

With ``eta = X b + Z L u``, ``g`` and ``w`` the first and minus the second derivative of each
answer's log-probability by ``eta``, and ``H = L'Z'WZL + I`` at the mode of ``u``, the approximation
is ``l(eta) - u'u/2 - log|H|/2``. Its derivative by a parameter includes the changes of the mode and
of ``H``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.special import expit, log_expit

from analysis.statistics.resample import Floats

Codes = NDArray[np.intp]
_NEWTON_STEPS, _CONVERGED, _SMALLEST_STEP = 60, 1e-10, 1e-4


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """The random effects of one unit.

    Attributes:
        unit: The unit's name, such as "participant".
        level: Shape ``(n,)``: each answer's level of the unit, from 0.
        effects: The names of the effects, the intercept first.
        columns: Shape ``(n, effects)``: the effects' values in each answer's row.
        correlated: Whether the effects' correlations are estimated.
    """

    unit: str
    level: Codes
    effects: tuple[str, ...]
    columns: Floats
    correlated: bool = True

    @property
    def name(self) -> str:
        """The term in R's notation."""
        names = ["1", *self.effects[1:]]
        bar = "|" if self.correlated or len(names) == 1 else "||"
        return f"({' + '.join(names)} {bar} {self.unit})"

    @property
    def places(self) -> list[tuple[int, int]]:
        """The entries of the lower triangular loading that are estimated."""
        size = range(len(self.effects))
        if self.correlated:
            return [(row, column) for row in size for column in range(row + 1)]
        return [(row, row) for row in size]


class Parameters:
    """The layout of the parameter vector: cuts, fixed effects, loadings of each term."""

    def __init__(self, n_cuts: int, n_fixed: int, terms: Sequence[RandomTerm]) -> None:
        """Lay out the parameters of a model."""
        self.n_cuts, self.n_fixed, self._terms = n_cuts, n_fixed, terms
        self.fixed = slice(n_cuts, n_cuts + n_fixed)
        self.entries = [
            (number, *entry) for number, term in enumerate(terms) for entry in term.places
        ]
        ends = [row == column for _, row, column in self.entries]
        self.is_diagonal = np.array([False] * (n_cuts + n_fixed) + ends)

    @property
    def bounds(self) -> list[tuple[float | None, float | None]]:
        """The bounds of each parameter: standard deviations are not negative."""
        return [(0.0, None) if is_sd else (None, None) for is_sd in self.is_diagonal]

    def start(self, answer: Codes, sd: float) -> Floats:
        """Return the starting values: marginal cuts, no effects, and one standard deviation."""
        below = np.cumsum(np.bincount(answer))[:-1] / len(answer)
        cuts = np.log(below / (1 - below))
        steps = np.log(np.maximum(np.diff(cuts), 1e-3))
        start_values = np.concatenate(
            [cuts[:1], steps, np.zeros(self.n_fixed), np.zeros(len(self.entries))]
        )
        start_values[self.is_diagonal] = sd
        return start_values

    def thresholds(self, at: Floats) -> Floats:
        """Return the increasing cuts: the first, plus the exponentials of the steps."""
        steps = np.cumsum(np.exp(at[1 : self.n_cuts]))
        cuts: Floats = at[0] + np.concatenate([[0.0], steps])
        return cuts

    def cut_slopes(self, at: Floats) -> Floats:
        """Return the derivative of each cut (rows) by each cut parameter (columns)."""
        steps = np.exp(at[1 : self.n_cuts])
        rows = np.tril(np.ones((self.n_cuts, self.n_cuts)))
        rows[:, 1:] *= steps
        return rows

    def loadings(self, at: Floats) -> list[Floats]:
        """Return each term's lower triangular loading of independent standard normal effects."""
        loadings = [np.zeros((len(term.effects),) * 2) for term in self._terms]
        values = at[self.n_cuts + self.n_fixed :]
        for (number, row, column), value in zip(self.entries, values, strict=True):
            loadings[number][row, column] = value
        return loadings


@dataclass(slots=True)
class _Mode:
    """The state at the mode of the random effects, for given parameters."""

    value: float
    slope: Floats
    weight: Floats
    factor: tuple[Floats, bool]
    values: Floats
    eta: Floats


@dataclass(frozen=True, slots=True)
class _AtParameters:
    """Quantities of each answer that depend on the parameters, but not on the random effects.

    Attributes:
        values: Shape ``(n, effects of an answer)``: the non-zero entries of the rows of ``ZL``.
        products: The products of each pair of these, in the order of the upper triangle.
        above: The cut above the answer.
        below: The cut below it.
        fixed: The contribution of the fixed effects.
    """

    values: Floats
    products: Floats
    above: Floats
    below: Floats
    fixed: Floats


@dataclass
class Laplace:
    """The negative approximate log-likelihood of answers, for an optimiser.

    Attributes:
        answer: Shape ``(n,)``: each answer's point, from 0.
        x: Shape ``(n, fixed)``.
        terms: The random effects.
    """

    answer: Codes
    x: Floats
    terms: Sequence[RandomTerm]
    layout: Parameters = field(init=False)

    def __post_init__(self) -> None:
        """Number the random effects of every level, and start them at zero."""
        self.layout = Parameters(int(self.answer.max()), self.x.shape[1], self.terms)
        columns, starts, n_effects = [], [], 0
        for term in self.terms:
            size = len(term.effects)
            starts.append(n_effects)
            columns.append(n_effects + term.level[:, None] * size + np.arange(size))
            n_effects += size * (int(term.level.max()) + 1)
        self._columns = np.concatenate(columns, axis=1)
        self._n_effects = n_effects
        # Only each answer's pairs in the upper triangle: the factorisation reads no others.
        self._one, self._two = np.triu_indices(self._columns.shape[1])
        pairs = self._columns[:, self._one] * n_effects + self._columns[:, self._two]
        self._pairs = pairs.ravel()
        offsets = np.cumsum([0, *(len(term.effects) for term in self.terms)])
        self._offsets = [int(offset) for offset in offsets]
        self._u = np.zeros(n_effects)

    def negative(self, at: Floats) -> tuple[float, Floats]:
        """Return the negative approximate log-likelihood and its gradient."""
        mode = self._find_mode(at)
        u = self._u
        log_determinant = 2 * float(np.sum(np.log(np.diag(mode.factor[0]))))
        value = mode.value - log_determinant / 2
        slopes = self._compute_gradient(at, mode, u)
        return -value, -slopes

    def find_effects(self, at: Floats) -> list[tuple[Floats, Floats]]:
        """Return each term's random effects at their mode, and their variances given the data.

        Both have the shape ``(levels, effects)``. The variances are lme4's: the parameters are
        taken as known.
        """
        inverse = _invert_from_factor(self._find_mode(at).factor)
        found = []
        for number, (term, loading) in enumerate(
            zip(self.terms, self.layout.loadings(at), strict=True)
        ):
            size, n_levels = len(term.effects), int(term.level.max()) + 1
            first = int(self._columns[:, self._offsets[number]].min())
            places = first + np.arange(n_levels * size).reshape(n_levels, size)
            of_levels = inverse[places[:, :, None], places[:, None, :]]
            variances = np.einsum("ij,ljk,ik->li", loading, of_levels, loading)
            found.append((self._u[places] @ loading.T, variances))
        return found

    def _find_mode(self, at: Floats) -> _Mode:
        loadings = self.layout.loadings(at)
        values = np.concatenate(
            [term.columns @ loading for term, loading in zip(self.terms, loadings, strict=True)],
            axis=1,
        )
        cuts = np.concatenate([[-np.inf], self.layout.thresholds(at), [np.inf]])
        point = _AtParameters(
            values=values,
            products=values[:, self._one] * values[:, self._two],
            above=cuts[self.answer + 1],
            below=cuts[self.answer],
            fixed=self.x @ at[self.layout.fixed],
        )
        u = self._u if np.isfinite(self._u).all() else np.zeros(self._n_effects)
        mode = self._evaluate(u, point)
        for _ in range(_NEWTON_STEPS):
            step = cho_solve(mode.factor, self._gather(values, mode.slope) - u)
            u, mode, moved = self._step(u, step, mode, point)
            if moved < _CONVERGED:
                break
        self._u = u
        return mode

    def _step(
        self, u: Floats, step: Floats, current: _Mode, point: _AtParameters
    ) -> tuple[Floats, _Mode, float]:
        """Return the effects after a step, halved until the objective does not decrease."""
        size = 1.0
        while True:
            tried_u = u + size * step
            candidate = self._evaluate(tried_u, point)
            if candidate.value >= current.value - _CONVERGED or size < _SMALLEST_STEP:
                return tried_u, candidate, size * float(np.max(np.abs(step)))
            size /= 2

    def _evaluate(self, u: Floats, point: _AtParameters) -> _Mode:
        eta = point.fixed + (point.values * u[self._columns]).sum(axis=1)
        upper, lower = point.above - eta, point.below - eta
        above, below = expit(upper), expit(lower)
        weight = above * (1 - above) + below * (1 - below)
        chance = log_expit(upper) + log_expit(-lower)
        chance += np.log1p(-np.exp(np.minimum(lower - upper, -1e-12)))
        value = float(chance.sum()) - float(u @ u) / 2
        factor = cho_factor(self._compute_information(point.products, weight))
        return _Mode(value, above + below - 1, weight, factor, point.values, eta)

    def _compute_information(self, products: Floats, weight: Floats) -> Floats:
        """Return the upper triangle of ``H``."""
        size = self._n_effects
        weighted = products * weight[:, None]
        sums = np.bincount(self._pairs, weighted.ravel(), size * size).astype(float, copy=False)
        information: Floats = sums.reshape(size, size)
        information[np.diag_indices(size)] += 1
        return information

    def _gather(self, values: Floats, per_answer: Floats) -> Floats:
        """Return ``(ZL)' x`` for one value per answer."""
        weights = values * per_answer[:, None]
        return np.bincount(self._columns.ravel(), weights.ravel(), self._n_effects).astype(float)

    def _compute_gradient(self, at: Floats, mode: _Mode, u: Floats) -> Floats:
        """Return the derivatives of the approximation by each parameter."""
        cuts = self.layout.thresholds(at)
        above, below = self._point_probabilities(cuts, mode.eta)
        f_above, f_below = above * (1 - above), below * (1 - below)
        bend = -(f_above * (1 - 2 * above) + f_below * (1 - 2 * below))
        inverse = _invert_from_factor(mode.factor)
        reached = self._inverse_at_rows(mode.values, inverse)
        leverage = (reached * mode.values).sum(axis=1)
        by_cuts = self._cut_gradient(cuts, mode, leverage, bend, inverse)
        direct, explicit, forced, trace = [], [], [], []
        for fixed in self.x.T:
            direct.append(fixed)
            explicit.append(float(mode.slope @ fixed))
            forced.append(-self._gather(mode.values, mode.weight * fixed))
            trace.append(0.0)
        for number, row, column in self.layout.entries:
            index = self._offsets[number] + column
            value = self.terms[number].columns[:, row]
            moved = value * u[self._columns[:, index]]
            direct.append(moved)
            explicit.append(float(mode.slope @ moved))
            push = np.bincount(self._columns[:, index], value * mode.slope, self._n_effects).astype(
                float
            )
            forced.append(push - self._gather(mode.values, mode.weight * moved))
            trace.append(2 * float(np.sum(mode.weight * reached[:, index] * value)))
        change = inverse @ np.column_stack(forced)
        eta = np.column_stack(direct) + np.einsum("ia,iak->ik", mode.values, change[self._columns])
        by_others = np.array(explicit) - ((leverage * bend) @ eta + np.array(trace)) / 2
        return np.concatenate([self.layout.cut_slopes(at).T @ by_cuts, by_others])

    def _point_probabilities(self, cuts: Floats, eta: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of a point up to the answer's, and of a point below it."""
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        return expit(ends[self.answer + 1] - eta), expit(ends[self.answer] - eta)

    def _inverse_at_rows(self, values: Floats, inverse: Floats) -> Floats:
        """Return ``Z L inverse(H)`` at each answer's own columns."""
        reached = np.zeros_like(values)
        for column in range(values.shape[1]):
            block = inverse[self._columns, self._columns[:, column, None]]
            reached[:, column] = (values * block).sum(axis=1)
        return reached

    def _cut_gradient(
        self, cuts: Floats, mode: _Mode, leverage: Floats, bend: Floats, inverse: Floats
    ) -> Floats:
        """Return the derivatives by the cuts themselves."""
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        above, below = self._point_probabilities(cuts, mode.eta)
        with np.errstate(over="ignore"):
            far = 1 / np.expm1(np.maximum(ends[self.answer + 1] - ends[self.answer], 1e-12))
        slopes = []
        for cut in range(len(cuts)):
            at_top, at_foot = self.answer == cut, self.answer == cut + 1
            explicit = np.where(at_top, 1 - above + far, 0.0) - np.where(at_foot, below + far, 0.0)
            share = np.where(at_top, above, np.where(at_foot, below, 0.0))
            density = share * (1 - share)
            pushed = inverse @ self._gather(mode.values, density)
            eta = (mode.values * pushed[self._columns]).sum(axis=1)
            weight = density * (1 - 2 * share) + bend * eta
            slopes.append(float(explicit.sum()) - float(leverage @ weight) / 2)
        return np.array(slopes)


def _invert_from_factor(factor: tuple[Floats, bool]) -> Floats:
    """Return the full inverse of a matrix from its upper Cholesky factor."""
    half = np.triu(dpotri(factor[0])[0])
    inverse: Floats = half + np.triu(half, 1).T
    return inverse
