"""How far the answers of two random halves of the people agree over the texts."""

import numpy as np
import pandas as pd

from analysis.statistics.ceiling import split_half
from analysis.typed.cloze import list_answers, people_of
from analysis.typed.same_answers import SameAnswers

_MOST_SPLITS = 1000


def correlate_halves(
    judgments: pd.DataFrame,
    counts: pd.DataFrame,
    same: SameAnswers,
    rng: np.random.Generator,
    resamples: int,
) -> pd.DataFrame:
    """Return the correlation over texts of two halves' shares of each text's most frequent answer.

    Args:
        judgments: As for ``analysis.typed.cloze.count_answers``, with list.
        counts: What ``count_answers`` returns of them.
        same: The answers as which texts count.
        rng: The source of randomness.
        resamples: The report's number of resamples, the most that are used.

    Returns:
        One row: n_texts, n_splits, halves (the mean correlation over splits) and whole (stepped up
        by Spearman and Brown's formula to groups of all people); NaN if texts are few or alike.
    """
    frequent = counts.drop_duplicates(["item_id", "version"])
    keys = zip(frequent["item_id"], frequent["version"], frequent["answer"], strict=True)
    given = list_answers(judgments, same)
    columns = [given[name] for name in ("item_id", "version", "person", "answer")]
    wanted = set(keys)
    gave = {
        (item_id, version, person)
        for item_id, version, person, answer in zip(*columns, strict=True)
        if (item_id, version, answer) in wanted
    }
    rows = judgments.astype({"item_id": str, "version": str}).assign(person=people_of(judgments))
    rows = rows.drop_duplicates(["item_id", "version", "person"])
    trials = zip(rows["item_id"], rows["version"], rows["person"], strict=True)
    rows = rows.assign(
        chose_good=[float(trial in gave) for trial in trials],
        item_id=rows["item_id"] + "\0" + rows["version"],
    )
    n_splits = min(_MOST_SPLITS, resamples)
    reliability = split_half(rows, rng, n_splits).iloc[0]
    return pd.DataFrame(
        [
            {
                "n_texts": rows["item_id"].nunique(),
                "n_splits": n_splits,
                "halves": reliability["pearson_half"],
                "whole": reliability["pearson"],
            }
        ]
    )
