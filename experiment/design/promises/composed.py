"""The sessions of all places of built lists, for the audit to count in."""

from dataclasses import dataclass, field

from experiment.design.lists import BuiltLists, ListEntry
from experiment.errors import ParallaxError
from experiment.records import Trial
from experiment.studies.study import Study
from experiment.trials.compose import compose, separation_key


@dataclass(frozen=True, slots=True)
class Session:
    """The trials at one place of a list, beside the list's entries by item id."""

    list_: int
    place: int
    trials: tuple[Trial, ...]
    entries: dict[str, ListEntry]

    @property
    def name(self) -> str:
        """How the audit calls it."""
        return f"list {self.list_}, place {self.place}"

    def keys(self, separate: str) -> list[str]:
        """Return what tells each trial from its neighbours, in order."""
        return [separation_key(self.entries[trial.item_id].item, separate) for trial in self.trials]


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of all places, and the places for which none can be composed."""

    composed: list[Session] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def compose_all(study: Study, built: BuiltLists) -> Sessions:
    """Compose the session of every place, participants filling the lists in turn."""
    sessions = Sessions()
    for list_, entries in enumerate(built.lists):
        by_id = {entry.item.item_id: entry for entry in entries}
        for place in range(study.design.participants_per_list):
            try:
                trials = compose(
                    entries,
                    seed=built.seed,
                    list_=list_,
                    place=place,
                    number=place * len(built.lists) + list_ + 1,
                    separate=study.design.separate,
                )
            except ParallaxError as error:
                sessions.failures.append(f"list {list_}, place {place}: {error.problem}")
                continue
            sessions.composed.append(Session(list_, place, tuple(trials), by_id))
    return sessions
