"""SyntaxGym suites: items consist of conditions, conditions of regions.

Hu, J., Gauthier, J., Qian, P., Wilcox, E., & Levy, R. P. (2020). A systematic assessment of
syntactic generalization in neural language models. ACL 2020.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiment.errors import MaterialsError, describe_validation_error
from experiment.materials.formats.raw import read_text

# Surprisals in bits by condition and region.
Surprisals = Mapping[tuple[str, int], float]
# The tolerances within which "=" treats two surprisals in bits as equal.
RELATIVE_BITS, ABSOLUTE_BITS = 1e-5, 1e-3

_TOKEN = re.compile(
    r"\s*(?:\(\s*(?P<region>\d+|\*)\s*;\s*%(?P<condition>[^%]+)%\s*\)"
    r"|(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)|(?P<sign>[-+<>=&|()\[\]]))"
)
_OPERATORS = ("&|", "<>=", "+-")
_CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class Region:
    """One region of a condition, or all its regions if the number is None."""

    condition: str
    number: int | None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its two operands."""

    sign: str
    left: "FormulaPart"
    right: "FormulaPart"


FormulaPart = Region | Operation | float


@dataclass(frozen=True, slots=True)
class Formula:
    """A prediction's formula, which is true or false for an item.

    Attributes:
        text: The formula as written.
        root: The parsed formula.
    """

    text: str
    root: FormulaPart

    @property
    def regions(self) -> list[Region]:
        """The regions in the formula, each once."""
        return list(dict.fromkeys(_list_regions(self.root)))

    def holds(self, surprisals: Surprisals) -> bool:
        """Return whether the formula is true for an item's surprisals, given in bits."""
        return bool(_evaluate_part(self.root, surprisals))


def parse_formula(text: str, location: str) -> Formula:
    """Parse a formula.

    Args:
        text: The formula.
        location: The formula's location, for messages.

    Raises:
        MaterialsError: The text is not a formula with a truth value.
    """
    try:
        root = _Reader(text).whole()
        _check(root, truth=True)
    except ValueError as error:
        raise MaterialsError(
            f'"{text}" is not a formula: {error}',
            where=location,
            expected='a formula such as "((2;%match%) - (2;%other%)) < 0", with the operators '
            "+ - < > = & | and comparisons that have two sides",
        ) from error
    return Formula(text, root)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._place, self._next = text, 0, ""
        self._match: re.Match[str] | None = None
        self._advance()

    def whole(self) -> FormulaPart:
        formula = self._parse_level(0)
        if self._match is not None:
            raise ValueError(f'nothing is allowed at "{self._unread_text}"')
        return formula

    @property
    def _unread_text(self) -> str:
        return self._text[self._match.start() if self._match else self._place :].strip()

    def _advance(self) -> None:
        self._match = _TOKEN.match(self._text, self._place)
        if self._match is None and self._text[self._place :].strip():
            raise ValueError(f'a formula cannot contain "{self._text[self._place :].strip()}"')
        self._place = self._match.end() if self._match else len(self._text)
        self._next = (self._match["sign"] or "") if self._match else ""

    def _parse_level(self, level: int) -> FormulaPart:
        if level == len(_OPERATORS):
            return self._parse_atom()
        operand = self._parse_level(level + 1)
        n_signs = 0
        while self._next and self._next in _OPERATORS[level]:
            sign, n_signs = self._next, n_signs + 1
            if level == 1 and n_signs > 1:
                raise ValueError(f'two comparisons in a row at "{self._unread_text}"')
            self._advance()
            operand = Operation(sign, operand, self._parse_level(level + 1))
        return operand

    def _parse_atom(self) -> FormulaPart:
        match, opening = self._match, self._next
        if match is None:
            raise ValueError("it is incomplete")
        if opening in _CLOSING:
            self._advance()
            inner = self._parse_level(0)
            if self._next != _CLOSING[opening]:
                location = f'"{self._unread_text}"' if self._unread_text else "its end"
                raise ValueError(f'"{_CLOSING[opening]}" is missing at {location}')
            self._advance()
            return inner
        if opening in ("-", "+"):
            self._advance()
            if self._match is None or not self._match["number"]:
                raise ValueError(f'a sign without a number at "{self._unread_text}"')
            number = float(self._match["number"])
            self._advance()
            return -number if opening == "-" else number
        if opening:
            raise ValueError(f'nothing is allowed at "{self._unread_text}"')
        self._advance()
        if match["number"]:
            return float(match["number"])
        region = match["region"]
        return Region(match["condition"].strip(), None if region == "*" else int(region))


def _check(part: FormulaPart, *, truth: bool) -> None:
    """Raise a ValueError if a surprisal is used as a truth value, or the reverse."""
    is_truth = isinstance(part, Operation) and part.sign not in "+-"
    if is_truth != truth:
        fault = "missing" if truth else "given where a surprisal is needed"
        raise ValueError(f"a comparison is {fault}")
    if isinstance(part, Operation):
        for side in (part.left, part.right):
            _check(side, truth=part.sign in "&|")


def _list_regions(part: FormulaPart) -> Iterator[Region]:
    if isinstance(part, Region):
        yield part
    elif isinstance(part, Operation):
        yield from _list_regions(part.left)
        yield from _list_regions(part.right)


def _evaluate_part(part: FormulaPart, surprisals: Surprisals) -> float:
    if isinstance(part, Region):
        if part.number is not None:
            return surprisals[part.condition, part.number]
        return sum(bits for (name, _), bits in surprisals.items() if name == part.condition)
    if not isinstance(part, Operation):
        return part
    left, right = (_evaluate_part(side, surprisals) for side in (part.left, part.right))
    match part.sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "<":
            return left < right
        case ">":
            return left > right
        case "=":
            # The comparison is asymmetric: the relative tolerance refers to the right side.
            return abs(left - right) <= ABSOLUTE_BITS + RELATIVE_BITS * abs(right)
        case "&":
            return bool(left) and bool(right)
        case _:
            return bool(left) or bool(right)


# How the surprisals of a region's tokens are combined to one number.
Metric = Literal["sum", "mean", "median", "range", "max", "min"]
_DEFAULT_METRIC: Metric = "sum"


class _SuitePart(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


class SuiteRegion(_SuitePart):
    """A region: its number, which formulas refer to, and its text, which may be empty."""

    region_number: int | None = None
    content: str = ""


class SuiteCondition(_SuitePart):
    """A condition of an item: a sentence divided into regions."""

    condition_name: str
    regions: list[SuiteRegion]

    @property
    def numbers(self) -> list[int]:
        """The regions' numbers; a region without a number gets its position."""
        return [
            number if region.region_number is None else region.region_number
            for number, region in enumerate(self.regions, start=1)
        ]

    @property
    def texts(self) -> list[str]:
        """The regions' texts, which single spaces join to the sentence."""
        return [" ".join(region.content.split()) for region in self.regions]


class SuiteItem(_SuitePart):
    """An item with all its conditions."""

    item_number: str
    conditions: list[SuiteCondition]


class _Meta(_SuitePart):
    name: str = ""
    metric: Metric | Literal["all"] | list[str] = _DEFAULT_METRIC


class _Prediction(_SuitePart):
    formula: str


class Suite(_SuitePart):
    """The contents of a suite's file."""

    meta: _Meta = _Meta()
    predictions: list[_Prediction] = Field(min_length=1)
    items: list[SuiteItem] = Field(min_length=1)

    @property
    def metric(self) -> Metric:
        """How surprisals in a region are combined: by the given metric, or sum if it is "all"."""
        metric = self.meta.metric
        return _DEFAULT_METRIC if metric == "all" or isinstance(metric, list) else metric

    def formulas(self, path: Path) -> list[Formula]:
        """Return the predictions' formulas.

        Args:
            path: The suite's file, for messages.

        Raises:
            MaterialsError: A formula is invalid, or names a region that an item lacks.
        """
        formulas = [
            parse_formula(prediction.formula, f"{path}, prediction {number}")
            for number, prediction in enumerate(self.predictions, start=1)
        ]
        for item in self.items:
            _refuse_lacking(item, formulas, path)
        return formulas


def _refuse_lacking(item: SuiteItem, formulas: Sequence[Formula], path: Path) -> None:
    numbers = {condition.condition_name: set(condition.numbers) for condition in item.conditions}
    for formula in formulas:
        for region in formula.regions:
            condition_numbers = numbers.get(region.condition)
            if condition_numbers is None or (
                region.number is not None and region.number not in condition_numbers
            ):
                raise MaterialsError(
                    f'the formula "{formula.text}" names the region {region.number or "*"} of the '
                    f'condition "{region.condition}", but the item has no such '
                    f"{'condition' if condition_numbers is None else 'region'}",
                    where=f"{path}, item {item.item_number}",
                    expected=f"conditions among {', '.join(numbers)}, and their regions' numbers",
                )


def is_suite(path: Path) -> bool:
    """Return whether a file is JSON with the keys of a suite."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        document = json.loads(read_text(path)[0])
    except (ValueError, MaterialsError):
        return False
    return isinstance(document, dict) and {"predictions", "items"} <= document.keys()


def load_suite(path: Path) -> Suite:
    """Read the suite in a file.

    Raises:
        MaterialsError: The file is not a suite.
    """
    try:
        suite = Suite.model_validate_json(read_text(path)[0])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise MaterialsError(
            f"not a SyntaxGym suite: {'.'.join(map(str, first['loc']))}: "
            f"{describe_validation_error(first)}",
            where=str(path),
            expected="JSON with meta, predictions and items in regions",
        ) from error
    return suite
