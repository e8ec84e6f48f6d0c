"""Plan a model participant's work: study, sessions and readings; invalid plans are refused."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from analysis.errors import AnalysisError
from analysis.takers.source import Person, Source, find_people
from experiment.materials.render import render
from experiment.takers.prompt import Context, Prompter, Way, instructions_of, labels_of
from experiment.takers.readings.base import READINGS, Earlier, Reading, Situation, load_reading
from experiment.takers.session import Complete, Screens, TakerSession, taker_sessions
from lm.answering.answerer import Tier


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors that prompted readings are crossed with.

    Attributes:
        contexts: The contexts before each trial.
        labels: The sets of labels.
        orders: Whether answers are swapped: no, yes, or both.
        thinking: Whether the model may think before answering: no, yes, or both.
        thought_tokens: The maximum number of tokens of a thought.
    """

    contexts: tuple[Context, ...]
    labels: tuple[str, ...]
    orders: tuple[bool, ...]
    thinking: tuple[bool, ...] = (False,)
    thought_tokens: int = 0

    def ways(self, reading: Reading) -> tuple[Way, ...]:
        """Return the factor combinations of a reading; a reading without a prompt has only one."""
        if not reading.prompted:
            return (Way(),)
        return tuple(
            Way(context, labels, swapped, thinking)
            for context in self.contexts
            for labels in self.labels
            for swapped in self.orders
            for thinking in self.thinking
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """All settings that are fixed before the model is asked.

    Attributes:
        source: The study and its lists.
        screens: Prepares the trials.
        sessions: The sessions.
        readings: The readings.
        factors: The factors that prompted readings are crossed with.
        prompter: Writes prompts; None if no reading needs prompts.
        sampled: Whether answers are sampled by probability instead of taking the best one.
        people: The human participants of these sessions, in order; empty for sessions of the
            design.
    """

    source: Source
    screens: Screens
    sessions: tuple[TakerSession, ...]
    readings: tuple[Reading, ...]
    factors: Factors
    prompter: Prompter | None
    sampled: bool = False
    people: tuple[Person, ...] = ()

    def person(self, session: TakerSession) -> Person | None:
        """Return the human participant of a session; None for a session of the design."""
        return self.people[session.number - 1] if self.people else None

    def situation(self, list_: int, way: Way, earlier: Earlier) -> Situation:
        """Return what a reading is told about a session of a list."""
        instructions = instructions_of(self.source.study.of_list(list_))
        prompter = self.prompter.with_instructions(instructions) if self.prompter else None
        return Situation(way, prompter, instructions, earlier)

    def key(self) -> dict[str, object]:
        """Return the identity of a take for its manifest: equal for takes of the same plan."""
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
            "thinking": list(self.factors.thinking),
            "thought_tokens": self.factors.thought_tokens,
            "sampled": self.sampled,
            "participants": [person.ref for person in self.people],
        }


def make_plan(
    source: Source,
    readings: Sequence[str],
    factors: Factors,
    n_sessions: int,
    to_model: Callable[[str], str],
    *,
    sampled: bool = False,
    participants: Sequence[str] = (),
    complete: Complete | None = None,
) -> Plan:
    """Return a plan, after checking that every reading can ask every trial in every way.

    Args:
        source: The study and its lists.
        readings: The readings' names.
        factors: The factors that prompted readings are crossed with.
        n_sessions: The number of sessions of the design, if no participants are named.
        to_model: Converts a sentence to the model's input.
        sampled: See ``Plan``.
        participants: The participants of an exported run whose sessions the model takes.
        complete: Completes texts with a gap; None for a model that cannot.

    Raises:
        ParallaxError: A name is unknown, a reading does not support the study's trials, or prompts
            need a participant's answers and no participant is named.
    """
    study = source.study
    loaded_readings = tuple(load_reading(name) for name in dict.fromkeys(readings))
    screens = Screens(study, render(study.materials.shown_to_people), to_model, complete)
    people = find_people(source, screens, participants) if participants else ()
    sessions = tuple(person.session for person in people) or tuple(
        taker_sessions(study, source.built, screens, n_sessions)
    )
    for name in factors.labels:
        labels_of(name, 1)
    plan = Plan(
        source,
        screens,
        sessions,
        loaded_readings,
        factors,
        Prompter(study, screens) if any(reading.prompted for reading in loaded_readings) else None,
        sampled,
        people,
    )
    for problem, remedy in _find_refusals(plan):
        raise AnalysisError(
            problem, where=study.name, remedy=f"{remedy}; docs/takers.md has the table"
        )
    return plan


def _find_refusals(plan: Plan) -> Iterator[tuple[str, str]]:
    if Context.YOKED in plan.factors.contexts and not plan.people:
        yield "prompts of the context yoked show a person's answers", "Name people (--participant)"
    forms = {trial.form for session in plan.sessions for trial in session.trials}
    for reading in plan.readings:
        for way in plan.factors.ways(reading):
            for form in sorted(forms):
                if problem := reading.refusal(form, way.context):
                    yield (
                        f'the reading "{reading.name}" cannot be used: {problem}',
                        _suggest_readings(plan),
                    )


def _suggest_readings(plan: Plan) -> str:
    """Return a sentence that lists the readings supporting this study's trials and contexts."""
    forms = {trial.form for session in plan.sessions for trial in session.trials}
    able = [
        name
        for name in READINGS.built_in
        for reading in [load_reading(name)]
        if not any(
            reading.refusal(form, way.context)
            for way in plan.factors.ways(reading)
            for form in forms
        )
    ]
    return f"Readings that can: {', '.join(able)}" if able else "No reading can"


def refuse_tier(plan: Plan, tier: Tier, model: str) -> None:
    """Raise an AnalysisError if a reading needs more output than the model gives."""
    readings = [reading.name for reading in plan.readings if not reading.prompted]
    if readings and tier is not Tier.TEXT:
        raise AnalysisError(
            f"the reading(s) {', '.join(readings)} need {Tier.TEXT.in_words}, but it gives only "
            f"{tier.in_words}",
            where=model,
            expected="prompted readings, which work with every model",
            remedy="Leave these readings out, or take a model on this machine or a server that "
            "gives the log-probabilities of a prompt",
        )
