"""Studies with a known truth: whose intervals cover it, and how often."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from analysis.statistics.accuracy import (
    accuracy_difference,
    bootstrap_accuracy,
    people_accuracy,
)
from analysis.statistics.agreement import add_model_preferences, agreement, preferences
from analysis.statistics.calibration import calibration
from analysis.statistics.consistency import error_consistency
from analysis.statistics.correlation import METHODS, correlations
from analysis.statistics.paired import models_against_models, people_against_models
from analysis.statistics.resample import Floats

# Participants, items, and how many items each participant judges.
DESIGNS = {
    "100 people, 10 items, each 1": (100, 10, 1),
    "100 people, 60 items, each 6": (100, 60, 6),
    "40 people, 30 items, each 30": (40, 30, 30),
}
BASES = (0.5, 2.0)
SPREADS = ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 0.5), (0.5, 1.5))
# How strongly people follow the model's difference, in logits per nat.
SLOPE = 0.3


@dataclass(frozen=True)
class Setting:
    """How large a study is, how often people are right, and how participants and items differ.

    Attributes:
        design: Participants, items, items of each participant.
        base: The logit of a typical participant on a typical item.
        spread: The standard deviations of participants and of items, in logits.
    """

    design: tuple[int, int, int]
    base: float
    spread: tuple[float, float]


SETTINGS = [
    Setting(design, base, spread)
    for design in DESIGNS.values()
    for base in BASES
    for spread in SPREADS
]


@dataclass(frozen=True)
class Study:
    """What one simulated study gave.

    Attributes:
        judgments: New participants' judgments of new items.
        decisions: A model's decisions on these items.
        other: The decisions of another model, which knows a part of what the first one knows.
    """

    judgments: pd.DataFrame
    decisions: pd.DataFrame
    other: pd.DataFrame


def simulated(setting: Setting, rng: np.random.Generator) -> Study:
    """Return new participants' judgments of new items, and two models' decisions on these."""
    n_people, n_items, each = setting.design
    people = np.repeat(np.arange(n_people), each)
    items = (people * each + np.tile(np.arange(each), n_people)) % n_items
    difference = rng.normal(1, 2, n_items)
    of_people = rng.normal(0, setting.spread[0], n_people)
    of_items = rng.normal(0, setting.spread[1], n_items)
    logit = setting.base + SLOPE * (difference - 1) + of_items
    judgments = pd.DataFrame(
        {
            "participant": people.astype(str),
            "item_id": items.astype(str),
            "construction": "a",
            "condition": "any",
            "half": items % 2 == 0,
            "chose_good": rng.random(len(people)) < expit(logit[items] + of_people[people]),
        }
    )
    other = difference + rng.normal(0, 1.5, n_items)
    return Study(judgments, _decisions(difference), _decisions(other))


def _decisions(difference: Floats) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item_id": np.arange(len(difference)).astype(str),
            "construction": "a",
            "condition": "any",
            "logprob_good_nats": difference - 20,
            "logprob_contrast_nats": -20.0,
            "correct": difference > 0,
            "tie": False,
        }
    )


Found = tuple[float, float, float]
# Resamples of what is bootstrapped.
RESAMPLES = 300


def of_accuracy(study: Study) -> dict[str, Found]:
    judgments, rng = study.judgments, np.random.default_rng(1)
    accuracy = people_accuracy(judgments, ["construction"])
    items = people_accuracy(judgments, ["construction"], weigh="items")
    difference = accuracy_difference(judgments, judgments["half"].to_numpy())
    check = accuracy.merge(bootstrap_accuracy(judgments, ["construction"], rng, RESAMPLES))
    return {
        "accuracy": _found(accuracy, "accuracy", "low", "high"),
        "accuracy, items alike": _found(items, "accuracy", "low", "high"),
        "accuracy, crossed bootstrap": _found(check, "accuracy", "bootstrap_low", "bootstrap_high"),
        "difference of accuracies": _found(difference, "difference", "low", "high"),
    }


def of_agreement(study: Study) -> dict[str, Found]:
    return {"alpha": _found(agreement(study.judgments).head(1), "alpha", "low", "high")}


def of_calibration(study: Study) -> dict[str, Found]:
    matched = add_model_preferences(preferences(study.judgments), study.decisions)
    fitted = calibration(matched, study.judgments)
    return {
        f"calibration {name}": _found(fitted, name, f"{name}_low", f"{name}_high")
        for name in ("intercept", "slope")
    }


def of_correlation(study: Study) -> dict[str, Found]:
    matched = add_model_preferences(preferences(study.judgments), study.decisions)
    share, difference = matched["share_good"].to_numpy(), matched["difference_nats"].to_numpy()
    found = correlations(share, difference)
    return {
        f"correlation, {name}": (found[name], found[f"{name}_low"], found[f"{name}_high"])
        for name in METHODS
    }


def of_consistency(study: Study) -> dict[str, Found]:
    models = {"m": study.decisions, "n": study.other}
    found = error_consistency(study.judgments, models, np.random.default_rng(1))
    kinds = {"people people": "of people", "people m": "of people and a model", "m n": "of models"}
    return {
        f"kappa {kinds[pair]}": (row["kappa"], row["low"], row["high"])
        for row in found.to_dict("records")
        if (pair := f"{row['first']} {row['second']}") in kinds
    }


def of_differences(study: Study) -> dict[str, Found]:
    models = {"m": study.decisions, "n": study.other}
    people = people_against_models(study.judgments, {"m": study.decisions}, ["construction"])
    between = models_against_models(models, "construction")
    return {
        "people minus model": _found(people, "difference", "low", "high"),
        "model minus model": _found(between, "difference", "low", "high"),
    }


def _found(frame: pd.DataFrame, *names: str) -> Found:
    first, low, high = frame[list(names)].to_numpy(dtype=float)[0]
    return first, low, high


Statistic = Callable[[Study], dict[str, Found]]
STATISTICS: list[Statistic] = [
    of_accuracy,
    of_agreement,
    of_calibration,
    of_correlation,
    of_consistency,
    of_differences,
]


def intervals(
    setting: Setting,
    simulations: int,
    rng: np.random.Generator,
    statistics: list[Statistic] = STATISTICS,
) -> pd.DataFrame:
    """Return the interval of each statistic in each of so many new studies.

    Which statistics are asked for changes nothing of the studies.

    Returns:
        statistic, estimate, low, high; without those that have no interval.
    """
    rows = []
    for _ in range(simulations):
        study = simulated(setting, rng)
        for statistic in statistics:
            rows += [(name, *found) for name, found in statistic(study).items()]
    return pd.DataFrame(rows, columns=["statistic", "estimate", "low", "high"]).dropna()


def coverage(found: pd.DataFrame) -> pd.DataFrame:
    """Return how often each interval holds what its statistic is on average over such studies.

    Args:
        found: What ``intervals`` gives for one setting.

    Returns:
        One row per statistic: statistic, covered (share of the intervals), ratio (of their mean
        width to that which the scatter of the estimates calls for), n (studies with an interval).
    """
    grouped = found.groupby("statistic", sort=False)["estimate"]
    truth, scatter = grouped.transform("mean"), grouped.transform("std")
    ratio = (found["high"] - found["low"]) / (2 * 1.96 * scatter)
    held = (found["low"] <= truth) & (truth <= found["high"])
    each = found.assign(covered=held, ratio=ratio, n=1).groupby("statistic", sort=False)
    return each.agg({"covered": "mean", "ratio": "mean", "n": "sum"}).reset_index()
