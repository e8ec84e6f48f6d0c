"""MORCELA: a linking of log-probabilities to acceptability whose corrections are fitted."""

import numpy as np
import pandas as pd

from analysis.statistics.resample import Floats, codes

_FOLDS = 10
# Four numbers are fitted; with fewer items of a fold's others they would follow single items.
FEWEST_ITEMS = 24


def out_of_sample(
    people: Floats, per_token: Floats, unigram_per_token: Floats, tokens: Floats,
    unit: "pd.Series[str]", rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Return each item's predicted acceptability, fitted on items of other units.

    SLOR takes the whole unigram log-probability away and divides by the length. MORCELA,
    ``(log p - beta log unigram p + gamma) / tokens``, fits how much of both is taken: by least
    squares of people's judgments, in ten folds over units, so that no item takes part in its own
    prediction. Tjuatja, L., Neubig, G., Linzen, T. & Hao, S. (2025). What goes into a LM
    acceptability judgment? Rethinking the impact of frequency and length. NAACL 2025.

    Args:
        people: Shape ``(items,)``: mean judgments.
        per_token: Shape ``(items,)``: log-probabilities over tokens.
        unigram_per_token: Shape ``(items,)``: the same of a unigram model.
        tokens: Shape ``(items,)``: numbers of tokens.
        unit: What repeats over conditions, of each item.
        rng: Deals the units to folds.

    Returns:
        Shape ``(items,)``; NaN with fewer than ``FEWEST_ITEMS`` items or two units.
    """
    number, n_units = codes(unit)
    found = np.full(len(people), np.nan)
    if len(people) < FEWEST_ITEMS or n_units < 2:
        return found
    columns = np.column_stack([np.ones(len(people)), per_token, unigram_per_token, 1 / tokens])
    fold = rng.permutation(np.arange(n_units) % min(_FOLDS, n_units))[number]
    for each in np.unique(fold):
        others = fold != each
        weights, *_ = np.linalg.lstsq(columns[others], people[others], rcond=None)
        found[~others] = columns[~others] @ weights
    return found
