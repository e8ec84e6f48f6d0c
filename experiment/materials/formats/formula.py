"""SyntaxGym's formulas: what a prediction says of the surprisals of conditions' regions.

``(3;%match%)`` is the surprisal of region 3 in the condition match, ``(*;%match%)`` that of all its
regions together. Sums and differences bind before comparisons, and these before ``&`` and ``|``,
which are read from the left, as in the program that defines them (Gauthier et al. 2020).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from experiment.errors import MaterialsError

# By condition and region.
Surprisals = Mapping[tuple[str, int], float]
# How near two surprisals in bits are that "=" calls equal.
RELATIVE_BITS, ABSOLUTE_BITS = 1e-5, 1e-3

_TOKEN = re.compile(
    r"\s*(?:\(\s*(?P<region>\d+|\*)\s*;\s*%(?P<condition>[^%]+)%\s*\)"
    r"|(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)|(?P<sign>[-+<>=&|()\[\]]))"
)
_LEVELS = ("&|", "<>=", "+-")
_CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class Region:
    """A condition's region, or all its regions, where the number is None."""

    condition: str
    number: int | None


@dataclass(frozen=True, slots=True)
class Operation:
    """A sign between two parts."""

    sign: str
    left: "Part"
    right: "Part"


Part = Region | Operation | float


@dataclass(frozen=True, slots=True)
class Formula:
    """A prediction's formula, which is true or false of an item.

    Attributes:
        text: As it is written.
        root: What it consists of.
    """

    text: str
    root: Part

    @property
    def regions(self) -> list[Region]:
        """The regions that it speaks of, each once."""
        return list(dict.fromkeys(_regions(self.root)))

    def holds(self, surprisals: Surprisals) -> bool:
        """Return whether it is true of an item's surprisals, given in bits."""
        return bool(_value(self.root, surprisals))


def parse_formula(text: str, where: str) -> Formula:
    """Return the formula that a text is.

    Args:
        text: The formula.
        where: Where it stands, for messages.

    Raises:
        MaterialsError: The text is no formula that is true or false.
    """
    try:
        root = _Reader(text).whole()
        _check(root, truth=True)
    except ValueError as error:
        raise MaterialsError(
            f'"{text}" is not a formula: {error}',
            where=where,
            expected='a formula such as "((2;%match%) - (2;%other%)) < 0", with the operators '
            "+ - < > = & | and comparisons that have two sides",
        ) from error
    return Formula(text, root)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._place, self._next = text, 0, ""
        self._match: re.Match[str] | None = None
        self._advance()

    def whole(self) -> Part:
        found = self._level(0)
        if self._match is not None:
            raise ValueError(f'nothing is allowed at "{self._rest}"')
        return found

    @property
    def _rest(self) -> str:
        return self._text[self._match.start() if self._match else self._place :].strip()

    def _advance(self) -> None:
        self._match = _TOKEN.match(self._text, self._place)
        if self._match is None and self._text[self._place :].strip():
            raise ValueError(f'no formula knows what "{self._text[self._place :].strip()}" means')
        self._place = self._match.end() if self._match else len(self._text)
        self._next = (self._match["sign"] or "") if self._match else ""

    def _level(self, level: int) -> Part:
        if level == len(_LEVELS):
            return self._atom()
        found = self._level(level + 1)
        n_signs = 0
        while self._next and self._next in _LEVELS[level]:
            sign, n_signs = self._next, n_signs + 1
            if level == 1 and n_signs > 1:
                raise ValueError(f'two comparisons in a row at "{self._rest}"')
            self._advance()
            found = Operation(sign, found, self._level(level + 1))
        return found

    def _atom(self) -> Part:
        match, opening = self._match, self._next
        if match is None:
            raise ValueError("it is incomplete")
        if opening in _CLOSING:
            self._advance()
            inner = self._level(0)
            if self._next != _CLOSING[opening]:
                place = f'"{self._rest}"' if self._rest else "its end"
                raise ValueError(f'"{_CLOSING[opening]}" is missing at {place}')
            self._advance()
            return inner
        if opening in ("-", "+"):
            self._advance()
            if self._match is None or not self._match["number"]:
                raise ValueError(f'a sign without a number at "{self._rest}"')
            number = float(self._match["number"])
            self._advance()
            return -number if opening == "-" else number
        if opening:
            raise ValueError(f'nothing is allowed at "{self._rest}"')
        self._advance()
        if match["number"]:
            return float(match["number"])
        named = match["region"]
        return Region(match["condition"].strip(), None if named == "*" else int(named))


def _check(part: Part, *, truth: bool) -> None:
    """Raise a ValueError where a surprisal stands for a truth, or a truth for a surprisal."""
    is_truth = isinstance(part, Operation) and part.sign not in "+-"
    if is_truth != truth:
        how = "missing" if truth else "given where a surprisal is needed"
        raise ValueError(f"a comparison is {how}")
    if isinstance(part, Operation):
        for side in (part.left, part.right):
            _check(side, truth=part.sign in "&|")


def _regions(part: Part) -> Iterator[Region]:
    if isinstance(part, Region):
        yield part
    elif isinstance(part, Operation):
        yield from _regions(part.left)
        yield from _regions(part.right)


def _value(part: Part, surprisals: Surprisals) -> float:
    if isinstance(part, Region):
        if part.number is not None:
            return surprisals[part.condition, part.number]
        return sum(bits for (name, _), bits in surprisals.items() if name == part.condition)
    if not isinstance(part, Operation):
        return part
    left, right = (_value(side, surprisals) for side in (part.left, part.right))
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
            # Not symmetric: the tolerance goes by the right side.
            return abs(left - right) <= ABSOLUTE_BITS + RELATIVE_BITS * abs(right)
        case "&":
            return bool(left) and bool(right)
        case _:
            return bool(left) or bool(right)
