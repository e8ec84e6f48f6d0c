"""The response type of sessions with several tasks; it delegates each trial to its task's type."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

from pydantic import Field, PrivateAttr

from experiment.errors import StudyError
from experiment.plugins import unknown_name
from experiment.records import Item, Side, Steps
from experiment.responses.base import (
    Arrangement,
    GivenAnswer,
    Gives,
    Known,
    PartSettings,
    Render,
    ResponseType,
    ScoredAnswer,
    Shown,
)
from experiment.responses.mixed.task import TASK_COLUMN, Task, unite_columns, united_table
from experiment.responses.registry import RESPONSE_TYPES, response_class
from experiment.responses.responders import Responder
from experiment.tables.column import Column, TableSchema


class Mixed(ResponseType):
    """Shows each trial as its item's task requires.

    A stored trial has the task's name in front of the values that the task's own type stores.
    """

    name: ClassVar[str] = "mixed"
    family: ClassVar[str] = "mixed"
    template: ClassVar[str] = "mixed/mixed.html"
    script: ClassVar[str] = "mixed/mixed.js"
    typical_rt_ms: ClassVar[float] = 3500.0
    # Each task checks this for its own items: see ``of_item``.
    alone: ClassVar[bool] = True
    asked: ClassVar[str] = "mixed"
    instructions: ClassVar[str] = "instructions_mixed"

    column: str = Field(default="task", description="your column that names each item's task")
    tasks: dict[str, Task] = Field(
        min_length=2, description="the tasks by name, each with its type of response"
    )
    _templates: Mapping[str, str] = PrivateAttr(default_factory=dict)

    # The task of a trial.

    def within(self, block_of: Mapping[str, str]) -> Self:
        """Return this type with tasks assigned to the design's blocks.

        Raises:
            StudyError: Two tasks name one block, or a task names an unknown block.
        """
        task_blocks = [
            (block, task) for task, of_task in self.tasks.items() for block in of_task.blocks
        ]
        of_block = dict(task_blocks)
        for block, number in Counter(block for block, _ in task_blocks).items():
            location = f"study.toml, trial.parameters.tasks.{of_block[block]}.blocks"
            if number > 1:
                raise StudyError(
                    f'two tasks name the block "{block}"',
                    where=location,
                    expected="one task for each",
                )
            if block not in block_of.values():
                raise StudyError(
                    unknown_name("block", block, set(block_of.values())).problem,
                    where=location,
                    expected="a block of design.squares, design.shared or design.given",
                )
        placed = self.model_copy()
        placed._templates = {
            template: of_block[block] for template, block in block_of.items() if block in of_block
        }
        return placed

    def task_of(self, item: Item) -> str:
        """Return the name of an item's task, from the item's own column or else from its block.

        Raises:
            StudyError: Neither names a task, or the column names an unknown one.
        """
        named_task = dict(item.extra).get(self.column, "").strip()
        task = named_task or self._templates.get(item.template, "")
        if task in self.tasks:
            return task
        task_names = ", ".join(self.tasks)
        raise StudyError(
            f'the item "{item.item_id}" belongs to the task "{task}", which study.toml lacks'
            if task
            else f'nothing says which task the item "{item.item_id}" belongs to',
            expected=f'one of {task_names} in the column "{self.column}", or a task with the '
            "blocks of its items",
            remedy="Name it in the table of items, or give the task its blocks",
        )

    @cached_property
    def types(self) -> dict[str, ResponseType]:
        """The response type of each task, by task name."""
        return {name: task.type for name, task in self.tasks.items()}

    @property
    def page_tasks(self) -> dict[str, dict[str, object]]:
        """The keys, the title and the deadline of each task, by task name."""
        return {
            name: {
                "keys": list(task.chosen_by),
                "title": task.title,
                "deadline_ms": task.type.deadline_ms,
            }
            for name, task in self.tasks.items()
        }

    def settings_of_part(self, name: str) -> PartSettings:
        """Return a task's type and its parameters."""
        task = self.tasks[name]
        return PartSettings(task.response, task.parameters)

    def of_item(self, item: Item) -> ResponseType:
        """Return the response type of an item's task."""
        return self.tasks[self.task_of(item)].type

    def part_of(self, arrangement: Arrangement) -> tuple[str, Arrangement]:
        """Return the task of a stored trial, and the trial as the task's own type stores it."""
        return arrangement.options[0], replace(arrangement, options=arrangement.options[1:])

    def whole(self, task: str, arrangement: Arrangement) -> Arrangement:
        """Return a task's trial in the form in which it is stored."""
        return replace(arrangement, options=(task, *arrangement.options))

    def _split_task_name(self, options: str | None) -> tuple[ResponseType, str | None]:
        task, _, task_options = (options or "").partition(" ")
        return self.tasks[task].type, task_options or None

    # The columns of the tables.

    @cached_property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """The columns of the answers to all tasks."""
        return unite_columns(
            {name: type_.all_columns for name, type_ in self.types.items()}, (TASK_COLUMN,)
        )

    @cached_property
    def trial_columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """The columns that the tasks add to the table of trials."""
        return unite_columns(
            {name: type_.trial_columns for name, type_ in self.types.items()}, (TASK_COLUMN,)
        )

    @cached_property
    def step_table(self) -> TableSchema | None:  # type: ignore[override]
        """The table of steps of the tasks that are read step by step."""
        return united_table({name: type_.step_table for name, type_ in self.types.items()})

    @cached_property
    def gives(self) -> frozenset[Gives]:  # type: ignore[override]
        """Everything that the answers to any of the tasks provide."""
        return frozenset().union(*(type_.gives for type_ in self.types.values()))

    @cached_property
    def details(self) -> Mapping[str, str]:  # type: ignore[override]
        """The details of the answers to any of the tasks."""
        return {key: told for type_ in self.types.values() for key, told in type_.details.items()}

    @property
    def score_columns(self) -> tuple[Column, ...]:
        """The scores of all tasks."""
        return tuple(column for type_ in self.types.values() for column in type_.score_columns)

    # What the screen shows.

    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the texts of a trial, and its task."""
        return self._add_task(item, self.of_item(item).show(item, good_side, render))

    def show_options(self, item: Item, options: Sequence[str], render: Render) -> Shown:
        """Return the texts of a stored trial, and its task."""
        task, *task_options = options
        type_ = self.tasks[task].type
        if task_options:
            return self._add_task(item, type_.show_options(item, task_options, render))
        # A pair stores no options; the caller sets the side that counts.
        return self.show(item, Side.FIRST, render)

    def show_arranged(self, item: Item, arrangement: Arrangement, render: Render) -> Shown:
        """Return the texts of a stored trial, or of one in a preview, and its task."""
        if not arrangement.options:
            return super().show_arranged(item, arrangement, render)
        task, part = self.part_of(arrangement)
        return self._add_task(item, self.tasks[task].type.show_arranged(item, part, render))

    def screens(self, item: Item, render: Render) -> tuple[Shown, ...]:
        """Return every screen that an item can have."""
        return tuple(
            self._add_task(item, screen) for screen in self.of_item(item).screens(item, render)
        )

    def _add_task(self, item: Item, screen: Shown) -> Shown:
        return replace(screen, besides={**screen.besides, "task": self.task_of(item)})

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's versions that its task may show."""
        return self.of_item(item).versions(item)

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the arrangement to store for a trial."""
        return self.whole(self.task_of(item), self.of_item(item).arrangement(item, options))

    def practice_arrangement(self, item: Item, good_side: Side) -> Arrangement:
        """Return the arrangement of a practice trial of the item's task."""
        return self.whole(
            self.task_of(item), self.of_item(item).practice_arrangement(item, good_side)
        )

    @property
    def balanced_over(self) -> int:
        """The number of places over which all tasks are balanced (least common multiple)."""
        return math.lcm(*(type_.balanced_over for type_ in self.types.values()))

    # How the server reads and checks an answer.

    @property
    def n_answers(self) -> int:
        """The largest number of answers that any task offers."""
        return max(type_.n_answers for type_ in self.types.values())

    def n_offered(self, options: str | None) -> int:
        """Return how many answers a trial's task offers."""
        type_, task_options = self._split_task_name(options)
        return type_.n_offered(task_options)

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether an answer is valid for the trial's task."""
        type_, task_options = self._split_task_name(options)
        return type_.accepts(answer, task_options)

    def settle(self, answer: GivenAnswer, options: str | None) -> GivenAnswer:
        """Return an accepted answer as the trial's task stores it."""
        type_, task_options = self._split_task_name(options)
        return type_.settle(answer, task_options)

    def of_options(self, options: str | None) -> ResponseType:
        """Return the response type of a stored trial's task."""
        return self._split_task_name(options)[0]

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the evaluation of an answer by the trial's task."""
        task, part = self.part_of(arrangement)
        return self.tasks[task].type.score_answer(part, answer)

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return the error-free answer to the trial's task."""
        task, part = self.part_of(arrangement)
        return self.tasks[task].type.correct_answer(part)

    def is_late(
        self, arrangement: Arrangement, rt_ms: float | None, steps: Steps | None = None
    ) -> bool | None:
        """Return whether an answer came after the deadline of the trial's task."""
        task, part = self.part_of(arrangement)
        return self.tasks[task].type.is_late(part, rt_ms, steps)

    # What the export contains.

    @property
    def completes_rows(self) -> bool:
        """True: the stored columns begin with the task's name, which the export separates."""
        return True

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the columns that the trial's task derives."""
        task, _, task_options = str(row["task"]).partition(" ")
        type_ = self.tasks[task].type
        steps, details = row.pop("steps", None), row.pop("details", None)
        assert isinstance(steps, Steps | None)
        of_task = row | {"version": task_options} | ({"steps": steps} if type_.step_table else {})
        of_task |= {"details": details} if type_.details else {}
        return {**type_.derive_all_columns(of_task), **self._foreign_columns[task], "task": task}

    @cached_property
    def _foreign_columns(self) -> dict[str, dict[str, None]]:
        """The columns that stay empty in each task's rows because only other tasks have them."""
        names = {
            task: {column.name for column in type_.all_columns}
            for task, type_ in self.types.items()
        }
        all_names = set().union(*names.values())
        return {task: dict.fromkeys(sorted(all_names - of_task)) for task, of_task in names.items()}

    @cached_property
    def _foreign_step_columns(self) -> dict[str, dict[str, None]]:
        """The same for the columns of the table of steps."""
        tables = {task: type_.step_table for task, type_ in self.types.items()}
        names = {
            task: set(table.column_names) if table else set() for task, table in tables.items()
        }
        all_names = set().union(*names.values())
        return {task: dict.fromkeys(sorted(all_names - of_task)) for task, of_task in names.items()}

    def step_rows(
        self, item: Item, arrangement: Arrangement, answer: GivenAnswer
    ) -> Iterator[dict[str, object]]:
        """Yield the rows of steps from the trial's task."""
        task, part = self.part_of(arrangement)
        response = self.tasks[task].type
        for row in response.step_rows(item, part, answer):
            yield {**self._foreign_step_columns[task], **row}

    # How items are checked.

    def flaws(self, items: Sequence[Item]) -> Iterator[tuple[Item, StudyError]]:
        """Yield the faults that appear when each task's items are compared."""
        for name, type_ in self.types.items():
            yield from type_.flaws([item for item in items if self.task_of(item) == name])

    # How answers are simulated.

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return the answer of a simulated participant to the item's task."""
        return self.of_item(known.item).simulate(responder, known, options, rng)

    # How a table of items becomes a new study of this type.

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether a column ``task`` names two or more response types."""
        return len(_group_by_task(items)) > 1

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return a task for each response type that the column ``task`` names.

        Raises:
            StudyError: There is no such column, or it names fewer than two types.
        """
        of_task = _group_by_task(items)
        if len(of_task) < 2:
            type_names = ", ".join(name for name in RESPONSE_TYPES if name != cls.name)
            raise StudyError(
                'the table has no column "task" that names a type of response in each row, and two '
                "or more in all",
                where="the table of items",
                expected=f"two or more of {type_names}",
                remedy="Add the column, or write the tasks into study.toml: docs/reading.md",
            )
        tasks = {
            name: {
                "response": name,
                **response_class(name).propose_parameters(parameters, against, ends)[0],
            }
            for name, parameters in of_task.items()
        }
        return {"column": "task", "tasks": tasks}, f"The tasks are {', '.join(tasks)}."

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return an answer in a word or two."""
        task, part = self.part_of(arrangement)
        return self.tasks[task].type.describe_answer(part, answer)

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return "each trial is of its item's task: " + "; ".join(
            f"{name}: {type_.example_note}" for name, type_ in self.types.items()
        )


def _group_by_task(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Return items by the type in their column ``task``; empty if any item names no known type."""
    by_type: dict[str, list[Item]] = {}
    for item in items:
        by_type.setdefault(dict(item.extra).get("task", "").strip(), []).append(item)
    return by_type if set(by_type) <= set(RESPONSE_TYPES) - {Mixed.name} else {}
