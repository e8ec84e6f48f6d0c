"""How far a model's choices among several options are from people's, with intervals.

The distance is the total variation distance: half the sum of the absolute differences between the
two shares of each option, which is the share of choices that would have to change for the two to
be equal. Shares of 0, as of options that nobody chose, need no smoothing, unlike in divergences.
Each item counts alike. Intervals are of the crossed bootstrap (``analysis.statistics.resample``):
participants and frames are drawn, for people and for the model the same frames.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from analysis.statistics.resample import (
    Codes,
    Floats,
    codes,
    draw_counts,
    mean_or_nan,
    percentile_interval,
    resample_batches,
)
from analysis.statistics.withheld import SHARE, too_few_units

_SPLITS = 200


def option_distances(
    judgments: pd.DataFrame,
    models: Mapping[str, pd.DataFrame],
    rng: np.random.Generator,
    resamples: int,
) -> pd.DataFrame:
    """Return the distance of each model's shares from people's, over all items given.

    Args:
        judgments: One row per choice: participant, item_id, frame, version.
        models: Each model's share of each option of each item; rows are items, columns versions.
        rng: The source of randomness.
        resamples: The number of resamples.

    Returns:
        One row per model: judge, distance, distance_low, distance_high (NaN with few answers),
        halves (the mean distance between two random halves of the participants; NaN without),
        n_judgments, n_items, n_participants, n_frames.
    """
    shares = _OptionShares(judgments, models)
    estimates = shares.distances(np.ones((1, shares.n_people)), np.ones((1, shares.n_frames)))[0]
    blocks = resample_batches(resamples, sum(shares.size))
    resampled = np.concatenate([
        shares.distances(
            draw_counts(rng, shares.n_people, size), draw_counts(rng, shares.n_frames, size)
        )
        for size in blocks
    ])  # fmt: skip
    n_people = int(judgments["participant"].nunique())
    has_few = len(judgments) < SHARE or bool(too_few_units([n_people], [shares.n_frames])[0])
    halves = shares.half_distance(rng) if models and n_people > 1 else np.nan
    rows = []
    for number, model in enumerate(models):
        interval = percentile_interval(resampled[:, number])
        rows.append(
            {
                "judge": model,
                "distance": estimates[number],
                "distance_low": np.nan if has_few else interval.low,
                "distance_high": np.nan if has_few else interval.high,
            }
        )
    return pd.DataFrame(rows).assign(
        halves=halves,
        n_judgments=len(judgments),
        n_items=shares.size[1],
        n_participants=n_people,
        n_frames=shares.n_frames,
    )


class _OptionShares:
    """People's counts of each option, and the models' shares, over the same items and options."""

    def __init__(self, judgments: pd.DataFrame, models: Mapping[str, pd.DataFrame]) -> None:
        items = pd.Index(judgments["item_id"].astype(str).unique())
        versions = dict.fromkeys(judgments["version"].astype(str))
        for shares in models.values():
            versions |= dict.fromkeys(map(str, shares.columns))
        people, self.n_people = codes(judgments["participant"])
        frames, self.n_frames = codes(judgments["frame"])
        places = items.get_indexer(pd.Index(judgments["item_id"].astype(str)))
        self._frame_of_item: Codes = np.zeros(len(items), np.intp)
        self._frame_of_item[places] = frames
        self.size = self.n_people, len(items)
        chosen = judgments["version"].astype(str).to_numpy()
        self._counts = [
            coo_array(((chosen == version).astype(float), (people, places)), self.size).tocsr()
            for version in versions
        ]
        self._models = [
            shares.reindex(index=items, columns=pd.Index([*versions])).fillna(0.0).to_numpy(float)
            for shares in models.values()
        ]

    def distances(self, people: Floats, frames: Floats) -> Floats:
        """Return the models' distances under weights of participants and frames.

        Args:
            people: Shape ``(draws, participants)``.
            frames: Shape ``(draws, frames)``.

        Returns:
            Shape ``(draws, models)``.
        """
        by_item, is_judged = self._shares_by_item(people)
        weights = frames[:, self._frame_of_item] * is_judged
        with np.errstate(invalid="ignore"):
            weights /= weights.sum(axis=1, keepdims=True)
        of_people = np.einsum("kdi,di->dk", by_item, weights)
        return np.stack(
            [0.5 * np.abs(of_people - weights @ shares).sum(axis=1) for shares in self._models],
            axis=1,
        )

    def half_distance(self, rng: np.random.Generator) -> float:
        """Return the mean distance between two random halves of the people on shared items."""
        order = rng.permuted(np.tile(np.arange(self.n_people), (_SPLITS, 1)), axis=1)
        first = (order < self.n_people // 2).astype(float)
        distances = []
        for half in first:
            halves, is_judged = self._shares_by_item(np.stack([half, 1 - half]))
            in_both = is_judged.all(axis=0)
            if not in_both.any():
                continue
            means = halves[:, :, in_both].mean(axis=2)
            distances.append(0.5 * np.abs(means[:, 0] - means[:, 1]).sum())
        return mean_or_nan(np.array(distances))

    def _shares_by_item(self, people: Floats) -> tuple[Floats, Floats]:
        """Return shares of each option, draw and item, and which items were judged in each draw."""
        counts = np.stack([people @ of_option for of_option in self._counts])
        totals = counts.sum(axis=0)
        shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
        return shares, (totals > 0).astype(float)
