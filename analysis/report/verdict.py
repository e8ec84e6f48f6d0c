"""What a difference says about a study's question, given the margin that the study declared."""

from collections.abc import Hashable, Mapping
from enum import StrEnum
from typing import Any

import pandas as pd

_LEVEL = 0.05
# What is said besides the answer (where errors fall, which constructions differ) is held to a
# stricter level each, so that all that is said of a model is wrong in about 5 % of studies at most
# (benchmarks/headline.py: 1.1 % over all situations, 5.5 % in one of thirty).
BESIDES = 0.005


class Verdict(StrEnum):
    """How a model stands to people."""

    BETTER = "better than people"
    WORSE = "worse than people"
    SAME = "as accurate as people within the margin"
    UNDECIDED = "not shown to differ from people, nor to be as accurate within the margin"
    UNKNOWN = "asked about too few items, or compared with too few participants, for a conclusion"


class Errors(StrEnum):
    """Whether a model errs on the items that people err on."""

    SAME = "It errs on the same items as people more often than chance"
    OTHER = "It errs on other items than people more often than chance"
    UNDECIDED = "Whether it errs on the same items as people is undecided"
    UNKNOWN = ""


def verdict(found: Mapping[Hashable, Any]) -> Verdict:
    """Return how a model stands to people.

    A difference within the margin is called the same, even where it is shown not to be zero: the
    study said beforehand that so small a difference counts as none.

    Args:
        found: low, high (of people minus model) and p_equivalence, as
            ``analysis.statistics.paired.people_against_models`` gives them.
    """
    low, high = found["low"], found["high"]
    if pd.isna(low) or pd.isna(high):
        return Verdict.UNKNOWN
    if found["p_equivalence"] < _LEVEL:
        return Verdict.SAME
    if low > 0:
        return Verdict.WORSE
    return Verdict.BETTER if high < 0 else Verdict.UNDECIDED


def errors(kappa: Mapping[Hashable, Any] | None) -> Errors:
    """Return whether errors fall on the same items.

    Args:
        kappa: kappa and p of people's and a model's kappa, as
            ``analysis.statistics.consistency.error_consistency`` gives them; None where there is
            none.
    """
    if kappa is None or pd.isna(kappa["p"]):
        return Errors.UNKNOWN
    if kappa["p"] >= BESIDES:
        return Errors.UNDECIDED
    return Errors.SAME if kappa["kappa"] > 0 else Errors.OTHER


def all_alike(model: str, n_sentences: int) -> str:
    """Return what is said of a model all of whose scores are one number."""
    return (
        f"{model} gives all {n_sentences:,} sentences the same log-probability per token: that "
        "measure tells none apart, and is not compared with people."
    )


def beside_ceiling(correlation: float, ceiling: float) -> str:
    """Return what is said of a noise ceiling after a model's correlation; empty without one."""
    if not ceiling > 0:
        return ""
    if correlation > ceiling:
        return (
            f"; that is above the noise ceiling of {ceiling:.2f}, which is an estimate as well: do "
            "not read it as better than people can be known"
        )
    return f"; the noise ceiling is {ceiling:.2f}"
