"""In which order constructions are learned, compared between trainings and with a table of ages."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import norm

from analysis.errors import AnalysisError
from analysis.statistics.resample import LEVEL, Floats
from experiment.errors import why_unread

FEWEST_CONSTRUCTIONS = 4
_COLUMNS = ("construction", "age")


def kendall(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b of two orders, for each of several resamples.

    Args:
        first: Shape ``(resamples, constructions)``: times; infinite ones are tied.
        second: The same.

    Returns:
        Shape ``(resamples,)``; NaN where all constructions of an order are tied.
    """
    one, two = np.triu_indices(first.shape[1], 1)
    signs = [
        (times[:, one] > times[:, two]).astype(float) - (times[:, one] < times[:, two])
        for times in (first, second)
    ]
    product = (signs[0] * signs[1]).sum(axis=1)
    size = np.sqrt((signs[0] ** 2).sum(axis=1) * (signs[1] ** 2).sum(axis=1))
    tau = np.divide(product, size, out=np.full(len(product), np.nan), where=size > 0)
    return np.asarray(tau, np.float64)


def kendall_with_interval(
    first: Floats, second: Floats, drawn_first: Floats, drawn_second: Floats
) -> tuple[float, float, float]:
    """Return tau-b with its 95% interval, the estimate plus and minus 1.96 standard errors.

    The resamples give the standard error only: they are noisier than the data, so that their own
    correlations are too low.

    Args:
        first: Shape ``(constructions,)``: the times of one order.
        second: Those of the other.
        drawn_first: Shape ``(resamples, constructions)``.
        drawn_second: The same.
    """
    [tau] = kendall(first[None], second[None])
    reach = norm.isf((1 - LEVEL) / 2) * np.nanstd(kendall(drawn_first, drawn_second))
    return float(tau), float(max(-1.0, tau - reach)), float(min(1.0, tau + reach))


def read_ages(path: Path) -> Mapping[str, float]:
    """Return the age of each construction from a table with ``construction`` and ``age``.

    Raises:
        AnalysisError: The file cannot be read, lacks a column, or an age is not a number.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {row[_COLUMNS[0]]: float(row[_COLUMNS[1]]) for row in csv.DictReader(file)}
    except (OSError, UnicodeDecodeError) as error:
        raise AnalysisError(
            f"the table of ages cannot be read ({why_unread(error)})", where=str(path)
        ) from error
    except (KeyError, ValueError, TypeError) as error:
        raise AnalysisError(
            f"the table of ages has a row that cannot be used ({error})",
            where=str(path),
            expected="a CSV file with the columns construction and age, a number in each row",
        ) from error


def why_no_ages(ages: Mapping[str, float], constructions: Sequence[str]) -> list[str]:
    """Return why no order is compared with the ages; nothing if one is, or if there are none."""
    names = [name for name in constructions if name]
    n_known = sum(name in ages for name in names)
    if not ages or n_known >= FEWEST_CONSTRUCTIONS:
        return []
    return [
        f"The table of ages is left out: it has {n_known} of the constructions "
        f"{', '.join(names)}, and an order needs at least {FEWEST_CONSTRUCTIONS}."
    ]
