"""The table ``design`` of study.toml: the lists, their contents, order and places."""

from collections.abc import Mapping
from itertools import product
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

_AtLeastTwo = Annotated[int, Field(ge=2)]


class Order(BaseModel):
    """Constraints besides ``design.separate``; columns are those that it may name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    in_a_row: dict[str, PositiveInt] = Field(
        default={}, description="column = how many consecutive trials may share its value"
    )
    distance: dict[str, _AtLeastTwo] = Field(
        default={}, description="column = the minimum distance between trials that share its value"
    )
    targets_apart: bool = Field(
        default=False, description="whether every two targets are separated by another trial"
    )
    first_fillers: NonNegativeInt = Field(
        default=0, description="how many of the first trials are fillers"
    )
    blocks: Literal["fixed", "counterbalanced"] = Field(
        default="fixed",
        description="whether blocks have a fixed order, or rotate so that each is equally often"
        " at each position in the session",
    )
    breaks: bool = Field(
        default=False, description="whether a break page is shown between two blocks"
    )
    pages: dict[str, str] = Field(
        default={},
        description="block = the text shown before it: a file in the folder of instructions.md",
    )
    first_blocks: list[str] = Field(
        default=[],
        description="blocks that precede the others, in this order, for all participants",
    )


Level = Annotated[str, Field(min_length=1)]
FactorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
When = dict[str, str]
# Above any realistic number, so that a typing error is reported at once.
_MOST_LISTS = _MOST_TRIALS = 100_000
_WHEN = "factor = level: only the lists of that level show them; all lists by default"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Table):
    """Templates that give lists their items, however they are dealt."""

    templates: list[str] = Field(
        min_length=1, description="the templates that give the source's items"
    )
    block: str = Field(
        default="", description="the block of the session that the source's items belong to"
    )
    when: When = Field(default={}, description=_WHEN)


class Square(Source):
    """One Latin square: frames by conditions, from one template or several pooled."""

    templates: list[str] = Field(
        min_length=1, description="the templates that give the square's frames"
    )
    frames: PositiveInt | None = Field(
        default=None, description="frames in all, shared equally; the number of lists by default"
    )
    catch_trials: int = Field(
        default=0, ge=0, description="how many of the square's items in each list are catch trials"
    )


class Shared(Source):
    """Items that every list shows: fillers, catch trials, practice items, controls."""

    items: PositiveInt | None = Field(
        default=None, description="how many of the items to draw, by the seed; all by default"
    )
    conditions: dict[str, PositiveInt] = Field(
        default={}, description="condition = how many of the condition's items to draw, by the seed"
    )

    @model_validator(mode="after")
    def _require_one_number(self) -> Self:
        if self.items and self.conditions:
            raise ValueError(
                "give either items or conditions, not both: one follows from the other"
            )
        return self


class Given(Source):
    """Items with a column that says in which list each of them is."""

    column: str = Field(default="list", description="the column of the items that names the list")


class Quota(_Table):
    """Lists that differ from the others in their places or their trials."""

    lists: list[NonNegativeInt] = Field(default=[], description="the lists' numbers, from 0")
    when: When = Field(
        default={}, description="factor = level: the lists of that level, in place of numbers"
    )
    participants_per_list: PositiveInt | None = Field(
        default=None, description="how many places each of these lists has"
    )
    trials_per_list: PositiveInt | None = Field(
        default=None, description="how many trials the audit expects in each of these lists"
    )


class Wording(_Table):
    """What participants of a level read in place of what the others do."""

    when: When = Field(min_length=1, description="factor = level: the participants who read this")
    title: str = Field(
        default="", description="the title above each trial, in place of the study's"
    )
    pages: dict[str, str] = Field(
        default={},
        description="page = the text shown in place of the page, such as instructions_fast",
    )

    @model_validator(mode="after")
    def _require_change(self) -> Self:
        if not (self.title or self.pages):
            raise ValueError("nothing is worded otherwise: give title, pages or both")
        return self


class Disjoint(_Table):
    """Templates with the same words in the same order, which must not share lexical choices."""

    templates: list[str] = Field(min_length=2, description="the templates kept apart")
    slots: list[str] = Field(
        min_length=1, description="the slots whose combination of words may occur only once"
    )


class Design(_Table):
    """The lists and who sees them."""

    lists: PositiveInt = Field(
        le=_MOST_TRIALS,
        description="how many lists; with factors, for each combination of their levels",
    )
    participants_per_list: PositiveInt = Field(description="how many places each list has")
    trials_per_list: PositiveInt = Field(
        le=_MOST_LISTS, description="how many trials the audit expects in a list"
    )
    lease_minutes: PositiveInt = Field(
        default=60, description="how long a place is reserved after the participant's last request"
    )
    replace_excluded: bool = Field(
        default=False,
        description="whether an excluded participant's place is given to another participant",
    )
    factors: dict[FactorName, Annotated[list[Level], Field(min_length=2)]] = Field(
        default={}, description="between participants: factor = its levels"
    )
    quotas: list[Quota] = Field(default=[], description="lists with numbers of their own")
    squares: list[Square] = Field(default=[], description="the Latin squares of the lists")
    shared: list[Shared] = Field(default=[], description="the items that every list shows")
    given: list[Given] = Field(
        default=[], description="the items with a column that assigns them to lists"
    )
    wording: list[Wording] = Field(
        default=[],
        description="texts for participants of one level, in place of the others' texts",
    )
    disjoint: list[Disjoint] = Field(default=[], description="templates kept apart")
    inclusion: str = Field(
        default="",
        description="a table of the probability with which each frame is drawn, as "
        "`parallax lists build --separate` writes it; all frames alike by default",
    )
    separate: str | list[str] = Field(
        default="construction", description="the columns that neighbouring trials must not share"
    )
    order: Order = Field(default=Order(), description="further constraints on the order of trials")

    @model_validator(mode="after")
    def _require_contents(self) -> Self:
        if not self.sources:
            raise ValueError("the lists are empty: give squares, shared or given")
        return self

    @property
    def sources(self) -> list[Source]:
        """The sources of the lists' items, in the order of a list."""
        return [*self.squares, *self.shared, *self.given]

    @property
    def block_of(self) -> dict[str, str]:
        """The block of each template."""
        return {name: source.block for source in self.sources for name in source.templates}

    @property
    def block_names(self) -> list[str]:
        """The blocks, in the order in which the study lists them."""
        return list(dict.fromkeys(source.block for source in self.sources))

    @property
    def combinations(self) -> list[dict[str, str]]:
        """The combinations of the factors' levels; one empty combination without factors."""
        names = list(self.factors)
        return [dict(zip(names, levels, strict=True)) for levels in product(*self.factors.values())]

    @property
    def n_lists(self) -> int:
        """The total number of lists."""
        return self.lists * len(self.combinations)

    def levels(self, list_: int) -> dict[str, str]:
        """Return the factors' levels of a list; neighbouring lists have different levels."""
        combinations = self.combinations
        return combinations[list_ % len(combinations)]

    def number_within(self, list_: int) -> int:
        """Return a list's number among the lists with the same levels, from 0."""
        return list_ // len(self.combinations)

    def places(self, list_: int) -> int:
        """Return a list's number of places (participant slots); the last matching quota applies."""
        numbers = [q.participants_per_list for q in self._quotas(list_) if q.participants_per_list]
        return numbers[-1] if numbers else self.participants_per_list

    def trials(self, list_: int) -> int:
        """Return a list's number of trials; the last matching quota applies."""
        numbers = [q.trials_per_list for q in self._quotas(list_) if q.trials_per_list]
        return numbers[-1] if numbers else self.trials_per_list

    @property
    def n_places(self) -> int:
        """The total number of places (participant slots)."""
        return sum(map(self.places, range(self.n_lists)))

    @property
    def most_trials(self) -> int:
        """The number of trials of the longest list."""
        return max(map(self.trials, range(self.n_lists)))

    def _quotas(self, list_: int) -> list[Quota]:
        return [
            quota
            for quota in self.quotas
            if (not quota.lists or list_ in quota.lists) and holds(quota.when, self.levels(list_))
        ]


def holds(condition: Mapping[str, str], levels: Mapping[str, str]) -> bool:
    """Return whether the levels of a list match the condition ``condition``."""
    return all(levels.get(factor) == level for factor, level in condition.items())
