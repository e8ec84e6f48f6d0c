"""Estimates of several languages or sites: their mean, how much they differ, and each in its light.

A random-effects meta-analysis: each language's estimate is its true effect plus an error whose
variance is known, and true effects vary around their mean. The variance between languages is Paule
and Mandel's (1982; statsmodels). The mean's interval is that of Hartung and Knapp (2001) and
Sidik and Jonkman (2002), which holds for few languages, too; but never narrower than the normal
one, as estimates that agree by chance would make it (Jackson, D., Law, M., Rücker, G. & Schwarzer,
G. (2017). The Hartung-Knapp modification for random-effects meta-analysis. Statistics in Medicine,
36(25)).

Partially pooled effects depend on the variance between languages, which few languages leave
uncertain. They are therefore averaged over it, with equal prior probability for every standard
deviation (Röver, C. (2020). Bayesian random-effects meta-analysis using the bayesmeta R package.
Journal of Statistical Software, 93(6)).
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm
from scipy.stats import t as student
from statsmodels.stats.meta_analysis import combine_effects

from analysis.statistics.resample import LEVEL, Floats

FEWEST = 2  # languages that have a mean
_FEWEST_FOR_PARTLY = 3  # with two, the flat prior leaves the standard deviation unbounded
_LARGEST_RATIO = 1e6  # of the variance between languages and the largest error's
_N_SDS, _MOST_SDS = 400, 20.0  # the grid of standard deviations, in those of estimates and errors


@dataclass(frozen=True, slots=True)
class Pooled:
    """The effects of several languages together.

    Attributes:
        mean: The mean of the languages' true effects.
        low: The lower end of its interval.
        high: The upper end.
        p: Of no mean effect, two-sided.
        sd: The standard deviation of true effects between languages.
        sd_low: The lower end of its 95% interval.
        sd_high: The upper end.
        p_equal: Of equal true effects in all languages (Cochran's Q).
        next_low: The lower end of the interval of a further language's true effect; NaN with two
            languages, as are partially pooled effects.
        next_high: The upper end.
        partly: Shape ``(languages,)``: each language's partially pooled effect: its own estimate,
            drawn to the mean as far as its error is large compared with the differences between
            languages.
        partly_low: Shape ``(languages,)``: the lower ends of their intervals.
        partly_high: Shape ``(languages,)``: the upper ends.
    """

    mean: float
    low: float
    high: float
    p: float
    sd: float
    sd_low: float
    sd_high: float
    p_equal: float
    next_low: float
    next_high: float
    partly: Floats
    partly_low: Floats
    partly_high: Floats


@dataclass(frozen=True, slots=True)
class AverageEffect:
    """The mean of several languages' true effects.

    Attributes:
        mean: The mean.
        low: The lower end of its interval.
        high: The upper end.
        p: Of no mean effect, two-sided.
        sd: The standard deviation of true effects between languages.
        q: Cochran's Q of equal true effects.
    """

    mean: float
    low: float
    high: float
    p: float
    sd: float
    q: float


def average_effect(estimates: Floats, errors: Floats, level: float = LEVEL) -> AverageEffect:
    """Return the mean of several languages' true effects.

    Args:
        estimates: Shape ``(languages,)``, at least two.
        errors: Shape ``(languages,)``: their standard errors, above 0.
        level: Of the interval.
    """
    n = len(estimates)
    with np.errstate(divide="ignore"):  # a ratio that is not used, of estimates that are equal
        combined = combine_effects(estimates, errors**2, method_re="iterated", use_t=True)
    between, mean = max(float(combined.tau2), 0.0), float(combined.mean_effect_re)
    by_spread, by_errors = float(combined.sd_eff_w_re_hksj), float(combined.sd_eff_w_re)
    half = max(
        float(student.ppf((1 + level) / 2, n - 1)) * by_spread,
        float(norm.ppf((1 + level) / 2)) * by_errors,
    )
    p = 2 * float(norm.sf(abs(mean) / by_errors))
    if by_spread > 0:
        p = max(p, 2 * float(student.sf(abs(mean) / by_spread, n - 1)))
    return AverageEffect(
        mean, mean - half, mean + half, p, float(np.sqrt(between)), float(combined.q)
    )


def pool(estimates: Floats, errors: Floats, level: float = LEVEL) -> Pooled:
    """Return what several languages' estimates say together.

    Args:
        estimates: Shape ``(languages,)``, at least two.
        errors: Shape ``(languages,)``: their standard errors, above 0.
        level: Of the mean's interval; all others have 95%.
    """
    variances, n = errors**2, len(estimates)
    average = average_effect(estimates, errors, level)
    sd_low, sd_high = _sd_interval(estimates, variances)
    partly = np.full((n + 1, 3), np.nan)
    if n >= _FEWEST_FOR_PARTLY:
        partly = _average_over_sds(estimates, variances)
    return Pooled(
        average.mean,
        average.low,
        average.high,
        average.p,
        average.sd,
        sd_low,
        sd_high,
        float(chi2.sf(average.q, n - 1)),
        float(partly[-1, 1]),
        float(partly[-1, 2]),
        *partly[:-1].T,
    )


def _average_over_sds(estimates: Floats, variances: Floats) -> Floats:
    """Return effects averaged over standard deviations between languages.

    Returns:
        Shape ``(languages + 1, 3)``: each language's effect, and last a further one's, with both
        ends of its interval.
    """
    unit = float(np.sqrt(np.var(estimates) + variances.mean()))
    between = np.linspace(0, _MOST_SDS * unit, _N_SDS)[:, None] ** 2
    precision = 1 / (variances + between)
    of_mean = 1 / precision.sum(axis=1, keepdims=True)
    mean = of_mean * (precision @ estimates)[:, None]
    log_density = (np.log(precision) - precision * (estimates - mean) ** 2).sum(axis=1) / 2
    log_density += np.log(of_mean[:, 0]) / 2
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    own_share = between * precision
    centres = np.column_stack([own_share * estimates + (1 - own_share) * mean, mean])
    spread = np.sqrt(
        np.column_stack([own_share * variances + (1 - own_share) ** 2 * of_mean, between + of_mean])
    )
    ends = [
        [
            brentq(_mixture_excess, *_outermost(centre, sd), args=(centre, sd, weight, share))
            for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        ]
        for centre, sd in zip(centres.T, spread.T, strict=True)
    ]
    return np.column_stack([weight @ centres, np.array(ends)])


def _mixture_excess(
    value: float, centres: Floats, spread: Floats, weight: Floats, share: float
) -> float:
    """Return by how much a mixture of normal distributions has more below a value than a share."""
    return float(weight @ norm.cdf((value - centres) / spread)) - share


def _outermost(centres: Floats, spread: Floats) -> tuple[float, float]:
    """Return values below and above practically all of a mixture of normal distributions."""
    return float((centres - 9 * spread).min()), float((centres + 9 * spread).max())


def _sd_interval(estimates: Floats, variances: Floats) -> tuple[float, float]:
    """Return the 95% interval of the standard deviation between languages.

    From the distribution of Q by the variance between languages (Viechtbauer, W. (2007). Confidence
    intervals for the amount of heterogeneity in meta-analysis. Statistics in Medicine, 26(1)).
    """

    def q(between: float) -> float:
        weight = 1 / (variances + between)
        mean = float(weight @ estimates / weight.sum())
        return float(weight @ (estimates - mean) ** 2)

    largest = _LARGEST_RATIO * float(variances.max() + np.var(estimates))
    bounds = chi2.ppf([(1 + LEVEL) / 2, (1 - LEVEL) / 2], len(estimates) - 1)
    ends = []
    for bound in bounds:
        inside = q(0) > bound
        ends.append(float(brentq(lambda v, b=bound: q(v) - b, 0, largest)) if inside else 0.0)
    return float(np.sqrt(ends[0])), float(np.sqrt(ends[1]))
