"""People's accuracy in groups of items that share items, such as those that hold a certain word."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from analysis.statistics.accuracy import interval
from analysis.statistics.resample import Cells, codes, crossed_bootstrap

Codes = NDArray[np.intp]


def overlapping_accuracy(
    judgments: pd.DataFrame, item: Codes, group: Codes, rng: np.random.Generator, resamples: int
) -> pd.DataFrame:
    """Return people's accuracy on each group of items; an item may be in any number of groups.

    Judgments are not copied for each group: there may be millions of them.

    Args:
        judgments: One row per judgment, as ``analysis.join.judgments`` gives them.
        item: Shape ``(n,)``: an item, numbered in the order of their first judgments.
        group: Shape ``(n,)``: a group it is in.
        rng: The source of randomness.
        resamples: How many times to resample.

    Returns:
        One row per group that holds an item: group, accuracy, low, high (as of
        ``accuracy.people_accuracy``), n_judgments, n_items.
    """
    order = np.lexsort((item, group))
    item, group = item[order], group[order]
    groups, starts, n_items = np.unique(group, return_index=True, return_counts=True)
    person, n_people = codes(judgments["participant"])
    judged_item, n = codes(judgments["item_id"])
    right, judged = (
        coo_array((values, (person, judged_item)), (n_people, n)).tocsr()
        for values in (judgments["chose_good"].to_numpy(dtype=float), np.ones(len(judgments)))
    )
    n_right, n_judged = (
        np.add.reduceat(np.asarray(counts.sum(axis=0))[item], starts) for counts in (right, judged)
    )
    draws = crossed_bootstrap(Cells(right, judged, starts, item), rng, resamples)
    # Only where all judgments agree does the interval ask how many clusters there are.
    agree = (n_right == 0) | (n_right == n_judged)
    ends = [
        interval(drawn, int(correct), int(total), _clusters(judged, own) if alike else 0)
        for drawn, correct, total, own, alike in zip(
            draws.T, n_right, n_judged, np.split(item, starts[1:]), agree, strict=True
        )
    ]
    return pd.DataFrame(
        {
            "group": groups,
            "accuracy": n_right / n_judged,
            "low": [one.low for one in ends],
            "high": [one.high for one in ends],
            "n_judgments": n_judged.astype(int),
            "n_items": n_items,
        }
    )


def _clusters(judged: csr_array, items: Codes) -> int:
    """Return how many participants judged some items, or how many items, whichever are fewer."""
    people = int(np.count_nonzero(judged[:, items].sum(axis=1)))
    return min(people, len(items))
