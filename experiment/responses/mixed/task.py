"""One task of a mixed session, as study.toml defines it, and the union of all tasks' columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from experiment.errors import StudyError
from experiment.responses.base import ResponseType
from experiment.responses.registry import load_response
from experiment.tables.column import Column, TableSchema

TASK_COLUMN = Column("task", "string", "the task of the trial, as study.toml names it")


class Task(BaseModel):
    """A task of a mixed session: its response type, the type's own keys, and the trials' title."""

    model_config = ConfigDict(extra="allow", frozen=True)

    response: str = Field(description="the type of response of the task's trials")
    title: str = Field(
        default="", description="the title above the task's trials; empty for the study's title"
    )
    keys: tuple[str, ...] = Field(
        default=(), description="the keys that choose; empty for the keys of the type of response"
    )
    blocks: tuple[str, ...] = Field(
        default=(), description="the blocks of the design whose items are of this task"
    )
    _type: ResponseType = PrivateAttr()

    @model_validator(mode="after")
    def _load(self) -> "Task":
        if self.response == "mixed":
            raise ValueError('a task of "mixed" cannot be mixed itself')
        # A study's own code is not imported here: a task's type must be built in or installed.
        self._type = load_response(self.response, self.parameters, own_code=False)
        n = self._type.n_answers
        if self.keys and len(self.keys) != n:
            raise ValueError(f"{len(self.keys)} keys choose among {n} answers")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the task's type, as ``trial.parameters`` would contain them."""
        return dict(self.model_extra or {})

    @property
    def type(self) -> ResponseType:
        """The task's response type."""
        return self._type

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The keys that choose the first answer, the second, and so on."""
        digits = tuple(map(str, range(1, self._type.n_answers + 1)))
        return self.keys or self._type.default_keys or digits


def unite_columns(
    by_task: Mapping[str, Sequence[Column]], leading: Iterable[Column] = ()
) -> tuple[Column, ...]:
    """Return the columns of all tasks, each once, in order of first appearance.

    A column that some task lacks may be empty. If the tasks' descriptions of a column differ, the
    result contains all of them.

    Args:
        by_task: Each task's columns, by its name.
        leading: Columns to put first.

    Raises:
        StudyError: Tasks measure different quantities under one name.
    """
    of_tasks: dict[str, dict[str, Column]] = {}
    for task, columns in by_task.items():
        for column in columns:
            of_tasks.setdefault(column.name, {})[task] = column
    lead = tuple(leading)
    further = (
        _unite_column(name, of, len(by_task))
        for name, of in of_tasks.items()
        if name not in _list_column_names(lead)
    )
    return (*lead, *further)


def united_table(tables: Mapping[str, TableSchema | None]) -> TableSchema | None:
    """Return the table of steps of all tasks that have one; None if no task does."""
    known_tables = {task: table for task, table in tables.items() if table}
    if not known_tables:
        return None
    first = next(iter(known_tables.values()))
    columns = unite_columns({task: table.columns for task, table in known_tables.items()})
    about = " ".join(dict.fromkeys(table.description for table in known_tables.values()))
    # Primary-key columns come first, as in every table.
    keys = sorted(columns, key=lambda column: column.name not in first.primary_key)
    return TableSchema(first.name, about, first.primary_key, tuple(keys))


def _list_column_names(columns: Iterable[Column]) -> set[str]:
    return {column.name for column in columns}


def _unite_column(name: str, of: Mapping[str, Column], n_tasks: int) -> Column:
    columns = list(of.values())
    first = columns[0]
    if len({(column.type, column.unit) for column in columns}) > 1:
        raise StudyError(
            f'the tasks {", ".join(of)} measure different things under the name "{name}"',
            where="study.toml, trial.parameters.tasks",
            expected="types of response whose columns of one name have one type and unit",
        )
    descriptions = dict.fromkeys(column.description for column in columns)
    description = first.description
    if len(descriptions) > 1:
        description = "; ".join(f"{task}: {column.description}" for task, column in of.items())
    values = tuple(dict.fromkeys(value for column in columns for value in column.values))
    is_partial = len(columns) < n_tasks
    return replace(
        first,
        description=description,
        optional=is_partial or any(column.optional for column in columns),
        values=values if all(column.values for column in columns) else (),
    )
