"""What a taker is to do: which study, which sessions, in which ways; refused before it begins."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import AnalysisError
from experiment.authoring.check import require_sound
from experiment.design.lists import BuiltLists
from experiment.materials.render import render
from experiment.studies.files import study_files
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.takers.labels import labels_of
from experiment.takers.prompt import Context, Prompter, Way, instructions_of
from experiment.takers.readings.base import Earlier, Reading, Situation
from experiment.takers.readings.registry import load_reading
from experiment.takers.session import Screens, TakerSession, taker_sessions
from lm.answering.answerer import Tier

_DESCRIPTION = "datapackage.json"


@dataclass(frozen=True, slots=True)
class Source:
    """The study whose sessions are taken.

    Attributes:
        study: The study.
        built: Its lists, which passed the audit.
        export: The run's export folder where one was named; None for a study.
    """

    study: Study
    built: BuiltLists
    export: Path | None = None

    @property
    def files_hash(self) -> str:
        """What changes when any of the study's files does."""
        digest = hashlib.sha256()
        for name, content in sorted(study_files(self.study).items()):
            digest.update(f"{name}\n{hashlib.sha256(content).hexdigest()}\n".encode())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Factors:
    """What the prompted readings are crossed with.

    Attributes:
        contexts: What stands before each trial.
        labels: The sets of labels.
        orders: Whether answers are swapped: once not, once so, or both.
    """

    contexts: tuple[Context, ...]
    labels: tuple[str, ...]
    orders: tuple[bool, ...]

    def ways(self, reading: Reading) -> tuple[Way, ...]:
        """Return the cells in which a reading asks; one alone if it has no prompt."""
        if not reading.prompted:
            return (Way(),)
        return tuple(
            Way(context, labels, swapped)
            for context in self.contexts
            for labels in self.labels
            for swapped in self.orders
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is fixed before the model is asked.

    Attributes:
        source: The study and its lists.
        screens: What makes its trials ready.
        sessions: The sessions.
        readings: The readings.
        factors: What prompted ones are crossed with.
        prompter: Writes prompts; None where no reading needs one.
        sampled: Whether an answer is drawn by its probability, in place of the best one.
        yoked: Whose answers prompts show in the context ``yoked``; empty for nobody's.
    """

    source: Source
    screens: Screens
    sessions: tuple[TakerSession, ...]
    readings: tuple[Reading, ...]
    factors: Factors
    prompter: Prompter | None
    sampled: bool = False
    yoked: str = ""

    def situation(self, list_: int, way: Way, earlier: Earlier) -> Situation:
        """Return what a reading knows of a session of that list."""
        instructions = instructions_of(self.source.study.of_list(list_))
        prompter = self.prompter.with_instructions(instructions) if self.prompter else None
        return Situation(way, prompter, instructions, earlier)

    def key(self) -> dict[str, object]:
        """Return what a take of the same things has in common, for its manifest."""
        built = self.source.built
        return {
            "study": built.study,
            "study_version": built.version,
            "materials_hash": built.materials_hash,
            "study_files": self.source.files_hash,
            "seed": built.seed,
            "sessions": len(self.sessions),
            "readings": [reading.name for reading in self.readings],
            "contexts": [str(context) for context in self.factors.contexts],
            "labels": list(self.factors.labels),
            "swapped": list(self.factors.orders),
            "sampled": self.sampled,
            "yoked": self.yoked,
        }


def find_source(named: str, seed: int | None) -> Source:
    """Return a study with its lists, or those of the run that an export folder holds.

    Args:
        named: A built-in study, a study folder, or an export folder.
        seed: The seed of the lists; None for the run's own, or 1.

    Raises:
        ParallaxError: There is no such study, it has a mistake, its lists fail the audit, or the
            export's study gives other materials than the run had.
    """
    export = Path(named)
    if not (export / _DESCRIPTION).is_file():
        study = load_study(named)
        return Source(study, require_sound(study, 1 if seed is None else seed))
    facts = json.loads((export / _DESCRIPTION).read_text("utf-8")).get("parallax", {})
    study = load_study(str(export / "study"))
    if seed is not None and seed != facts.get("seed"):
        raise AnalysisError(
            f"the run has the seed {facts.get('seed')}, but --seed is {seed}",
            where=named,
            remedy="Leave --seed out to take the sessions that the run's people had",
        )
    built = require_sound(study, int(facts["seed"]))
    if built.materials_hash != facts.get("materials_hash"):
        raise AnalysisError(
            f"the materials have changed since the run: their hash is {built.materials_hash[:12]}, "
            f"the run's {str(facts.get('materials_hash'))[:12]}",
            where=str(export / "study"),
            expected="the study as it was exported",
            remedy="Export the run again, or name the study itself to take its sessions of today",
        )
    return Source(study, built, export)


def make_plan(
    source: Source,
    readings: Sequence[str],
    factors: Factors,
    n_sessions: int,
    to_model: Callable[[str], str],
    *,
    sampled: bool = False,
) -> Plan:
    """Return a plan whose every reading can ask every trial in every way.

    Args:
        source: The study and its lists.
        readings: The readings' names.
        factors: What prompted ones are crossed with.
        n_sessions: How many sessions.
        to_model: How the model reads a sentence.
        sampled: See ``Plan``.

    Raises:
        ParallaxError: A name is unknown, or a reading cannot ask what the study's trials ask.
    """
    study = source.study
    chosen = tuple(load_reading(name) for name in dict.fromkeys(readings))
    screens = Screens(study, render(study.materials.shown_to_people), to_model)
    sessions = tuple(taker_sessions(study, source.built, screens, n_sessions))
    for name in factors.labels:
        labels_of(name, 1)
    plan = Plan(
        source,
        screens,
        sessions,
        chosen,
        factors,
        Prompter(study, screens) if any(each.prompted for each in chosen) else None,
        sampled,
    )
    for problem in _refusals(plan):
        raise AnalysisError(problem, where=study.name, remedy="docs/takers.md has the table")
    return plan


def _refusals(plan: Plan) -> Iterator[str]:
    forms = {trial.form for session in plan.sessions for trial in session.trials}
    for reading in plan.readings:
        for way in plan.factors.ways(reading):
            for form in sorted(forms):
                if problem := reading.refusal(form, way.context):
                    yield f'the reading "{reading.name}" cannot be used: {problem}'


def refuse_tier(plan: Plan, tier: Tier, model: str) -> None:
    """Raise an AnalysisError if a reading needs more than the model tells."""
    lacking = [reading.name for reading in plan.readings if not reading.prompted]
    if lacking and tier is not Tier.TEXT:
        raise AnalysisError(
            f"the reading(s) {', '.join(lacking)} need {Tier.TEXT.in_words}, but it gives only "
            f"{tier.in_words}",
            where=model,
            expected="prompted readings, which every model can be asked by",
            remedy="Leave these readings out, or take a model on this machine or a server that "
            "tells the log-probabilities of a prompt",
        )
