"""The variance of a difference by plain dense algebra, to hold ``levels_off`` against."""

import numpy as np
import pandas as pd


def dummies(values) -> np.ndarray:
    return pd.get_dummies(pd.Series(values).astype(str)).to_numpy(dtype=float)


def dense(values, weight, cell, person, frame) -> tuple[float, float]:
    """Variance and freedom where levels of participants and of frames cancel quite.

    Each of three sums of squares over the share of it that the projection leaves, by a full matrix.
    """
    design = np.hstack([dummies(person), dummies(frame), dummies(cell)])
    left = np.eye(len(values)) - design @ np.linalg.pinv(design)
    moved = np.asarray(weight)[:, None] * (left @ np.asarray(values, float))[:, None]
    found, freedoms = [], []
    for names in (person, frame):
        clusters = dummies(names)
        own = np.asarray(weight)[:, None] * clusters
        share = np.trace(own.T @ left @ own) / np.sum(own**2)
        found.append(float(((clusters.T @ moved) ** 2).sum()) / share)
        freedoms.append(clusters.shape[1] * share)
    rest = np.trace(left)
    alone = float((moved**2).sum()) * len(values) / rest
    least = (1 - 3.5 / (min(freedoms) + 1)) * max(found)
    total = max(sum(found) - alone, least)
    each = sum(one**2 / free for one, free in zip((*found, alone), (*freedoms, rest), strict=True))
    return total, float(np.clip(total**2 / each, min(freedoms), rest))
