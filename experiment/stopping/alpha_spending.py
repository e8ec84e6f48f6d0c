"""Planned looks by alpha spending: how far an estimate must lie from 0 at each look.

The limits are those of Lan and DeMets (1983), Biometrika 70, 659-663, with a spending function like
the limits of O'Brien and Fleming or of Pocock, computed by repeated numerical integration
(Armitage, McPherson and Rowe, 1969). They hold for normal estimates; an estimate with a standard
error from few participants gets the limit of Student's t with the same nominal level.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import e, exp, expm1, log, pi, sqrt
from statistics import NormalDist

_NORMAL = NormalDist()
_N_POINTS = 240
# Beyond this many standard deviations nothing is integrated.
_FARTHEST_Z = 8.0
_N_BISECTIONS = 50


def _spend_like_obrien_fleming(alpha: float, share: float) -> float:
    return 2 * (1 - _NORMAL.cdf(_NORMAL.inv_cdf(1 - alpha / 2) / sqrt(share)))


def _spend_like_pocock(alpha: float, share: float) -> float:
    return alpha * log(1 + (e - 1) * share)


_SPENDING: Mapping[str, Callable[[float, float], float]] = {
    "obrien_fleming": _spend_like_obrien_fleming,
    "pocock": _spend_like_pocock,
}


@cache
def compute_limits(
    shares: tuple[float, ...], alpha: float, spending: str, *, two_sided: bool = True
) -> tuple[float, ...]:
    """Return the limit of the standardised estimate at each look.

    Args:
        shares: The share of the participants of the last look that each look has, rising to 1.
        alpha: The probability that an estimate of 0 ever lies beyond a limit.
        spending: "obrien_fleming" or "pocock".
        two_sided: Whether there are limits on both sides, each with half of alpha.
    """
    limits: list[float] = []
    # The density of the sum so far, over sums that no earlier look stopped.
    sums, weights = [0.0], [1.0]
    spent, before = 0.0, 0.0
    for share in shares:
        of_side = alpha / 2 if two_sided else alpha
        n_sides = 2 if two_sided else 1
        due = n_sides * _SPENDING[spending](of_side, share)
        step = sqrt(share - before)
        limit = _find_limit(sums, weights, step, sqrt(share), (due - spent) / n_sides)
        limits.append(limit)
        top = limit * sqrt(share)
        bottom = -top if two_sided else -_FARTHEST_Z * sqrt(share)
        sums, weights = _next_density(sums, weights, step, bottom, top)
        spent, before = due, share
    return tuple(limits)


def _find_limit(
    sums: Sequence[float], weights: Sequence[float], step: float, scale: float, probability: float
) -> float:
    low, high = 0.0, _FARTHEST_Z
    for _ in range(_N_BISECTIONS):
        middle = (low + high) / 2
        beyond = sum(
            weight * _NORMAL.cdf((at - middle * scale) / step)
            for at, weight in zip(sums, weights, strict=True)
        )
        low, high = (middle, high) if beyond > probability else (low, middle)
    return high


def _next_density(
    sums: Sequence[float], weights: Sequence[float], step: float, bottom: float, top: float
) -> tuple[list[float], list[float]]:
    """Return points between two ends, each with its probability by Simpson's rule."""
    width = (top - bottom) / _N_POINTS
    points = [bottom + width * index for index in range(_N_POINTS + 1)]
    peak = width / 3 / (step * sqrt(2 * pi))
    of_points = []
    for index, point in enumerate(points):
        simpson = 1 if index in (0, _N_POINTS) else 4 if index % 2 else 2
        density = sum(
            weight * exp(-0.5 * ((point - at) / step) ** 2)
            for at, weight in zip(sums, weights, strict=True)
        )
        of_points.append(simpson * peak * density)
    return points, of_points


def student_limit(limit: float, freedom: int) -> float:
    """Return the limit of Student's t with the same tail probability as a normal limit.

    The approximation of D. L. Wallace (1959), Annals of Mathematical Statistics 30, 1124-1130.
    """
    if freedom < 1:
        return float("inf")
    scaled = limit * (8 * freedom + 3) / (8 * freedom + 1)
    exponent = scaled * scaled / freedom
    return sqrt(freedom * expm1(min(exponent, 600.0)))
