"""Estimates of several sites of one language: one estimate of the language, and how sites differ.

A site's estimate is its language's effect, plus what the site adds, plus an error. The variance
between sites is common to all languages (the method of Paule and Mandel, 1982, within languages).
Sites of one language may show the same items, so their errors have a part in common, which further
sites do not average out. Where sites differ less than their errors would make them, this part is
estimated from it, and where they do not, it counts as none.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm
from scipy.stats import t as student

from analysis.statistics.resample import LEVEL, Codes, Floats

_LARGEST_RATIO = 1e6  # of the variance between sites and the largest error's


@dataclass(frozen=True, slots=True)
class Languages:
    """The effects of languages, each from its sites.

    Attributes:
        estimate: Shape ``(languages,)``.
        error: Shape ``(languages,)``: their standard errors.
        half: Shape ``(languages,)``: half of their intervals.
        sd: The standard deviation of true effects between sites of one language.
        p_equal: Of equal true effects at all sites of each language (Cochran's Q).
    """

    estimate: Floats
    error: Floats
    half: Floats
    sd: float
    p_equal: float


def join_sites(
    estimates: Floats, errors: Floats, language: Codes, level: float = LEVEL
) -> Languages:
    """Return each language's effect, from all of its sites.

    Args:
        estimates: Shape ``(sites,)``.
        errors: Shape ``(sites,)``: their standard errors, above 0.
        language: Shape ``(sites,)``: each site's language, from 0 without gaps; one or more has
            several sites.
        level: Of the intervals; by Student's t if the sites differ by more than chance.
    """
    freedom = len(estimates) - int(language.max()) - 1
    variances = errors**2
    q = _q_within(estimates, variances, language)
    between, common = 0.0, max(0.0, 1 - q / freedom)
    if q > freedom:
        largest = _LARGEST_RATIO * float(variances.max() + np.var(estimates))
        between = float(
            brentq(lambda v: _q_within(estimates, variances + v, language) - freedom, 0, largest)
        )
    weight = 1 / (variances + between)
    weight /= np.bincount(language, weight)[language]
    parts = weight * errors
    variance = (
        (1 - common) * np.bincount(language, parts**2)
        + common * np.bincount(language, parts) ** 2
        + between * np.bincount(language, weight**2)
    )
    error = np.sqrt(variance)
    share = (1 + level) / 2
    quantile = student.ppf(share, freedom) if between else norm.ppf(share)
    return Languages(
        np.bincount(language, weight * estimates).astype(float),
        error,
        float(quantile) * error,
        float(np.sqrt(between)),
        float(chi2.sf(q, freedom)),
    )


def compare_with_others(
    estimates: Floats, errors: Floats, language: Codes
) -> tuple[Floats, Floats]:
    """Return how far each site is from its language's other sites, and the standard error.

    NaN for the only site of a language.

    Args:
        estimates: Shape ``(sites,)``.
        errors: Shape ``(sites,)``: their standard errors, above 0.
        language: Shape ``(sites,)``: each site's language, from 0 without gaps.
    """
    weight = errors**-2.0
    others = np.bincount(language, weight)[language] - weight
    sums = np.bincount(language, weight * estimates)[language] - weight * estimates
    is_alone = np.bincount(language)[language] == 1
    others = np.where(is_alone, np.nan, others)
    return estimates - sums / others, np.sqrt(errors**2 + 1 / others)


def _q_within(estimates: Floats, variances: Floats, language: Codes) -> float:
    weight = 1 / variances
    mean = np.bincount(language, weight * estimates) / np.bincount(language, weight)
    return float(weight @ (estimates - mean[language]) ** 2)
