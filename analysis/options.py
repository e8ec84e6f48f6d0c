"""Options of a comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from analysis.data.load import Scores
from analysis.scores.metrics import FULL
from experiment.studies.publication import About


@dataclass(frozen=True, slots=True)
class Taken:
    """One model participant's answers.

    Attributes:
        model: The model's name.
        tier: How much the model revealed about its answers.
        frame: One row per trial of each sitting: model, reading, context, labels, order, session,
            position, item_id, construction, condition, frame, good_side, chosen_side, chose_good
            (missing if no answer could be parsed), outcome, p_good.
    """

    model: str
    tier: str
    frame: pd.DataFrame


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """The contents of a comparison, and how to compute it.

    Attributes:
        resamples: How many times to resample for each interval.
        seed: The seed of the resampling.
        metric: The metric that turns a model's log-probabilities into one score (see
            ``analysis.scores.metrics``).
        unigram: A unigram model's scores, for metrics that correct for frequency.
        corpus: Word counts of the models' training text.
        curves: Whether to draw log-probabilities word by word.
        curve_items: The ids of items to draw individually, instead of averages.
        formula: The mixed model's fixed and random effects; None for the default.
        margin: Smaller accuracy differences count as no difference; None for the study's margin.
        takers: The answers of model participants who took the run's sessions.
        about: Declarations for archives and the checklist; they replace those of the study.
        surprisal: By model, the surprisals of the words read, in bits: text_id, position,
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
