"""What repeats over conditions: the unit that intervals and random effects take for one draw."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

UNIT = "frame"
Codes = NDArray[np.intp]


def frames_of(items: pd.DataFrame) -> Codes:
    """Return the number of each item's frame; items of one template share theirs.

    The items of a frame have the same words but for what the conditions change. They are not
    independent: what is hard in one condition is hard in the others. An item without a frame is
    one of its own.

    Args:
        items: The table of items; its order decides the numbers, from 0.
    """
    frame = items["frame"].astype(str)
    alone = (frame == "").to_numpy()
    key = items["template"].astype(str) + "\0" + frame
    key = key.where(~alone, "\0" + items["item_id"].astype(str))
    return pd.factorize(key)[0].astype(np.intp)


def unit_column(judgments: pd.DataFrame) -> str:
    """Return the column of judgments by which they cluster beside their participants.

    It is the frame, where judgments say it; otherwise the item.
    """
    return UNIT if UNIT in judgments else "item_id"
