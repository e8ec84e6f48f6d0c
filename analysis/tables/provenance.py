"""The origin of the numbers, as stated in every table, figure and file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.data.facts import RunFacts, ScoreFacts
from analysis.data.participant_flow import Flow
from analysis.scores.metrics import SUM, describe_metric

KINDS_IN_WORDS = {"target": "targets", "filler": "fillers", "catch": "catch trials"}


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural: "1 tie", "1,200 ties"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts about one model's scores.

    Attributes:
        facts: The metadata of the score file.
        n_items: The number of scored items.
        n_ties: The number of these with equal scores for both versions, which count as wrong.
        n_unknown: The number of tokens of the compared versions unknown to the model.
    """

    facts: ScoreFacts
    n_items: int
    n_ties: int
    n_unknown: int


@dataclass(frozen=True, slots=True)
class AskedFor:
    """The report's wording for a trial's task; the defaults describe choices.

    Attributes:
        shown: The displayed material, with a place for the steps of reading (``{steps}``); empty
            for an item's options.
        task: What participants did, in the past tense, with a place for the number of points of a
            scale (``{points}``); empty if they chose an option.
        measured: The participants' measure that has intervals clustered by participant and unit.
        unit: The unit that clusters answers, in addition to the participant.
        methods: The report's description of these intervals.
        decides: Whether models are right or wrong on an item, as participants are.
        answer: What one observation is called, in the singular.
    """

    shown: str = ""
    task: str = ""
    measured: str = "accuracy"
    unit: str = "frame"
    methods: tuple[str, ...] = ()
    decides: bool = True
    answer: str = "judgment"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a comparison.

    Attributes:
        run: The facts about the run in the export.
        flow: The numbers of participants who came and were kept.
        n_judgments: The number of analysed judgments: of targets only, if there are any.
        n_items: The number of judged items.
        n_frames: The number of frames that these items are conditions of.
        models: One entry per score file.
        resamples: The number of resamples of each interval.
        seed: The seed of the resampling.
        code_version: The version of the comparing code.
        metric: The metric of a model's log-probabilities (see ``analysis.scores.metrics``).
        chance: The accuracy of guessing.
        asked: The task of the trials.
        n_repeated: The number of judgments of an item that the same participant judged before.
        apart: The number of judgments of each other kind, reported in a separate table.
        trainings: Sentences on the trainings whose checkpoints were compared.
        compared_with: The names of models, model participants and tables of surprisal without score
            files.
    """

    run: RunFacts
    flow: Flow
    n_judgments: int
    n_items: int
    n_frames: int
    models: Sequence[ModelFacts]
    resamples: int
    seed: int
    code_version: str
    metric: str = SUM
    chance: float = 0.5
    asked: AskedFor = AskedFor()
    n_repeated: int = 0
    apart: Mapping[str, int] = field(default_factory=dict)
    trainings: Sequence[str] = ()
    compared_with: Sequence[str] = ()

    @property
    def simulated(self) -> bool:
        """Whether any participant was simulated."""
        return self.run.simulated or self.flow.simulated > 0

    @property
    def warning(self) -> str:
        """The warning required on everything made from simulated participants; otherwise empty."""
        if not self.simulated:
            return ""
        return (
            f"SIMULATED PARTICIPANTS: {self.flow.simulated} of the {self.flow.kept} participants "
            "analysed are programs, not people."
        )

    @property
    def sentences(self) -> list[str]:
        """The origin in sentences, for printing below a table whose caption has the warning."""
        run = self.run
        return [
            self._study,
            self._run,
            self._judged,
            *self.apart_in_words,
            *self.peeked,
            f"Intervals: 95%{self._clustered}. "
            f"Where resampled: {self.resamples:,} resamples, seed {self.seed}.",
            *self._of_models,
            f"Code: run {run.code_version}, comparison {self.code_version}.",
        ]

    @property
    def _clustered(self) -> str:
        measured, unit = self.asked.measured, self.asked.unit
        return measured and f"; of people's {measured} two-way clustered by participant and {unit}"

    @property
    def _study(self) -> str:
        run = self.run
        study = f"Study {run.study}, version {run.study_version}; m" if run.study else "M"
        return f"{study}aterials {run.materials_hash}."

    @property
    def _run(self) -> str:
        run = self.run
        if not run.study:
            return f"Judgments of {run.source}."
        return (
            f"Run {run.run}, seed {run.seed}, launched {run.launched}, recruiter "
            f"{run.recruiter}; shown to people {run.written}."
        )

    @property
    def _of_models(self) -> list[str]:
        named = [f"Compared with: {', '.join(self.compared_with)}."] * bool(self.compared_with)
        if not self.models:
            return [*named, *self.trainings] or ["People alone: no model was compared."]
        metric = f"Metric of the models: {describe_metric(self.metric)}."
        described = (_describe_model(model, ties=self.asked.decides) for model in self.models)
        return [metric, *described, *named, *self.trainings]

    @property
    def _judged(self) -> str:
        of_people, on_items = (
            count_noun(self.n_judgments, self.asked.answer),
            count_noun(self.n_items, "item"),
        )
        if not self.flow.recruited:
            return f"{of_people} on {on_items}; who judged is not known."
        return (
            f"{of_people} of {count_noun(self.flow.kept, 'participant')} on {on_items}; "
            f"excluded: {self.flow.exclusions}.{self._repeated}"
        )

    @property
    def peeked(self) -> list[str]:
        """Warnings about intervals while data collection continues; empty afterwards."""
        if not self.run.still_filling:
            return []
        return [
            "The run was still open for more participants when it was exported. Intervals and p "
            "are not valid for deciding when to stop: whoever looks again and again, and stops at "
            "a result, finds one too often. Fix the number of participants beforehand."
        ]

    @property
    def items_in_words(self) -> str:
        """What counts as an item, if frames occur in several conditions; otherwise empty."""
        if self.n_frames >= self.n_items:
            return ""
        return (
            f"An item is a frame in one condition: {count_noun(self.n_frames, 'frame')} make "
            f"{count_noun(self.n_items, 'item')}."
        )

    @property
    def apart_in_words(self) -> list[str]:
        """A sentence about judgments of fillers and catch trials; empty if there are none."""
        if not self.apart:
            return []
        parts = [
            f"{number:,} of {KINDS_IN_WORDS.get(kind, kind)}" for kind, number in self.apart.items()
        ]
        return [f"These are of target trials; {' and '.join(parts)} are analysed separately."]

    @property
    def _repeated(self) -> str:
        if not self.n_repeated:
            return ""
        repeated = count_noun(self.n_repeated, self.asked.answer)
        return f" {repeated} of an item that the same participant had judged before; all count."


def _describe_model(model: ModelFacts, *, ties: bool) -> str:
    facts = model.facts
    tied = f"{count_noun(model.n_ties, 'tie')} counted as wrong, " if ties else ""
    return (
        f"Model {facts.model}: trained on {facts.trained_on.rstrip('.')}; given "
        f"{facts.given}; {count_noun(model.n_items, 'item')} scored, {tied}"
        f"{count_noun(model.n_unknown, 'unknown token')}; code {facts.code_version}."
    )
