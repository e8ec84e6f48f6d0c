"""Separate targets from fillers and catch trials: a report's statistics use targets only.

The item's kind in the materials decides. A target that a design also uses as a catch
trial, as Marvin & Linzen's lists do, stays a target.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.categorical import codes_in
from analysis.data.join import Joined
from experiment.records import Kind
from experiment.studies.study import Study


def targets_alone(data: Joined) -> Joined:
    """Return the judgments and decisions of targets; judgments of other items go to ``others``.

    If no target was judged, all judgments stay together.
    """
    chosen = are_targets(data.judgments, data.items)
    if chosen.all() or not chosen.any():
        return data
    others = data.judgments[~chosen].reset_index(drop=True)
    apart = data.items.loc[data.items["kind"].astype(str) != Kind.TARGET, "item_id"]
    decisions = {
        model: frame[codes_in(frame["item_id"], pd.Index(apart)) < 0].reset_index(drop=True)
        for model, frame in data.decisions.items()
    }
    judgments = data.judgments[chosen].reset_index(drop=True)
    return replace(data, judgments=judgments, decisions=decisions, others=others)


def are_targets(judgments: pd.DataFrame, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which judgments are of items that are targets in the materials."""
    known = pd.Index(items["item_id"])
    target = (items["kind"].astype(str) == Kind.TARGET).to_numpy()
    found: NDArray[np.bool_] = target[codes_in(judgments["item_id"], known)]
    return found


def with_kinds(others: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return judgments of fillers and catch trials with ``kind`` taken from the materials."""
    kinds = dict(zip(items["item_id"].astype(str), items["kind"].astype(str), strict=True))
    return others.assign(kind=others["item_id"].astype(str).map(kinds))


def study_of_targets(study: Study, items: pd.DataFrame) -> Study:
    """Return a study without the constructions that consist of fillers or catch trials only."""
    construction, kind = items["construction"].astype(str), items["kind"].astype(str)
    with_targets = set(construction[kind == Kind.TARGET])
    apart = set(construction) - with_targets if with_targets else set()
    kept = [declared for declared in study.constructions if declared.name not in apart]
    return study.model_copy(update={"constructions": kept}) if apart and kept else study
