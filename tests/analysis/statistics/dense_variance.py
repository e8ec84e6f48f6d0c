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


def dense_with_levels(values, weight, cell, ways) -> tuple[float, float]:
    """The same where some levels stay and others do not cancel quite; one way or two.

    Levels stay where their clusters hold half of the weights without an opposite. What the others
    vary by beyond chance, times the squares of their weights, is added. Where a way has less than
    half a degree left there is no variance.
    """
    values, weight = np.asarray(values, float), np.asarray(weight)
    loose = [np.abs(np.bincount(way, weight)).sum() for way in ways]
    stays = [bool(one >= np.abs(weight).sum() / 2) for one in loose]
    off = [way for way, own in zip(ways, stays, strict=True) if not own]
    design = np.hstack([dummies(one) for one in (*off, cell)])
    left = np.eye(len(values)) - design @ np.linalg.pinv(design)
    residual, rest = left @ values, np.trace(left)
    levels = np.linalg.pinv(design) @ values
    noise, moved, begin = residual @ residual / max(round(rest), 1), 0.0, 0
    for way in off:
        n = np.bincount(way)
        own = levels[begin : begin + len(n)]
        begin += len(n)
        spread = max(own.var(ddof=1) - noise * np.mean(1 / n), 0)
        moved += spread * np.sum(np.bincount(way, weight) ** 2)
    parts, freedoms = [], []
    for way in ways:
        own = weight[:, None] * np.eye(way.max() + 1)[way]
        share = np.trace(own.T @ left @ own) / np.sum(own**2)
        parts.append(np.sum(np.bincount(way, weight * residual) ** 2) / share)
        freedoms.append((way.max() + 1) * share)
    if min(freedoms) < 0.5:
        return np.nan, 0.0
    if len(ways) == 1:
        return parts[0] + moved, freedoms[0]
    answers = len(values)  # nobody answers a frame twice
    parts.append(float(np.sum((weight * residual) ** 2)) * answers / max(rest, 1))
    freedoms.append(max(rest, 1))
    share = max(1 - 3.5 / (min(freedoms[:2]) + 1), 0)
    least = [part * (1 if own else share) for part, own in zip(parts, stays, strict=False)]
    total = max(parts[0] + parts[1] - parts[2], *least)
    each = sum(part**2 / free for part, free in zip(parts, freedoms, strict=True))
    fewest = min(freedoms[:2])
    return total + moved, float(np.clip(total**2 / each, fewest, max(freedoms[2], fewest)))
