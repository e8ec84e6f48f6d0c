"""What each recruiter does with each key of ``[recruitment]``, ``[payment]`` and ``[panel]``."""

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


# Whoever brings people: our own door honours these.
AT_THE_DOOR = frozenset({"recruitment.exclude_earlier_runs", "recruitment.after"})


class Answer(StrEnum):
    """What becomes of a key."""

    HONOURED = "honoured"
    REFUSED = "refused"
    SET_ASIDE = "set aside"


@dataclass(frozen=True, slots=True)
class Terms:
    """A recruiter's answers; a key in neither set is refused when a study with it is launched.

    Attributes:
        honoured: Keys with an effect, such as ``recruitment.reward``; ``recruitment`` alone stands
            for every key of the table.
        set_aside: Keys without one, which the launch names: they promise nobody anything.
    """

    honoured: frozenset[str] = frozenset()
    set_aside: frozenset[str] = frozenset(_TABLES)

    def answer(self, key: str) -> Answer:
        """Return what becomes of a key."""
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
    """Let pass only a study whose every term the recruiter honours or may set aside.

    Raises:
        RunError: It asks for what the recruiter cannot do; all of it is named.
    """
    if refused := list(_written(terms, study, Answer.REFUSED)):
        raise RunError(
            f'the recruiter "{name}" cannot do what these keys ask for: {", ".join(refused)}',
            where=f"{study.name}/study.toml",
            expected="keys that it honours: docs/studies.md has a table of them",
            remedy="Leave them out, or launch the study with another recruiter",
        )


def set_aside(terms: Terms, study: Study) -> list[str]:
    """Return the keys of a study that have no effect with the recruiter, tables in one word.

    A table of which nothing that is written has an effect is named once, as ``[recruitment]``.
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
    """Yield the keys with an answer to which study.toml gives another value than the default."""
    for key in keys():
        table, _, name = key.partition(".")
        given: BaseModel | None = getattr(study, table)
        default = _TABLES[table].model_fields[name].default
        if given is not None and getattr(given, name) != default and terms.answer(key) is answer:
            yield key
