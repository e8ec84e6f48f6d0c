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
CHECKED_AT_ARRIVAL = frozenset({"recruitment.exclude_earlier_runs", "recruitment.after"})


class Treatment(StrEnum):
    """How a recruiter treats a key."""

    HONOURED = "honoured"
    REFUSED = "refused"
    SET_ASIDE = "set aside"


@dataclass(frozen=True, slots=True)
class Terms:
    """A recruiter's treatment of keys; a launch refuses a study with a key in neither set.

    Attributes:
        honoured: Keys with an effect, such as ``recruitment.reward``; ``recruitment`` alone means
            every key of the table.
        set_aside: Keys without an effect, which the launch reports: ignoring them breaks no promise
            to participants.
    """

    honoured: frozenset[str] = frozenset()
    set_aside: frozenset[str] = frozenset(_TABLES)

    def answer(self, key: str) -> Treatment:
        """Return the treatment of a key."""
        for name in (key, key.partition(".")[0]):
            if name in self.honoured:
                return Treatment.HONOURED
            if name in self.set_aside:
                return Treatment.SET_ASIDE
        return Treatment.REFUSED


def list_keys() -> Iterator[str]:
    """Yield every key, in the order of the tables."""
    for table, model in _TABLES.items():
        yield from (f"{table}.{name}" for name in model.model_fields)


def refuse_unknown_terms(name: str, terms: Terms, study: Study) -> None:
    """Check that the recruiter honours or may ignore every term of the study.

    Raises:
        RunError: The study has terms that the recruiter does not support; all are named.
    """
    if refused := list(_used_keys(terms, study, Treatment.REFUSED)):
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
    ignored_keys = list(_used_keys(terms, study, Treatment.SET_ASIDE))
    honoured = {key.partition(".")[0] for key in _used_keys(terms, study, Treatment.HONOURED)}
    ignored_tables = [
        table
        for table in _TABLES
        if terms.answer(table) is Treatment.SET_ASIDE and table not in honoured
    ]
    tables = [
        f"[{table}]"
        for table in ignored_tables
        if any(key.startswith(f"{table}.") for key in ignored_keys)
    ]
    return tables + [key for key in ignored_keys if key.partition(".")[0] not in ignored_tables]


def _used_keys(terms: Terms, study: Study, answer: Treatment) -> Iterator[str]:
    """Yield the keys with that treatment whose value in study.toml is not the default."""
    for key in list_keys():
        table, _, name = key.partition(".")
        table_of_study: BaseModel | None = getattr(study, table)
        default = _TABLES[table].model_fields[name].default
        if (
            table_of_study is not None
            and getattr(table_of_study, name) != default
            and terms.answer(key) is answer
        ):
            yield key
