"""How each recruiter treats each key of ``[recruitment]``, ``[payment]`` and ``[panel]``."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel

from experiment.panels.table import PanelTable
from experiment.studies.recruitment import Recruitment
from experiment.studies.study import Payment, Study
from webapp.errors import RunError

_TABLES: dict[str, type[BaseModel]] = {
    "recruitment": Recruitment,
    "payment": Payment,
    "panel": PanelTable,
}


# The server itself enforces these for every recruiter.
AT_THE_DOOR = frozenset({"recruitment.exclude_earlier_runs", "recruitment.after"})


class Answer(StrEnum):
    """How a recruiter treats a key."""

    HONOURED = "honoured"
    REFUSED = "refused"
    SET_ASIDE = "set aside"


@dataclass(frozen=True, slots=True)
class Terms:
    """A recruiter's treatment of keys; a launch refuses a study with a key in neither set.

    Attributes:
        honoured: Keys with an effect, such as ``recruitment.reward``; ``recruitment`` alone stands
            for every key of the table.
        set_aside: Keys without an effect, which the launch reports: ignoring them breaks no promise
            to participants.
    """

    honoured: frozenset[str] = frozenset()
    set_aside: frozenset[str] = frozenset(_TABLES)

    def answer(self, key: str) -> Answer:
        """Return the treatment of a key."""
        for named in (key, key.partition(".")[0]):
            if named in self.honoured:
                return Answer.HONOURED
            if named in self.set_aside:
                return Answer.SET_ASIDE
        return Answer.REFUSED


def keys() -> Iterator[str]:
    """Yield every key, in the order of the tables."""
    for table, model in _TABLES.items():
        yield from (f"{table}.{name}" for name in model.model_fields)


def refuse_unknown_terms(name: str, terms: Terms, study: Study) -> None:
    """Check that the recruiter honours or may ignore every term of the study.

    Raises:
        RunError: The study has terms that the recruiter does not support; all are named.
    """
    if refused := list(_written(terms, study, Answer.REFUSED)):
        raise RunError(
            f'the recruiter "{name}" cannot do what these keys ask for: {", ".join(refused)}',
            where=f"{study.name}/study.toml",
            expected="keys that it honours: docs/studies.md has a table of them",
            remedy="Leave them out, or launch the study with another recruiter",
        )


def set_aside(terms: Terms, study: Study) -> list[str]:
    """Return the keys of a study that the recruiter ignores, whole tables as one entry.

    A table whose written keys are all ignored is named once, as ``[recruitment]``.
    """
    found = list(_written(terms, study, Answer.SET_ASIDE))
    honoured = {key.partition(".")[0] for key in _written(terms, study, Answer.HONOURED)}
    whole = [
        table
        for table in _TABLES
        if terms.answer(table) is Answer.SET_ASIDE and table not in honoured
    ]
    tables = [f"[{table}]" for table in whole if any(key.startswith(f"{table}.") for key in found)]
    return tables + [key for key in found if key.partition(".")[0] not in whole]


def _written(terms: Terms, study: Study, answer: Answer) -> Iterator[str]:
    """Yield the keys with that treatment whose value in study.toml is not the default."""
    for key in keys():
        table, _, name = key.partition(".")
        given: BaseModel | None = getattr(study, table)
        default = _TABLES[table].model_fields[name].default
        if given is not None and getattr(given, name) != default and terms.answer(key) is answer:
            yield key
