"""Where the numbers come from: what every table, figure and file says about itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.data.load import RunFacts, ScoreFacts
from analysis.data.participant_flow import Flow
from analysis.scores.metrics import FULL, metric_in_words


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or the plural: "1 tie", "1,200 ties"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
class AskedFor:
    """What trials asked for, in the words of a report; those of choices where nothing is given.

    Attributes:
        shown: What a trial showed; empty where it was an item's options.
        asked: What it asked for; empty where it was a choice among them.
        measured: What of people has intervals.
        unit: By what these cluster beside the participant.
        methods: What the report says of these intervals.
        decides: Whether a model is right or wrong on an item, as people are.
    """

    shown: str = ""
    asked: str = ""
    measured: str = "accuracy"
    unit: str = "frame"
    methods: tuple[str, ...] = ()
    decides: bool = True


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a comparison.

    Attributes:
        run: What the export says about the run.
        flow: How many participants came and were kept.
        n_judgments: Judgments analysed: of targets alone, where there are any.
        n_items: Items judged.
        models: One entry per score file.
        resamples: Resamples behind each interval.
        seed: The seed of the resampling.
        code_version: The code that compared.
        metric: How a model's log-probabilities were made one score: ``analysis.scores.metrics``.
        chance: How often people would choose the expected option without reading.
        asked: What the trials asked for.
        n_repeated: How many judgments are of an item that the same participant judged before.
        apart: How many judgments are of each other kind, which are in a table of their own.
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
    chance: float = 0.5
    asked: AskedFor = AskedFor()
    n_repeated: int = 0
    apart: Mapping[str, int] = field(default_factory=dict)

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
            self._run,
            self._judged,
            *self.apart_in_words,
            *self.peeked,
            f"Intervals: 95%; of people's {self.asked.measured} two-way "
            f"clustered by participant and {self.asked.unit}. "
            f"Where resampled: {self.resamples:,} resamples, seed {self.seed}.",
            *self._of_models,
            f"Code: run {run.code_version}, comparison {self.code_version}.",
        ]

    @property
    def _run(self) -> str:
        run = self.run
        if run.launched_at is None:
            return f"Judgments of {run.run}, collected elsewhere."
        return (
            f"Run {run.run}, seed {run.seed}, launched {run.launched}, recruiter "
            f"{run.recruiter}; shown to people {run.written}."
        )

    @property
    def _of_models(self) -> list[str]:
        if not self.models:
            return ["People alone: no model was compared."]
        metric = f"Metric of the models: {metric_in_words(self.metric)}."
        return [metric, *(_model_note(model, ties=self.asked.decides) for model in self.models)]

    @property
    def _judged(self) -> str:
        of_people, on_items = counted(self.n_judgments, "judgment"), counted(self.n_items, "item")
        if not self.flow.recruited:
            return f"{of_people} on {on_items}; who judged is not known."
        return (
            f"{of_people} of {counted(self.flow.kept, 'participant')} on {on_items}; "
            f"excluded: {self.flow.exclusions}.{self._repeated}"
        )

    @property
    def peeked(self) -> list[str]:
        """What must be known of intervals while more people may come; nothing afterwards."""
        if not self.run.still_filling:
            return []
        return [
            "The run was still open for more participants when it was exported. Intervals and p "
            "are not valid for deciding when to stop: whoever looks again and again, and stops at "
            "a result, finds one too often. Fix the number of participants beforehand."
        ]

    @property
    def apart_in_words(self) -> list[str]:
        """What was judged besides targets, in a sentence; nothing where that is nothing."""
        if not self.apart:
            return []
        names = {"filler": "fillers", "catch": "catch trials"}
        parts = [f"{number:,} of {names.get(kind, kind)}" for kind, number in self.apart.items()]
        return [
            f"These are of targets alone; {' and '.join(parts)} stand apart and count in no other "
            "table."
        ]

    @property
    def _repeated(self) -> str:
        if not self.n_repeated:
            return ""
        repeated = counted(self.n_repeated, "judgment")
        return f" {repeated} of an item that the same participant had judged before; all count."


def _model_note(model: ModelFacts, *, ties: bool) -> str:
    facts = model.facts
    tied = f"{counted(model.n_ties, 'tie')} counted as wrong, " if ties else ""
    return (
        f"Model {facts.model}: trained on {facts.trained_on.rstrip('.')}; given "
        f"{facts.given}; {counted(model.n_items, 'item')} scored, {tied}"
        f"{counted(model.n_unknown, 'unknown token')}; code {facts.code_version}."
    )
