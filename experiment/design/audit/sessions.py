"""The data of the audit: the sessions of all places (participant slots), and check results."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from experiment.design.frames import MaterialsIndex, count_frames
from experiment.design.lists import BuiltLists
from experiment.design.ordering.constraints import labels
from experiment.design.session import compose, session_number
from experiment.errors import ParallaxError
from experiment.records import ListEntry, Trial
from experiment.responses.base import ResponseType
from experiment.responses.choice.choice import SentencePair
from experiment.responses.registry import response_of
from experiment.studies.design import Design, Square, holds
from experiment.studies.study import Study

_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the audit.

    Attributes:
        name: The property that is checked.
        expected: The required figure or state; empty in a row that only informs.
        found: The state of the built lists; if the check fails, the first breaches.
        passed: False if the lists do not meet the requirement.
    """

    name: str
    expected: str
    found: str
    passed: bool


def check(name: str, expected: str, breaches: Iterable[str]) -> Check:
    """Return a check that passes if there are no breaches."""
    problems = list(breaches)
    if not problems:
        return Check(name, expected, expected, passed=True)
    remainder = f" and {len(problems) - _MOST_SHOWN} more" if len(problems) > _MOST_SHOWN else ""
    return Check(name, expected, "; ".join(problems[:_MOST_SHOWN]) + remainder, passed=False)


def make_info_row(name: str, value: str) -> Check:
    """Return an informative row, which cannot fail."""
    return Check(name, "", value, passed=True)


@dataclass(frozen=True, slots=True)
class SquareContents:
    """One square, and its entries in the lists of one combination of the factors' levels.

    Attributes:
        levels: The combination; empty if the design has no factors.
        templates: Its templates.
        catch_trials: The required catch trials in each list.
        conditions: Its conditions in the materials.
        n_frames: The required number of frames.
        per_condition: The required items per condition in each list.
        lists: The entries of the square's templates in each list, by the list's number.
    """

    levels: dict[str, str]
    templates: tuple[str, ...]
    catch_trials: int
    conditions: tuple[str, ...]
    n_frames: int
    per_condition: int
    lists: dict[int, tuple[ListEntry, ...]]

    @property
    def name(self) -> str:
        """The square's name in the audit."""
        return " ".join(("+".join(self.templates), *self.levels.values()))

    @property
    def entries(self) -> Iterator[ListEntry]:
        """The square's entries in all lists."""
        return (entry for entries in self.lists.values() for entry in entries)


@dataclass(frozen=True, slots=True)
class Session:
    """The trials at one place of a list, with the list's entries by item id."""

    list_: int
    place: int
    trials: tuple[Trial, ...]
    entries: dict[str, ListEntry]

    @property
    def name(self) -> str:
        """The session's name in the audit."""
        return f"list {self.list_}, place {self.place}"

    def labels(self, column: str) -> tuple[str | None, ...]:
        """Return each trial's value in a column, in order."""
        return labels(self.shown, column)

    @property
    def shown(self) -> list[ListEntry]:
        """The list's entries in the order of the trials."""
        return [self.entries[trial.item_id] for trial in self.trials]


@dataclass(frozen=True, slots=True)
class Composition:
    """The sessions of all places, and the places for which no session can be composed.

    Attributes:
        response: The sessions' response type.
        sessions: The sessions.
        failures: The places without a session, with the reasons.
    """

    response: ResponseType
    sessions: list[Session] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def by_task(self) -> Iterator[tuple[str, "Composition"]]:
        """Yield the sessions of each task of a mixed session, as in a study of that task alone.

        Yields:
            The task's name and its sessions; an empty name and all sessions if there is only one
            response type.
        """
        if not self.response.types:
            yield "", self
        for task, type_ in self.response.types.items():
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
            yield task, Composition(type_, sessions)


def compose_all(study: Study, built: BuiltLists) -> Composition:
    """Compose the session of every place, with participants filling the lists in turn."""
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
        # The check of a study's keys reports the invalid key.
        return SentencePair()


def square_contents(
    design: Design, index: MaterialsIndex, built: BuiltLists
) -> tuple[SquareContents, ...]:
    """Return the design's squares with their entries, once per combination of levels."""
    return tuple(
        _collect_contents(square, levels, design, index, built)
        for square in design.squares
        for levels in design.combinations
        if holds(square.when, levels)
    )


def _collect_contents(
    square: Square,
    levels: dict[str, str],
    design: Design,
    index: MaterialsIndex,
    built: BuiltLists,
) -> SquareContents:
    n_frames = count_frames(square, design)
    return SquareContents(
        levels=levels,
        templates=tuple(square.templates),
        catch_trials=square.catch_trials,
        conditions=tuple(index.conditions(square.templates)),
        n_frames=n_frames,
        per_condition=n_frames // design.lists,
        lists={
            number: tuple(entry for entry in entries if entry.item.template in square.templates)
            for number, entries in enumerate(built.lists)
            if design.levels(number) == levels
        },
    )
