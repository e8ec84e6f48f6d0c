"""The conclusion from a difference, given the study's declared margin."""

from collections.abc import Hashable, Mapping
from enum import StrEnum
from typing import Any

import pandas as pd

_LEVEL = 0.05
# Statements besides the main result (same errors, differing constructions) use
# stricter levels, so that at most about 5 % of studies make any wrong statement about a model
# (benchmarks/headline.py: 1.1 % over all situations, 5.5 % in one of thirty).
BESIDES = 0.005


class Verdict(StrEnum):
    """The relation of a model's accuracy to that of participants."""

    BETTER = "better than people"
    WORSE = "worse than people"
    SAME = "as accurate as people within the margin"
    UNDECIDED = "not shown to differ from people, nor to be as accurate within the margin"
    UNKNOWN = "asked about too few items, or compared with too few participants, for a conclusion"


class Errors(StrEnum):
    """Whether a model makes errors on the same items as participants."""

    SAME = "It errs on the same items as people more often than chance"
    OTHER = "It errs on other items than people more often than chance"
    UNDECIDED = "Whether it errs on the same items as people is undecided"
    UNKNOWN = ""


def verdict(found: Mapping[Hashable, Any]) -> Verdict:
    """Return the relation of a model's accuracy to that of participants.

    A difference within the margin counts as equal, even if it is significantly different from zero,
    because the study declared the margin in advance.

    Args:
        found: low, high (of people minus model) and p_equivalence, from
            ``analysis.statistics.paired.people_against_models``.
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
    """Return whether errors occur on the same items.

    Args:
        kappa: kappa and p of the kappa of participants and a model, from
            ``analysis.statistics.consistency.error_consistency``; None if there is no kappa.
    """
    if kappa is None or pd.isna(kappa["p"]):
        return Errors.UNKNOWN
    if kappa["p"] >= BESIDES:
        return Errors.UNDECIDED
    return Errors.SAME if kappa["kappa"] > 0 else Errors.OTHER


def all_alike(model: str, n_sentences: int) -> str:
    """Return the sentence about a model whose scores are all equal."""
    return (
        f"{model} gives all {n_sentences:,} sentences the same log-probability per token: that "
        "measure tells none apart, and is not compared with people."
    )


def beside_ceiling(correlation: float, ceiling: float) -> str:
    """Return the phrase on the noise ceiling after a model's correlation; may be empty."""
    if not ceiling > 0:
        return ""
    if correlation > ceiling:
        return (
            f"; that is above the noise ceiling of {ceiling:.2f}, which is an estimate as well: do "
            "not read it as better than people can be known"
        )
    return f"; the noise ceiling is {ceiling:.2f}"
