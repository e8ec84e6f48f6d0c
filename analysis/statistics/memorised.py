"""Whether a model prefers a study's own items to others that are parallel to them.

If a model has not seen the items, any combination of the same words in the same templates is as
good as the study's: under this hypothesis the study and its draws are exchangeable. The test
follows Oren, Y., Meister, N., Chatterji, N., Ladhak, F. & Hashimoto, T. B. (2024). Proving test set
contamination in black box language models. ICLR 2024; they permute the order of a data set's
examples, and here the words of a template's frames are permuted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.clustered import student_interval, two_way_variance
from analysis.statistics.resample import Codes, Floats
from analysis.statistics.withheld import too_few_units

_ALPHA, _N_TESTS = 0.05, 2
# With fewer draws, no p of two tests can be below the corrected level.
FEWEST_DRAWS = round(_N_TESTS / _ALPHA) - 1
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Preference:
    """A model's preference for the study's items.

    Attributes:
        gain: The mean log-probability of the study's items minus that of fresh ones, in nats.
        rank: The mean share of an item's fresh draws with a lower log-probability (ties count
            half).
        first: The share of items with a higher log-probability than all their fresh draws.
        p: The share of the study and its draws whose summed log-probability is at least the
            study's: one-sided, and exact for random draws.
        least_p: The lowest p that these draws allow: some may repeat the whole study.
    """

    gain: float
    rank: float
    first: float
    p: float
    least_p: float


def prefer_study(of_study: Floats, of_draws: Floats, is_fresh: Flags) -> Preference:
    """Return how much higher the study's items are scored than the items parallel to them.

    Args:
        of_study: Shape ``(items,)``: log-probabilities in nats.
        of_draws: Shape ``(items, draws)``: those of the items parallel to each.
        is_fresh: Shape ``(items, draws)``: whether each is no item of the study. What is not counts
            for p alone, as a random permutation leaves some items as they are. Every item has a
            fresh draw.
    """
    n_fresh, own = is_fresh.sum(axis=1), of_study[:, None]
    higher = ((own > of_draws) & is_fresh).sum(axis=1)
    equal = ((own == of_draws) & is_fresh).sum(axis=1)
    fresh = np.where(is_fresh, of_draws, 0).sum(axis=1) / n_fresh
    at_least = (of_draws.sum(axis=0) >= of_study.sum()).sum()
    return Preference(
        float((of_study - fresh).mean()),
        float(((higher + equal / 2) / n_fresh).mean()),
        float((higher == n_fresh).mean()),
        float((1 + at_least) / (1 + of_draws.shape[1])),
        float((1 + (~is_fresh.any(axis=0)).sum()) / (1 + of_draws.shape[1])),
    )


def can_tell(least_p: Floats) -> bool:
    """Return whether draws allow any p low enough for ``is_memorised``."""
    return bool(least_p.min() <= _ALPHA / _N_TESTS)


def is_memorised(p: Floats) -> bool:
    """Return whether whole texts or second halves are preferred, by Bonferroni's correction.

    Args:
        p: Shape ``(2,)``: the p of both tests.
    """
    return bool(p.min() <= _ALPHA / _N_TESTS)


def subtract_fresh(
    correct: Floats, is_fresh: Flags, person: Codes, unit: Codes
) -> dict[str, float]:
    """Return the accuracy on the study's items minus that on fresh ones, with a 95% interval.

    The variance is the two-way clustered one of participants and frames; a fresh item counts to the
    frame of the item that it is parallel to.

    Args:
        correct: Shape ``(judgments,)``: 1 if right.
        is_fresh: Shape ``(judgments,)``.
        person: Shape ``(judgments,)``, from 0; the same for all if a model decided.
        unit: Shape ``(judgments,)``, from 0.

    Returns:
        study, fresh, difference, low, high, p; ends and p are NaN with too few participants or
        frames, or if no judgment differs.
    """
    sides = [correct[~is_fresh], correct[is_fresh]]
    study, fresh = (float(side.mean()) for side in sides)
    row = {"study": study, "fresh": fresh, "difference": study - fresh}
    row |= dict.fromkeys(("low", "high", "p"), float("nan"))
    n_people = len(np.unique(person))
    if too_few_units(n_people if n_people > 1 else 0, len(np.unique(unit))):
        return row
    influence = np.where(
        is_fresh, -(correct - fresh) / len(sides[1]), (correct - study) / len(sides[0])
    )
    variance = two_way_variance(influence, person, unit, np.zeros(len(correct), np.intp))
    total, freedom = float(variance.total[0]), float(variance.freedom[0])
    return row | (student_interval(row["difference"], total, freedom) if total > 0 else {})


def half_logprobs(tokens: Iterable[Sequence[float]]) -> Floats:
    """Return the log-probability of each text's second half of tokens, given its first half."""
    return np.array([float(np.sum(values[len(values) // 2 :])) for values in tokens])
