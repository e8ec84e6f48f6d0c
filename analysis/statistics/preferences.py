"""Participants' preferences on each item, and a model's preferences."""

import numpy as np
import pandas as pd

from analysis.data.categorical import decode, groups


def preferences(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return participants' choices on each item.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.

    Returns:
        One row per item: item_id, construction, condition, n_good (judgments that chose the
        expected version), n_judgments, share_good, count_difference (expected minus other).
    """
    keys = ["item_id", "construction", "condition"]
    grouped = groups(judgments, keys)
    n_good, n = grouped.sums(judgments["chose_good"]), grouped.size
    return pd.DataFrame(
        {
            **grouped.keys,
            "n_good": n_good,
            "n_judgments": n,
            "share_good": n_good / n,
            "count_difference": 2 * n_good - n,
        }
    )


def with_model_scores(preferred: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Add a model's preference to each judged item.

    Args:
        preferred: One row per item, from ``preferences``.
        decisions: One row per item, from ``analysis.data.join.decisions``; they cover every judged
            item (checked by ``analysis.data.join.check_same_items``).

    Returns:
        The rows of ``preferred`` with difference_nats (log-probability of the expected version
        minus that of the other version) and correct.
    """
    model = pd.DataFrame(
        {
            "item_id": decode(decisions[["item_id"]])["item_id"],
            "difference_nats": decisions["logprob_good_nats"] - decisions["logprob_contrast_nats"],
            "correct": decisions["correct"],
        }
    )
    # Two impossible versions (-inf each) count as a tie.
    model["difference_nats"] = model["difference_nats"].fillna(0.0)
    model["difference_nats"] = model["difference_nats"].clip(*_finite(model["difference_nats"]))
    return preferred.merge(model, "inner", on="item_id", validate="one_to_one")


def _finite(differences: "pd.Series[float]") -> tuple[float, float]:
    """Return the smallest and largest finite difference, to replace infinite differences."""
    finite = differences[np.isfinite(differences)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
