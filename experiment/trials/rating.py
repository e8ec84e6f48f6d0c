"""One sentence, and below it a scale on which it is rated."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from experiment.records import Item, Side, Variant
from experiment.tables.column import Column
from experiment.tables.schemas import OPTIONS_COLUMN, RATED_SIDE_COLUMN, RATING_COLUMNS
from experiment.trials.presentations import Shown


class Rating(BaseModel):
    """Shows one version of an item and asks for a point of a scale.

    Of an item with two versions a participant sees one: the good one in half of the trials, and
    over the places of a list each as often as the other. An item may have the good one alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: ClassVar[str] = "rating"
    template: ClassVar[str] = "trial_rating.html"
    columns: ClassVar[tuple[Column, ...]] = RATING_COLUMNS
    trial_columns: ClassVar[tuple[Column, ...]] = (RATED_SIDE_COLUMN, OPTIONS_COLUMN)
    typical_rt_ms: ClassVar[float] = 3500.0

    points: int = Field(default=7, ge=2, le=9, description="how many points the scale has")
    lowest: str = Field(default="", description="the label of the scale's lowest point")
    highest: str = Field(default="", description="the label of its highest point")

    @property
    def n_answers(self) -> int:
        """How many answers there are: the scale's points."""
        return self.points

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the versions of an item that are rated, the good one first."""
        return (Variant.GOOD, str(item.contrast)) if item.alternative else (Variant.GOOD,)

    def show(self, item: Item, good_side: Side, render: Callable[[str], str]) -> Shown:
        """Return the good version where its side is the first, else the other, if there is one."""
        versions = self.versions(item)
        return self.show_options(
            item, versions[:1] if good_side is Side.FIRST else versions[-1:], render
        )

    def show_options(
        self, item: Item, options: Sequence[str], render: Callable[[str], str]
    ) -> Shown:
        """Return the version rated, as a whole sentence."""
        return Shown(render(f"{item.context} {item.version(options[0])}".strip()), "")
