"""What a finding is: what it says of itself, and what it is made from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import pandas as pd

from analysis.data.join import Joined
from analysis.data.load import ExportedRun, Scores
from analysis.findings.findings import Context, Findings
from analysis.options import ComparisonOptions
from analysis.statistics.accuracy import accuracies
from analysis.statistics.paired import MARGIN
from analysis.statistics.resample import numpy_generator
from analysis.tables.section import Section

CONSTRUCTION = ("construction",)
CONDITION = ("construction", "condition")


@dataclass(frozen=True)
class Given:
    """What findings are made from.

    Attributes:
        run: The exported run.
        scores: One entry per model, with the chosen metric's one number for each version.
        as_read: The same as read from the files, without a metric.
        data: People's judgments, and models' decisions on all that they scored.
        options: What to hold and how to compute it.
        context: The study and where the numbers come from.
    """

    run: ExportedRun
    scores: Sequence[Scores]
    as_read: Sequence[Scores]
    data: Joined
    options: ComparisonOptions
    context: Context

    @property
    def margin(self) -> float:
        """Differences of accuracies smaller than this count as none: asked, declared or usual."""
        for one in (self.options.margin, self.run.study.analysis.margin):
            if one is not None:
                return one
        return MARGIN

    @cached_property
    def judged(self) -> Joined:
        """The judgments with the models' decisions on the judged items alone."""
        return self.data.on_judged_items()

    @cached_property
    def by_construction(self) -> pd.DataFrame:
        """Accuracies of each construction in long form (see ``analysis.statistics.accuracy``)."""
        return self._accuracies(CONSTRUCTION)

    @cached_property
    def by_condition(self) -> pd.DataFrame:
        """Accuracies of each condition of each construction, in the same form."""
        return self._accuracies(CONDITION)

    def _accuracies(self, by: tuple[str, ...]) -> pd.DataFrame:
        rng = numpy_generator(self.options.seed, "bootstrap", *by)
        resamples = self.options.resamples
        return accuracies(self.data.judgments, self.data.decisions, by, rng, resamples)


class Need(StrEnum):
    """What a finding cannot do without; where it is absent, the finding is not asked for."""

    MODELS = "scores of a model"
    TAKERS = "the option --takers"
    SURPRISAL = "the option --surprisal"
    ITEM_CURVES = "the option --curves or --curves-of"

    def is_met(self, given: Given) -> bool:
        """Return whether a comparison has it."""
        if self is Need.MODELS:
            return bool(given.scores)
        if self is Need.TAKERS:
            return bool(given.options.takers)
        if self is Need.SURPRISAL:
            return bool(given.options.surprisal)
        return given.options.curves or bool(given.options.curve_items)


@dataclass(frozen=True, slots=True)
class Finding:
    """A group of statistics that a report may show: what it says of itself, and how it runs.

    Attributes:
        name: What it is called in the registry.
        section: Where its tables and figures stand; those of detail stand in the supplement.
        run: Returns what it finds.
        needs: What it cannot do without.
        of: The analyses of types of response that it belongs to; none for every one.
        slow: Whether it is found in a second process, while the others are. It must not ask for
            ``by_construction`` or ``by_condition``, which would be computed there again.
    """

    name: str
    section: Section
    run: Callable[[Given], Findings]
    needs: tuple[Need, ...] = ()
    of: tuple[str, ...] = ("choice",)
    slow: bool = False
