"""Scores of several options, for findings that are computed by hand."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pandas as pd


def scores_of_options(logprobs: Mapping[str, Mapping[str, float]], model: str = "lstm") -> Any:
    """Return a model's scores, from the log-probability of each option of each item."""
    rows = [
        {"item_id": item, "variant": version, "logprob_nats": nats}
        for item, of_item in logprobs.items()
        for version, nats in of_item.items()
    ]
    return SimpleNamespace(frame=pd.DataFrame(rows), facts=SimpleNamespace(model=model))
