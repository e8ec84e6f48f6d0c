"""Choices between two sentences, between two continuations, or among several options."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from pydantic import Field, field_validator, model_validator

from experiment.errors import StudyError
from experiment.materials.render import remove_added_stop
from experiment.records import SIDES, Item, Side, Variant
from experiment.responses.answer import CHOICE
from experiment.responses.base import Balance, Gives, Render, ResponseType, Shown
from experiment.tables.column import Column
from experiment.tables.schemas import (
    CHOICE_COLUMNS,
    CHOICE_OF_SEVERAL_COLUMNS,
    OPTIONS_COLUMN,
    SEVERAL_SIDES_COLUMN,
)


class PrefixCompletion(ResponseType):
    """Shows an item's context once and asks which option continues it better."""

    name: ClassVar[str] = "prefix_completion"
    template: ClassVar[str] = "choice/prefix_completion.html"
    columns: ClassVar[tuple[Column, ...]] = CHOICE_COLUMNS
    gives: ClassVar[frozenset[Gives]] = CHOICE
    typical_rt_ms: ClassVar[float] = 2500.0
    asked: ClassVar[str] = "completion"
    instructions: ClassVar[str] = "instructions_completion"
    has_context_above: ClassVar[bool] = True
    shows_one_pair: ClassVar[bool] = True

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether every item has a context."""
        return all(item.context for item in items)

    @property
    def shows_words_alone(self) -> bool:
        """True: the context is shown above the options."""
        return True

    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the context without the full stop that rendering added, and the options as words.

        Raises:
            StudyError: The item has no context.
        """
        if not item.context:
            raise StudyError(
                f'the item "{item.item_id}" has no context for its options to continue',
                where="response prefix_completion",
                expected="a context in every item",
                remedy='Give the templates a context, or choose the response "sentence_pair"',
            )
        first, second = order_by_side(item.good, item.alternative, good_side)
        return Shown(first, second, remove_added_stop(item.context, render))


class SentencePair(ResponseType):
    """Shows both sentences in full; an item's context becomes the beginning of each."""

    name: ClassVar[str] = "sentence_pair"
    template: ClassVar[str] = "choice/sentence_pair.html"
    columns: ClassVar[tuple[Column, ...]] = CHOICE_COLUMNS
    gives: ClassVar[frozenset[Gives]] = CHOICE
    typical_rt_ms: ClassVar[float] = 3500.0
    shows_one_pair: ClassVar[bool] = True

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return True: any item with two versions can be shown as a pair."""
        return True

    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the two sentences as the participant reads them."""
        good, bad = (render(item.after_context(option)) for option in (item.good, item.alternative))
        return Shown(*order_by_side(good, bad, good_side))


def order_by_side(good: str, bad: str, good_side: Side) -> tuple[str, str]:
    """Return two options in screen order, with the good one on its side."""
    return (good, bad) if good_side is Side.FIRST else (bad, good)


_FEWEST = 2


class Options(ResponseType):
    """Base class of the types that show several options, each in its own position."""

    columns: ClassVar[tuple[Column, ...]] = CHOICE_OF_SEVERAL_COLUMNS
    trial_columns: ClassVar[tuple[Column, ...]] = (SEVERAL_SIDES_COLUMN, OPTIONS_COLUMN)
    gives: ClassVar[frozenset[Gives]] = CHOICE
    balance: ClassVar[Balance] = Balance.PLACES
    asked: ClassVar[str] = "options"
    instructions: ClassVar[str] = "instructions_options"
    has_context_above: ClassVar[bool] = True

    @property
    def balanced_over(self) -> int:
        """The number of options: over as many places each option appears once in each position."""
        return self.n_answers

    def n_offered(self, options: str | None) -> int:
        """Return how many options a trial has: an item may lack some of them."""
        return self.n_answers if options is None else len(options.split())

    @property
    def completes_rows(self) -> bool:
        """True: the chosen version is derived from its position."""
        return True

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the chosen version."""
        index = SIDES.index(Side(str(row["chosen_side"])))
        return row | {"version": str(row["version"]).split()[index]}


class OptionList(Options):
    """Shows an item's context, if it has one, and below it the options, each in its position."""

    name: ClassVar[str] = "option_list"
    template: ClassVar[str] = "choice/option_list.html"
    typical_rt_ms: ClassVar[float] = 3500.0
    comments: ClassVar[Mapping[str, str]] = {"against": "the columns of the other options"}

    against: list[str] = Field(
        default=[Variant.BAD, Variant.DISTRACTOR],
        min_length=1,
        max_length=len(SIDES) - 1,
        description="the columns of the other options; an item may leave some of them empty",
    )
    whole_sentences: bool = Field(
        default=False, description="whether each option is shown after the context, as one sentence"
    )

    @field_validator("against")
    @classmethod
    def _refuse_good(cls, against: list[str]) -> list[str]:
        if Variant.GOOD in against:
            raise ValueError("good is always one of the options: name only the others")
        return against

    @model_validator(mode="after")
    def _refuse_repeated(self) -> Self:
        if len(set(self.against)) < len(self.against):
            raise ValueError("a column is given twice in against")
        return self

    @property
    def shows_words_alone(self) -> bool:
        """Whether the options are not written out as sentences."""
        return not self.whole_sentences

    @property
    def n_answers(self) -> int:
        """The largest number of options in a trial."""
        return 1 + len(self.against)

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether the items have several alternatives to the good option."""
        return bool(against)

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return the columns of the other options as parameters."""
        columns = (Variant.BAD, Variant.DISTRACTOR)
        other_versions = list(against) or [
            str(name) for name in columns if any(item.version(name) for item in items)
        ]
        note = f"{1 + len(other_versions)} options: good against {', '.join(other_versions)}."
        return {"against": other_versions}, note

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the names of the item's options, the good one first.

        Raises:
            StudyError: The good option has no alternative, or two options are identical.
        """
        names = (Variant.GOOD, *(name for name in self.against if item.version(name)))
        texts = [item.version(name) for name in names]
        if len(names) < _FEWEST or len(set(texts)) < len(texts):
            raise StudyError(
                f'the item "{item.item_id}" has '
                + ("only one option" if len(names) < _FEWEST else "two options that are the same"),
                where="response option_list",
                expected=f"different options in good and {', '.join(self.against)}",
            )
        return tuple(map(str, names))

    def show(self, item: Item, good_side: Side, render: Render) -> Shown:
        """Return the options with the good one in its position, the others in their given order."""
        versions = list(self.versions(item))
        index = min(SIDES.index(good_side), len(versions) - 1)
        versions.insert(index, versions.pop(0))
        return self.show_options(item, versions, render)

    def show_options(self, item: Item, options: Sequence[str], render: Render) -> Shown:
        """Return the texts of the options in this order."""
        texts = [item.version(name) for name in options]
        if self.whole_sentences or not item.context:
            first, second, *further_texts = (render(item.after_context(text)) for text in texts)
            return Shown(first, second, more=tuple(further_texts))
        first, second, *further_texts = texts
        return Shown(first, second, remove_added_stop(item.context, render), tuple(further_texts))
