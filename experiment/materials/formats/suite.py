"""SyntaxGym suites as their files have them: items in conditions, conditions in regions.

Hu, J., Gauthier, J., Qian, P., Wilcox, E., & Levy, R. P. (2020). A systematic assessment of
syntactic generalization in neural language models. ACL 2020.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiment.errors import MaterialsError, said
from experiment.materials.formats.formula import Formula, parse_formula
from experiment.materials.formats.raw import read_text

# How the surprisals of a region's tokens become one number.
Metric = Literal["sum", "mean", "median", "range", "max", "min"]
_FIRST: Metric = "sum"


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


class SuiteRegion(_Part):
    """A region: its number, by which formulas name it, and its text, which may be empty."""

    region_number: int | None = None
    content: str = ""


class SuiteCondition(_Part):
    """A condition of an item: a sentence in regions."""

    condition_name: str
    regions: list[SuiteRegion]

    @property
    def numbers(self) -> list[int]:
        """The regions' numbers; a region that gives none has its place."""
        return [
            place if region.region_number is None else region.region_number
            for place, region in enumerate(self.regions, start=1)
        ]

    @property
    def texts(self) -> list[str]:
        """The regions' texts, as they join to the sentence by single spaces."""
        return [" ".join(region.content.split()) for region in self.regions]


class SuiteItem(_Part):
    """An item in all its conditions."""

    item_number: str
    conditions: list[SuiteCondition]


class _Meta(_Part):
    name: str = ""
    metric: Metric | Literal["all"] | list[str] = _FIRST


class _Prediction(_Part):
    formula: str


class Suite(_Part):
    """A suite's file."""

    meta: _Meta = _Meta()
    predictions: list[_Prediction] = Field(min_length=1)
    items: list[SuiteItem] = Field(min_length=1)

    @property
    def metric(self) -> Metric:
        """How a region's surprisals are summed up: the file's metric, the sum where it has all."""
        named = self.meta.metric
        return _FIRST if named == "all" or isinstance(named, list) else named

    def formulas(self, path: Path) -> list[Formula]:
        """Return the predictions' formulas.

        Args:
            path: The suite's file, for messages.

        Raises:
            MaterialsError: One is no formula, or speaks of a region that an item lacks.
        """
        found = [
            parse_formula(one.formula, f"{path}, prediction {number}")
            for number, one in enumerate(self.predictions, start=1)
        ]
        for item in self.items:
            _refuse_lacking(item, found, path)
        return found


def _refuse_lacking(item: SuiteItem, formulas: Sequence[Formula], path: Path) -> None:
    numbers = {one.condition_name: set(one.numbers) for one in item.conditions}
    for formula in formulas:
        for region in formula.regions:
            known = numbers.get(region.condition)
            if known is None or (region.number is not None and region.number not in known):
                raise MaterialsError(
                    f'the formula "{formula.text}" names the region {region.number or "*"} of the '
                    f'condition "{region.condition}", which the item lacks',
                    where=f"{path}, item {item.item_number}",
                    expected=f"conditions among {', '.join(numbers)}, and their regions' numbers",
                )


def is_suite(path: Path) -> bool:
    """Return whether a file is JSON with the keys of a suite."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        found = json.loads(read_text(path)[0])
    except (ValueError, MaterialsError):
        return False
    return isinstance(found, dict) and {"predictions", "items"} <= found.keys()


def load_suite(path: Path) -> Suite:
    """Return the suite in a file.

    Raises:
        MaterialsError: The file is no suite.
    """
    try:
        suite = Suite.model_validate_json(read_text(path)[0])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise MaterialsError(
            f"not a SyntaxGym suite: {'.'.join(map(str, first['loc']))}: {said(first)}",
            where=str(path),
            expected="JSON with meta, predictions and items in regions",
        ) from error
    return suite
