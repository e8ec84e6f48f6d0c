"""Choices among three or more options: the options shown, and each model's choice."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun, Scores
from experiment.records import Variant

Options = Mapping[str, tuple[str, ...]]


def options_of(run: ExportedRun) -> dict[str, tuple[str, ...]]:
    """Return the versions shown for each item, the good one first.

    The result is empty if the study shows pairs or single versions.
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
    """Return the accuracy expected from guessing."""
    sizes = [len(options) for options in options_of(run).values()]
    return float(np.mean([1 / size for size in sizes])) if sizes else 0.5


def choices(scores: Scores, options: Options) -> pd.DataFrame:
    """Return the option with a model's highest score on each item.

    Args:
        scores: The model's scores.
        options: The items' options, as returned by ``options_of``.

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
    """Return a model's decisions with the good option compared with all others of the item.

    Args:
        decisions: Decisions between good and one other version, from
            ``analysis.data.join.decisions``.
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
