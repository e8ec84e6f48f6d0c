"""The inclusion probabilities of frames that were drawn where models differ, for each judgment."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun
from experiment.design.separating import Inclusion, read_inclusion

WEIGHT, PROBABILITY, STRATUM = "inclusion_weight", "inclusion_probability", "inclusion_stratum"
PAIR = "inclusion_pair"
COLUMNS = (WEIGHT, PROBABILITY, STRATUM, PAIR)
_ALIKE = {WEIGHT: 1.0, PROBABILITY: 0.0, STRATUM: 0, PAIR: 0}
_CODES = {STRATUM: np.intp, PAIR: np.intp}


def load_inclusion(run: ExportedRun) -> pd.DataFrame:
    """Return the table of the frames that could be drawn; empty if frames were drawn alike.

    Returns:
        The columns of ``weigh_frames``.

    Raises:
        DesignError: The table is missing in the export.
        TableError: The table is malformed.
    """
    return weigh_frames([] if run.of_parts else read_inclusion(run.study))


def weigh_frames(rows: Sequence[Inclusion]) -> pd.DataFrame:
    """Return a table of inclusion probabilities with each frame's weight; empty without rows.

    Returns:
        The table's columns; inclusion_weight, the inverse of the probability relative to an equal
        one, so that a template, or a pair of frames, counts as much as in a random draw;
        inclusion_probability, 0 for the frames of a pair: chance chose them first, so they
        represent an unlimited number; inclusion_stratum, the number of the stratum in the template,
        from 1, of which a template with pairs has one; inclusion_pair, the number of the pair, 0
        without one.
    """
    frames = pd.DataFrame(rows)
    if frames.empty:
        return frames
    frames["pair"] = frames["pair"].fillna(0).astype(int)
    in_pairs = frames["pair"] > 0
    of_pairs = frames.groupby(["template", "pair"])
    equal = of_pairs["probability"].transform("mean")
    strata = [frames["template"], frames["stratum"].where(~in_pairs, "")]
    return frames.assign(
        **{
            WEIGHT: equal / frames["probability"],
            PROBABILITY: frames["probability"].where(~in_pairs, 0.0),
            STRATUM: frames.groupby(strata).ngroup() + 1,
            PAIR: (of_pairs.ngroup() + 1).where(in_pairs, 0),
        }
    )


def add_inclusion(decided: pd.DataFrame, items: pd.DataFrame, frames: pd.DataFrame) -> pd.DataFrame:
    """Add what is known of the draw of each row's item, if frames were drawn by probability.

    Args:
        decided: Rows with the column item_id.
        items: The items, with item_id, template and frame.
        frames: From ``weigh_frames``.

    Returns:
        The rows with inclusion_weight, inclusion_probability, inclusion_stratum, inclusion_pair. An
        item that is not drawn by probability, or that no list has, gets the weight 1 and the
        probability 0: it represents an unlimited number of items.
    """
    if frames.empty:
        return decided
    keys = items[["template", "frame"]].astype(str)
    of_items = keys.merge(frames, "left", on=["template", "frame"])[[*COLUMNS]]
    of_items.index = pd.Index(items["item_id"].astype(str))
    of_rows = of_items.reindex(decided["item_id"].astype(str)).reset_index(drop=True)
    return pd.concat([decided, of_rows.fillna(_ALIKE).astype(_CODES)], axis=1)
