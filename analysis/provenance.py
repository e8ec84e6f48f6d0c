"""Where the numbers come from: what every table, figure and file says about itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.load import RunFacts, ScoreFacts
from analysis.participants import Flow
from analysis.scores.metrics import FULL, METRICS


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a reader must know of one model's scores.

    Attributes:
        facts: What the score file says.
        n_items: How many items were scored.
        n_ties: On how many of these both versions got the same score, which counts as wrong.
        n_unknown: How many tokens of the compared versions the model does not know.
    """

    facts: ScoreFacts
    n_items: int
    n_ties: int
    n_unknown: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a comparison.

    Attributes:
        run: What the export says about the run.
        flow: How many participants came and were kept.
        n_judgments: Judgments analysed.
        n_items: Items judged.
        models: One entry per score file.
        resamples: Resamples behind each interval.
        seed: The seed of the resampling.
        code_version: The code that compared.
        metric: How a model's log-probabilities were made one score: ``analysis.scores.metrics``.
    """

    run: RunFacts
    flow: Flow
    n_judgments: int
    n_items: int
    models: Sequence[ModelFacts]
    resamples: int
    seed: int
    code_version: str
    metric: str = FULL

    @property
    def simulated(self) -> bool:
        """Whether any judgment came from a program."""
        return self.run.simulated or self.flow.simulated > 0

    @property
    def warning(self) -> str:
        """What must stand on everything made from simulated participants; else empty."""
        if not self.simulated:
            return ""
        return (
            f"SIMULATED PARTICIPANTS: {self.flow.simulated} of the {self.flow.kept} participants "
            "analysed are programs, not people."
        )

    @property
    def sentences(self) -> list[str]:
        """The origin in words, to stand under a table whose caption has the warning."""
        run = self.run
        return [
            f"Study {run.study}, version {run.study_version}; materials {run.materials_hash}.",
            f"Run {run.run}, seed {run.seed}, launched {run.launched}, recruiter "
            f"{run.recruiter}; shown to people as {run.rendering}.",
            self._judged,
            f"Intervals: 95%, bootstrap over participants and items, {self.resamples:,} "
            f"resamples, seed {self.seed}.",
            f"Metric of the models: {self.metric}, {METRICS[self.metric]}.",
            *map(_model_note, self.models),
            f"Code: run {run.code_version}, comparison {self.code_version}.",
        ]

    @property
    def _judged(self) -> str:
        on_items = f"on {self.n_items:,} items"
        if not self.flow.recruited:
            return f"{self.n_judgments:,} judgments {on_items}; who judged is not known."
        return (
            f"{self.n_judgments:,} judgments of {self.flow.kept} participants {on_items}; "
            f"excluded: {self.flow.exclusions}."
        )


def _model_note(model: ModelFacts) -> str:
    facts = model.facts
    return (
        f"Model {facts.model}: trained on {facts.trained_on.rstrip('.')}; given "
        f"{facts.given}; {model.n_items:,} items scored, {model.n_ties:,} ties counted as "
        f"wrong, {model.n_unknown:,} unknown tokens; code {facts.code_version}."
    )
