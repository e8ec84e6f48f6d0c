"""Choices among three options or more: what the screen showed, and what a model would choose."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun, Scores
from experiment.records import Variant

Options = Mapping[str, tuple[str, ...]]


def options_of(run: ExportedRun) -> dict[str, tuple[str, ...]]:
    """Return the versions that each item shows, the good one first.

    Nothing where pairs are shown, or one version at a time.
    """
    if "options" not in run.trials:
        return {}
    shown = run.trials[["item_id", "options"]].astype(str).drop_duplicates("item_id")
    if not shown["options"].str.contains(" ").any():
        return {}
    return {
        item: (Variant.GOOD, *sorted(set(options.split()) - {Variant.GOOD}))
        for item, options in zip(shown["item_id"], shown["options"], strict=True)
    }


def chance(run: ExportedRun) -> float:
    """Return how often the good option would be hit without reading."""
    sizes = [len(options) for options in options_of(run).values()]
    return float(np.mean([1 / size for size in sizes])) if sizes else 0.5


def choices(scores: Scores, options: Options) -> pd.DataFrame:
    """Return which option a model gives the highest score on each item.

    Args:
        scores: The model's scores.
        options: The items' options, as ``options_of`` gives them.

    Returns:
        One row per item: item_id, version (empty on a tie), logprob_good_nats, logprob_best_nats
        (of the others), tie, n_scored (how many of its options have a score).
    """
    frame = scores.frame
    known = pd.MultiIndex.from_arrays([frame["item_id"].astype(str), frame["variant"].astype(str)])
    logprobs = pd.Series(frame["logprob_nats"].to_numpy(), known)
    pairs = pd.MultiIndex.from_tuples(
        [(item, name) for item, own in options.items() for name in own]
    )
    table = logprobs.reindex(pairs).unstack()
    others = table.drop(columns=Variant.GOOD).max(axis=1)
    best = table.max(axis=1)
    tied = table.eq(best, axis=0).sum(axis=1) > 1
    return pd.DataFrame(
        {
            "item_id": table.index,
            "version": table.idxmax(axis=1).where(~tied, "").to_numpy(),
            "logprob_good_nats": table[Variant.GOOD].to_numpy(),
            "logprob_best_nats": others.to_numpy(),
            "tie": (table[Variant.GOOD] == others).to_numpy(),
            "n_scored": table.notna().sum(axis=1).to_numpy(),
        }
    )


def among_all(decisions: pd.DataFrame, scores: Scores, options: Options) -> pd.DataFrame:
    """Return a model's decisions with all options against the good one, where items have them.

    Args:
        decisions: As ``analysis.data.join.decisions`` gives them, of good and one against it.
        scores: The model's scores.
        options: The items' options.
    """
    if not options:
        return decisions
    found = choices(scores, options).set_index("item_id")
    own = found.reindex(decisions["item_id"].astype(str))
    shown = own["n_scored"].notna().to_numpy()
    best = np.where(shown, own["logprob_best_nats"], decisions["logprob_contrast_nats"])
    good = decisions["logprob_good_nats"].to_numpy()
    return decisions.assign(logprob_contrast_nats=best, correct=good > best, tie=good == best)
