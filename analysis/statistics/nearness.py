"""Which of two models is nearer to people: how often each chooses what people choose."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.data.categorical import find_codes
from analysis.data.declared import clustering_column
from analysis.statistics.clustered import student_interval, two_way_variance
from analysis.statistics.drawn_frames import find_drawn
from analysis.statistics.resample import codes
from analysis.statistics.withheld import too_few_units


def nearer_to_people(
    judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Return how much more often people agree with one model than with another.

    Judgments on which the models agree contribute 0. The variance is the two-way clustered one.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.
        decisions: Each model's decisions; they cover every judged item.

    Returns:
        For each pair of models: first_model, second_model, first and second (the shares of
        judgments that agree with each), difference, low, high (95%), p (of no difference),
        n_judgments, n_differing (judgments of items on which the models differ), n_participants,
        n_frames. Without enough participants or frames there is neither interval nor p.
    """
    unit = codes(judgments[clustering_column(judgments)])[0]
    person, drawn = codes(judgments["participant"])[0], find_drawn(judgments)
    chosen = judgments["chose_good"].to_numpy(dtype=bool)
    weight = np.ones(len(judgments)) if drawn is None else drawn.weight
    share = weight / weight.sum()
    agreement = {}
    for model, frame in decisions.items():
        index = find_codes(judgments["item_id"], pd.Index(frame["item_id"].tolist()))
        agreement[model] = (frame["correct"].to_numpy(dtype=bool)[index] == chosen).astype(float)
    n_people, n_frames = judgments["participant"].nunique(), unit.max() + 1
    too_few = bool(too_few_units(n_people, n_frames))
    rows = []
    for first, second in combinations(agreement, 2):
        differences = agreement[first] - agreement[second]
        mean = float(share @ differences)
        variance = two_way_variance(
            share * (differences - mean), person, unit, np.zeros_like(unit), drawn=drawn
        )
        total = float("nan") if too_few else float(variance.total[0])
        rows.append(
            {
                "first_model": first,
                "second_model": second,
                "first": float(share @ agreement[first]),
                "second": float(share @ agreement[second]),
                "difference": mean,
                **student_interval(mean, total, float(variance.freedom[0])),
                "n_judgments": len(judgments),
                "n_differing": int(np.count_nonzero(differences)),
                "n_participants": n_people,
                "n_frames": n_frames,
            }
        )
    return pd.DataFrame(rows)
