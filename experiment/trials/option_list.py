"""Three options or more: the good one and its alternatives."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from experiment.errors import StudyError
from experiment.materials.render import without_added_stop
from experiment.records import SIDES, Item, Side, Variant
from experiment.tables.column import Column
from experiment.tables.schemas import (
    CHOICE_OF_SEVERAL_COLUMNS,
    OPTIONS_COLUMN,
    SEVERAL_SIDES_COLUMN,
)
from experiment.trials.presentations import Shown

_FEWEST = 2


class OptionList(BaseModel):
    """Shows an item's context, where it has one, and below it the options, each on its place."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str] = "option_list"
    template: ClassVar[str] = "trial_option_list.html"
    columns: ClassVar[tuple[Column, ...]] = CHOICE_OF_SEVERAL_COLUMNS
    trial_columns: ClassVar[tuple[Column, ...]] = (SEVERAL_SIDES_COLUMN, OPTIONS_COLUMN)
    typical_rt_ms: ClassVar[float] = 3500.0

    against: list[str] = Field(
        default=[Variant.BAD, Variant.DISTRACTOR],
        min_length=1,
        max_length=len(SIDES) - 1,
        description="the columns of the other options; an item may leave some of them empty",
    )
    whole_sentences: bool = Field(
        default=False, description="whether each option is shown behind the context, as a sentence"
    )

    @field_validator("against")
    @classmethod
    def _others_than_good(cls, against: list[str]) -> list[str]:
        if Variant.GOOD in against:
            raise ValueError("good is always one of the options: name only the others")
        return against

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.against)) < len(self.against):
            raise ValueError("a column is given twice in against")
        return self

    @property
    def points(self) -> None:
        """No scale: an option is chosen."""

    @property
    def n_answers(self) -> int:
        """How many options a trial has at most."""
        return 1 + len(self.against)

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the item's options by name, the good one first.

        Raises:
            StudyError: Nothing stands against the good one, or two options are the same.
        """
        names = (Variant.GOOD, *(name for name in self.against if item.version(name)))
        texts = [item.version(name) for name in names]
        if len(names) < _FEWEST or len(set(texts)) < len(texts):
            raise StudyError(
                f'the item "{item.item_id}" has '
                + ("only one option" if len(names) < _FEWEST else "two options that are the same"),
                where="presentation option_list",
                expected=f"different options in good and {', '.join(self.against)}",
            )
        return tuple(map(str, names))

    def show(self, item: Item, good_side: Side, render: Callable[[str], str]) -> Shown:
        """Return the options with the good one on its place, the others in their order."""
        versions = list(self.versions(item))
        place = min(SIDES.index(good_side), len(versions) - 1)
        versions.insert(place, versions.pop(0))
        return self.show_options(item, versions, render)

    def show_options(
        self, item: Item, options: Sequence[str], render: Callable[[str], str]
    ) -> Shown:
        """Return the options in this order."""
        texts = [item.version(name) for name in options]
        if self.whole_sentences or not item.context:
            first, second, *more = (render(f"{item.context} {text}".strip()) for text in texts)
            return Shown(first, second, more=tuple(more))
        first, second, *more = texts
        return Shown(first, second, without_added_stop(item.context, render), tuple(more))
