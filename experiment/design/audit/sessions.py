"""The sessions of all places of built lists, for the audit to count in."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from experiment.design.lists import BuiltLists, ListEntry
from experiment.design.ordering.declared import labels
from experiment.design.session import compose, session_number
from experiment.errors import ParallaxError
from experiment.records import Trial
from experiment.responses.base import ResponseType
from experiment.responses.choice.sentence_pair import SentencePair
from experiment.responses.registry import response_of
from experiment.studies.study import Study


@dataclass(frozen=True, slots=True)
class Session:
    """The trials at one place of a list, next to the list's entries by item id."""

    list_: int
    place: int
    trials: tuple[Trial, ...]
    entries: dict[str, ListEntry]

    @property
    def name(self) -> str:
        """How the audit calls it."""
        return f"list {self.list_}, place {self.place}"

    def labels(self, column: str) -> tuple[str | None, ...]:
        """Return what each trial has in a column, in order."""
        return labels(self.shown, column)

    @property
    def shown(self) -> list[ListEntry]:
        """The list's entries in the order of the trials."""
        return [self.entries[trial.item_id] for trial in self.trials]


@dataclass(frozen=True, slots=True)
class Composition:
    """The sessions of all places, and the places for which none can be composed.

    Attributes:
        response: What their trials ask for.
        sessions: The sessions.
        failures: The places, and why.
    """

    response: ResponseType
    sessions: list[Session] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def by_task(self) -> Iterator[tuple[str, "Composition"]]:
        """Yield the trials of each task of a mixed session, as a study of that task has them.

        Yields:
            The task's name, and its sessions; an empty name and all there is where trials are of
            one type.
        """
        if not self.response.types:
            yield "", self
        for task, own in self.response.types.items():
            sessions = [
                replace(
                    session,
                    trials=tuple(
                        replace(trial, options=trial.options[1:])
                        for trial in session.trials
                        if trial.options[0] == task
                    ),
                )
                for session in self.sessions
            ]
            yield task, Composition(own, sessions)


def compose_all(study: Study, built: BuiltLists) -> Composition:
    """Compose the session of every place, participants filling the lists in turn."""
    composition = Composition(_response(study))
    for list_, entries in enumerate(built.lists):
        by_id = {entry.item.item_id: entry for entry in entries}
        for place in range(study.design.places(list_)):
            try:
                trials = compose(
                    entries,
                    seed=built.seed,
                    list_=list_,
                    place=place,
                    number=session_number(study.design, list_, place),
                    design=study.design,
                    response=composition.response,
                )
            except ParallaxError as error:
                composition.failures.append(f"list {list_}, place {place}: {error.problem}")
                continue
            composition.sessions.append(Session(list_, place, tuple(trials), by_id))
    return composition


def _response(study: Study) -> ResponseType:
    try:
        return response_of(study)
    except ParallaxError:
        # Which of its keys is wrong is said where a study's keys are checked.
        return SentencePair()
