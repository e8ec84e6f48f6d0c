"""Separate targets from fillers and catch trials: a report's statistics use targets only.

The item's kind in the materials decides. A target that a design also uses as a catch
trial, as Marvin & Linzen's lists do, stays a target.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.categorical import find_codes
from analysis.data.join import Joined
from experiment.records import Kind
from experiment.studies.study import Study


def keep_targets(data: Joined) -> Joined:
    """Return the judgments and decisions of targets; judgments of other items go to ``others``.

    If no target was judged, all judgments stay together.
    """
    is_target = find_targets(data.judgments, data.items)
    if is_target.all() or not is_target.any():
        return data
    nontargets = data.judgments[~is_target].reset_index(drop=True)
    nontarget_ids = data.items.loc[data.items["kind"].astype(str) != Kind.TARGET, "item_id"]
    decisions = {
        model: frame[find_codes(frame["item_id"], pd.Index(nontarget_ids)) < 0].reset_index(
            drop=True
        )
        for model, frame in data.decisions.items()
    }
    judgments = data.judgments[is_target].reset_index(drop=True)
    return replace(data, judgments=judgments, decisions=decisions, others=nontargets)


def find_targets(judgments: pd.DataFrame, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which judgments are of items that are targets in the materials."""
    item_ids = pd.Index(items["item_id"])
    target = (items["kind"].astype(str) == Kind.TARGET).to_numpy()
    is_judged_target: NDArray[np.bool_] = target[find_codes(judgments["item_id"], item_ids)]
    return is_judged_target


def add_kinds(other_judgments: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return judgments of fillers and catch trials with ``kind`` taken from the materials."""
    kinds = dict(zip(items["item_id"].astype(str), items["kind"].astype(str), strict=True))
    return other_judgments.assign(kind=other_judgments["item_id"].astype(str).map(kinds))


def study_of_targets(study: Study, items: pd.DataFrame) -> Study:
    """Return a study without the constructions that consist of fillers or catch trials only."""
    construction, kind = items["construction"].astype(str), items["kind"].astype(str)
    with_targets = set(construction[kind == Kind.TARGET])
    without_targets = set(construction) - with_targets if with_targets else set()
    constructions = [
        declared for declared in study.constructions if declared.name not in without_targets
    ]
    return (
        study.model_copy(update={"constructions": constructions})
        if without_targets and constructions
        else study
    )
