"""Choices among three or more options: the options shown, and each model's choice."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun, Scores
from experiment.records import Variant

Options = Mapping[str, tuple[str, ...]]
# What people chose who chose no option, and what a model prefers of equally good options.
NONE, TIE = "none", "tie"


def find_options(run: ExportedRun) -> dict[str, tuple[str, ...]]:
    """Return the versions shown for each item, the good one first.

    The result is empty if the study shows pairs or single versions.
    """
    if "options" not in run.trials:
        return {}
    item_options = run.trials[["item_id", "options"]].astype(str).drop_duplicates("item_id")
    if not item_options["options"].str.contains(" ").any():
        return {}
    return {
        item: (Variant.GOOD, *sorted(set(options.split()) - {Variant.GOOD}))
        for item, options in zip(item_options["item_id"], item_options["options"], strict=True)
    }


def chance_accuracy(run: ExportedRun) -> float:
    """Return the accuracy expected from guessing."""
    sizes = [len(options) for options in find_options(run).values()]
    return float(np.mean([1 / size for size in sizes])) if sizes else 0.5


def choose_options(scores: Scores, options: Options) -> pd.DataFrame:
    """Return the option with a model's highest score on each item.

    Args:
        scores: The model's scores.
        options: The items' options, as returned by ``find_options``.

    Returns:
        One row per item: item_id, version (empty on a tie), logprob_good_nats, logprob_best_nats
        (of the others), tie, n_scored (how many of its options have a score).
    """
    table = _tabulate_logprobs(scores, options)
    best_alternative = table.drop(columns=Variant.GOOD).max(axis=1)
    best = table.max(axis=1)
    is_tied = table.eq(best, axis=0).sum(axis=1) > 1
    return pd.DataFrame(
        {
            "item_id": table.index,
            "version": table.idxmax(axis=1).where(~is_tied, "").to_numpy(),
            "logprob_good_nats": table[Variant.GOOD].to_numpy(),
            "logprob_best_nats": best_alternative.to_numpy(),
            "tie": (table[Variant.GOOD] == best_alternative).to_numpy(),
            "n_scored": table.notna().sum(axis=1).to_numpy(),
        }
    )


def share_best(scores: Scores, options: Options) -> pd.DataFrame:
    """Return 1 for the option that a model prefers on each item, and for ``tie`` if there are two.

    Args:
        scores: The model's scores.
        options: The items' options.

    Returns:
        Rows are items, columns are options.
    """
    chosen = choose_options(scores, options)
    names = chosen["version"].replace("", TIE)
    return pd.get_dummies(names, dtype=float).set_index(pd.Index(chosen["item_id"]))


def share_probabilities(scores: Scores, options: Options) -> pd.DataFrame:
    """Return the options' probabilities on each item, divided by their sum.

    Args:
        scores: The model's scores.
        options: The items' options.

    Returns:
        Rows are items, columns are options; options without a score have none.
    """
    table = _tabulate_logprobs(scores, options)
    weights = table.sub(table.max(axis=1), axis=0).apply(np.exp)
    return weights.div(weights.sum(axis=1), axis=0)


def _tabulate_logprobs(scores: Scores, options: Options) -> pd.DataFrame:
    """Return the log-probability of each option of each item; NaN without a score."""
    frame = scores.frame
    versions = pd.MultiIndex.from_arrays(
        [frame["item_id"].astype(str), frame["variant"].astype(str)]
    )
    logprobs = pd.Series(frame["logprob_nats"].to_numpy(), versions)
    pairs = pd.MultiIndex.from_tuples(
        [(item, name) for item, versions_of_item in options.items() for name in versions_of_item]
    )
    return logprobs.reindex(pairs).unstack()


def decide_among_all(decisions: pd.DataFrame, scores: Scores, options: Options) -> pd.DataFrame:
    """Return a model's decisions with the good option compared with all others of the item.

    Args:
        decisions: Decisions between good and one other version, from
            ``analysis.data.join.decisions``.
        scores: The model's scores.
        options: The items' options.
    """
    if not options:
        return decisions
    best_options = choose_options(scores, options).set_index("item_id")
    item_choices = best_options.reindex(decisions["item_id"].astype(str))
    is_scored = item_choices["n_scored"].notna().to_numpy()
    best = np.where(
        is_scored, item_choices["logprob_best_nats"], decisions["logprob_contrast_nats"]
    )
    good = decisions["logprob_good_nats"].to_numpy()
    return decisions.assign(logprob_contrast_nats=best, correct=good > best, tie=good == best)
