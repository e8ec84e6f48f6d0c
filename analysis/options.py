"""What whoever compares may choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from analysis.data.load import Scores
from analysis.data.takers import Taken
from analysis.scores.metrics import FULL
from experiment.studies.publication import About


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """What a comparison is to hold and how it is to be computed.

    Attributes:
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.
        metric: How a model's log-probabilities become one score (see ``analysis.scores.metrics``).
        unigram: A unigram model's scores, for the metrics that weigh against them.
        corpus: How often each word occurs in the models' training text.
        curves: Whether log-probabilities are drawn word by word.
        curve_items: The ids of items to draw each by itself, in place of averages.
        formula: The mixed model's fixed and random effects; None for the usual ones.
        margin: Differences of accuracies smaller than this count as none; None for the study's.
        takers: What models answered that took the run's sessions.
        about: What archives and the checklist ask, in place of what the study declares.
        surprisal: By model, the surprisals of the words that were read, in bits: text_id, position,
            text, surprisal_bits.
    """

    resamples: int = 10_000
    seed: int = 1
    metric: str = FULL
    unigram: Scores | None = None
    corpus: Mapping[str, int] | None = None
    curves: bool = False
    curve_items: Sequence[str] = ()
    formula: str | None = None
    margin: float | None = None
    takers: Sequence[Taken] = ()
    about: About | None = None
    surprisal: Mapping[str, pd.DataFrame] = field(default_factory=dict)
