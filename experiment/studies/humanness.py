"""The table ``humanness``: trials that people and programs are known to answer differently.

Parallax itself makes no claim about the answers: a file of the study has published rates of people
and of programs, item by item, with their source. Without this file the trials are scored, and no
conclusion about the participant is drawn.
"""

from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from experiment.errors import StudyError, wrong_keys
from experiment.studies.toml_values import AS_TUPLE
from experiment.untrusted import read_toml


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Humanness(_Table):
    """The block of trials that people and programs are known to answer differently."""

    constructions: list[str] = Field(
        min_length=1, description="the constructions of the block's items"
    )
    rates: str = Field(
        default="",
        description="the file in the study folder with the published rates; without it, the "
        "block gives only scores",
    )


# A count and the total number.
Count = Annotated[tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]], AS_TUPLE]


class _Rate(_Table):
    people: Count = Field(
        description="[people who answered as expected, all people], as two numbers"
    )
    programs: Count = Field(
        description="[programs that answered as expected, all programs], as two numbers"
    )

    @model_validator(mode="after")
    def _check_counts(self) -> Self:
        if any(k > n for k, n in (self.people, self.programs)):
            raise ValueError("more than there were: give [how many, of how many]")
        return self


class ItemRate(_Rate):
    """How many answered an item as expected."""

    item: str = Field(min_length=1, description="the item's id")


class FailedItemsRate(_Rate):
    """How many failed at least a given number of the file's items."""

    at_least: int = Field(
        ge=1, description="the minimum number of items that were not answered as expected"
    )


class Rates(_Table):
    """Published rates at which people answer the items as expected, or fail them.

    Attributes:
        source: Where the rates were published, in full.
        note: What a reader must know, such as how the study's items differ from the published.
        items: How many answered as expected, for each item.
        failures: How many failed at least a given number of these items, where that was published.
    """

    source: str = Field(min_length=10, description="where the rates were published")
    note: str = Field(default="", description="a warning about the rates, for readers")
    items: list[ItemRate] = Field(min_length=1, description="the rates of each item")
    failures: list[FailedItemsRate] = Field(
        default=[], description="the rates of failing at least a number of items"
    )

    @model_validator(mode="after")
    def _refuse_repeated(self) -> Self:
        for kind, names in (
            ("item", [rate.item for rate in self.items]),
            ("at_least", [str(rate.at_least) for rate in self.failures]),
        ):
            repeated_name = next((name for name in names if names.count(name) > 1), None)
            if repeated_name is not None:
                raise ValueError(f'{kind} = "{repeated_name}" occurs twice')
        return self


def read_rates(text: str, where: Path) -> Rates:
    """Parse a file of rates.

    Args:
        text: The file's content.
        where: The file's path, for messages.

    Raises:
        StudyError: The text is not TOML, or a key is missing or invalid.
    """
    expected = "source, [[items]] with item, people and programs, as docs/humanness.md shows"
    try:
        return Rates.model_validate(read_toml(text))
    except ValidationError as error:
        raise StudyError(wrong_keys(error), where=str(where), expected=expected) from error
    except (ValueError, RecursionError) as error:
        raise StudyError(str(error), where=str(where), expected=expected) from error
