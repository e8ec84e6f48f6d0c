"""The inclusion probabilities of frames that were drawn where models differ, for each judgment."""

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun
from experiment.design.separating import read_inclusion

WEIGHT, PROBABILITY, STRATUM = "inclusion_weight", "inclusion_probability", "inclusion_stratum"
PAIR = "inclusion_pair"
COLUMNS = (WEIGHT, PROBABILITY, STRATUM, PAIR)
_ALIKE = {WEIGHT: 1.0, PROBABILITY: 0.0, STRATUM: 0, PAIR: 0}
_CODES = {STRATUM: np.intp, PAIR: np.intp}


def load_inclusion(run: ExportedRun) -> pd.DataFrame:
    """Return the table of the frames that could be drawn; empty if frames were drawn alike.

    Returns:
        The table's columns; inclusion_weight, the inverse of the probability relative to an equal
        one, so that a template, or a pair of frames, counts as much as in a random draw;
        inclusion_stratum, the number of the stratum in the template, from 1, of which a template
        with pairs has one; inclusion_pair, the number of the pair, 0 without one.

    Raises:
        DesignError: The table is missing in the export.
        TableError: The table is malformed.
    """
    frames = pd.DataFrame([] if run.of_parts else read_inclusion(run.study))
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
            STRATUM: frames.groupby(strata).ngroup() + 1,
            PAIR: (of_pairs.ngroup() + 1).where(in_pairs, 0),
        }
    )


def inclusion_columns(run: ExportedRun) -> pd.DataFrame | None:
    """Return what is known of the draw of each item; None if frames were drawn alike.

    Returns:
        In the order of ``run.items``: inclusion_weight, inclusion_probability, inclusion_stratum,
        inclusion_pair. An item that is not drawn by probability has the weight 1 and the
        probability 0: it represents an unlimited number of items, as do the frames of a pair,
        which chance chose first.
    """
    frames = load_inclusion(run)
    if frames.empty:
        return None
    known = frames.rename(columns={"probability": PROBABILITY})
    known[PROBABILITY] = known[PROBABILITY].where(known[PAIR] == 0, 0.0)
    keys = run.items[["template", "frame"]].astype(str)
    rows = keys.merge(known, "left", on=["template", "frame"])[[*COLUMNS]]
    return rows.fillna(_ALIKE).astype(_CODES)


def add_inclusion(decided: pd.DataFrame, run: ExportedRun) -> pd.DataFrame:
    """Add the columns of ``inclusion_columns`` to rows with the column item_id, if there are any.

    Items that no list has get the values of items that are not drawn by probability.
    """
    columns = inclusion_columns(run)
    if columns is None:
        return decided
    columns.index = pd.Index(run.items["item_id"].astype(str))
    of_rows = columns.reindex(decided["item_id"].astype(str)).reset_index(drop=True)
    of_rows = of_rows.fillna(_ALIKE).astype(_CODES)
    return pd.concat([decided, of_rows], axis=1)
