"""The factors of a design, and the notation of a comparison of their levels.

The notation is such as ``match: far - near x number: sg - pl``.

Three kinds of things are compared: cells of a design (``Contrast``), judges (``JudgeDifference``:
people minus a model, or two models), and items along a variable (``Slope``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from itertools import combinations, product
from math import prod

from experiment.errors import StudyError

PEOPLE, MODELS = "people", "models"
Factors = Mapping[str, Sequence[str]]
Levels = tuple[str, ...]
# Returns a level of a factor in the words of reports.
Label = Callable[[str, str], str]

_BY, _MINUS, _AT, _SLOPE = " x ", " - ", " at ", "slope of "
_MEAN = "mean("
NOTATION = (
    '"factor: level - level", "factor: level - level at factor = level", "factor x factor", '
    '"people - models" or "slope of column"'
)


@dataclass(frozen=True, slots=True)
class LevelDifference:
    """A level of a factor minus another level, or minus the mean of several levels."""

    factor: str
    first: str
    others: Levels

    @property
    def text(self) -> str:
        """The difference in the notation of study.toml."""
        several = len(self.others) > 1
        second = f"{_MEAN}{', '.join(self.others)})" if several else self.others[0]
        return f"{self.factor}: {self.first}{_MINUS}{second}"

    @property
    def words(self) -> str:
        """The difference in words, such as "far minus near"."""
        *other_levels, last = self.others
        second = f"the mean of {', '.join(other_levels)} and {last}" if other_levels else last
        return f"{self.first} minus {second}"

    def labelled(self, label: Label) -> "LevelDifference":
        """Return the difference with its levels in the words of reports."""
        others = tuple(label(self.factor, level) for level in self.others)
        return LevelDifference(self.factor, label(self.factor, self.first), others)

    def weight(self, level: str) -> float:
        """Return the weight of a level: 1 for the first, a negative share for the others."""
        return float(level == self.first) - float(level in self.others) / len(self.others)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A weighted sum of a design's cells: a main effect, a simple effect or an interaction.

    Attributes:
        differences: The difference of one factor's levels; of two or more factors, their
            interaction, which is a difference of differences.
        at: The levels of other factors at which the contrast holds, as (factor, level); factors
            that are not named are averaged over, each cell with equal weight.
    """

    differences: tuple[LevelDifference, ...]
    at: tuple[tuple[str, str], ...] = ()

    @property
    def named_factors(self) -> tuple[str, ...]:
        """The factors that are compared or held at a level; the others are averaged over."""
        return (*(step.factor for step in self.differences), *(factor for factor, _ in self.at))

    @property
    def text(self) -> str:
        """The contrast in the notation of study.toml."""
        at = ", ".join(f"{factor} = {level}" for factor, level in self.at)
        return _BY.join(step.text for step in self.differences) + (f"{_AT}{at}" if at else "")

    @property
    def words(self) -> str:
        """The contrast as a label for readers."""
        steps = [f"{step.factor} ({step.words})" for step in self.differences]
        at = ", ".join(f"{factor} {level}" for factor, level in self.at)
        label = steps[0] if len(steps) == 1 else f"interaction of {_join_words(steps)}"
        return f"{label} at {at}" if at else label

    def name(self, factors: Factors) -> str:
        """Return a short name, such as "match x number": the factors, and levels where needed."""
        if len(factors) == 1:
            return self.differences[0].words
        names = [
            step.factor if len(factors[step.factor]) == 2 else step.text
            for step in self.differences
        ]
        at = ", ".join(level for _, level in self.at)
        return _BY.join(names) + (f" at {at}" if at else "")

    def labelled(self, label: Label) -> "Contrast":
        """Return the contrast with its levels in the words of reports."""
        return Contrast(
            tuple(step.labelled(label) for step in self.differences),
            tuple((factor, label(factor, level)) for factor, level in self.at),
        )

    def compares(self, levels: Mapping[str, str]) -> bool:
        """Return whether answers with these levels, by factor, are compared."""
        return all(levels.get(factor, level) == level for factor, level in self.at) and all(
            step.weight(levels.get(step.factor, step.first)) for step in self.differences
        )

    def weights(self, factors: Factors, cells: Mapping[str, Levels]) -> dict[str, float]:
        """Return the weight of each cell that the contrast uses.

        Args:
            factors: The levels of every factor.
            cells: The level of every factor, in the order of ``factors``, by cell name.

        Returns:
            The weights by cell name, which sum to 0; empty if a needed cell is missing.
        """
        fixed = dict(self.at)
        by_factor = {step.factor: step for step in self.differences}
        averaged = [
            len(factors[name]) for name in factors if name not in by_factor and name not in fixed
        ]
        share = 1.0 / prod(averaged)
        names = {levels: cell for cell, levels in cells.items()}
        weights = {}
        for levels in product(*factors.values()):
            level_of = dict(zip(factors, levels, strict=True))
            if any(level_of[name] != level for name, level in fixed.items()):
                continue
            weight = reduce(
                lambda so_far, step: so_far * step.weight(level_of[step.factor]),
                self.differences,
                share,
            )
            if not weight:
                continue
            if levels not in names:
                return {}
            weights[names[levels]] = weight
        return weights


@dataclass(frozen=True, slots=True)
class JudgeDifference:
    """People minus a model, or one model minus another, on the same items.

    Attributes:
        first: ``people`` or a model's name.
        second: ``people`` or a model's name; ``models`` compares with each model in turn.
    """

    first: str
    second: str

    @property
    def text(self) -> str:
        """The difference in the notation of study.toml."""
        return f"{self.first}{_MINUS}{self.second}"

    @property
    def words(self) -> str:
        """The difference as a label for readers."""
        return f"{self.first} minus {'each model' if self.second == MODELS else self.second}"


@dataclass(frozen=True, slots=True)
class Slope:
    """The change of a measure with a variable of the items.

    Attributes:
        variable: A column of the items, or ``surprisal``.
    """

    variable: str

    @property
    def text(self) -> str:
        """The slope in the notation of study.toml."""
        return f"{_SLOPE}{self.variable}"

    @property
    def words(self) -> str:
        """The slope as a label for readers."""
        return self.text


Compared = Contrast | JudgeDifference | Slope


def parse(text: str, factors: Factors, where: str = "") -> Compared:
    """Return what a comparison compares.

    Args:
        text: The comparison in the notation of study.toml.
        factors: The levels of the design's factors, in order.
        where: The place of the text, for the error.

    Raises:
        StudyError: The text is not in the notation, or names an unknown factor or level.
    """
    text = " ".join(text.split())
    if text.startswith(_SLOPE):
        return Slope(text.removeprefix(_SLOPE))
    if contrast := next(_parse_contrasts(text, factors), None):
        return contrast
    first, minus, second = text.partition(_MINUS)
    in_design = {*factors, *(level for levels in factors.values() for level in levels)}
    if minus and ":" not in text and not {first, second} & in_design:
        return JudgeDifference(first, second)
    raise _make_no_comparison_error(text, factors, where)


def _parse_contrasts(text: str, factors: Factors) -> Iterator[Contrast]:
    for differences in _parse_interactions(text, factors):
        yield Contrast(differences)
    for position in _find_mark_positions(text, _AT):
        at = tuple(_parse_fixed_levels(text[position + len(_AT) :], factors))
        if not at or None in at:
            continue
        for differences in _parse_interactions(text[:position], factors):
            if not {step.factor for step in differences} & {pair[0] for pair in at if pair}:
                yield Contrast(differences, tuple(pair for pair in at if pair))


def _parse_interactions(text: str, factors: Factors) -> Iterator[tuple[LevelDifference, ...]]:
    if step := _parse_difference(text, factors):
        yield (step,)
    for position in _find_mark_positions(text, _BY):
        if step := _parse_difference(text[:position], factors):
            for later_steps in _parse_interactions(text[position + len(_BY) :], factors):
                if step.factor not in {later_step.factor for later_step in later_steps}:
                    yield (step, *later_steps)


def _parse_difference(text: str, factors: Factors) -> LevelDifference | None:
    """Return ``factor: level - level``; of a factor with two levels, its name is enough."""
    text = text.strip()
    if text in factors and len(factors[text]) == 2:
        first, second = factors[text]
        return LevelDifference(text, first, (second,))
    for factor, levels in factors.items():
        if not text.startswith(f"{factor}:"):
            continue
        compared_text = text.removeprefix(f"{factor}:").strip()
        for position in _find_mark_positions(compared_text, _MINUS):
            first, subtracted_levels = (
                compared_text[:position],
                _parse_other_levels(compared_text[position + len(_MINUS) :], levels),
            )
            if first in levels and subtracted_levels and first not in subtracted_levels:
                return LevelDifference(factor, first, subtracted_levels)
    return None


def _parse_other_levels(text: str, levels: Sequence[str]) -> Levels:
    if text in levels:
        return (text,)
    if text.startswith(_MEAN) and text.endswith(")"):
        mean_levels = tuple(name.strip() for name in text.removeprefix(_MEAN)[:-1].split(","))
        return (
            mean_levels
            if set(mean_levels) <= set(levels) and len(set(mean_levels)) == len(mean_levels)
            else ()
        )
    return ()


def _parse_fixed_levels(text: str, factors: Factors) -> Iterator[tuple[str, str] | None]:
    for part in text.split(","):
        factor, _, level = (word.strip() for word in part.partition("="))
        yield (factor, level) if level in factors.get(factor, ()) else None


def _find_mark_positions(text: str, mark: str) -> Iterator[int]:
    position = text.find(mark)
    while position >= 0:
        yield position
        position = text.find(mark, position + 1)


def _make_no_comparison_error(text: str, factors: Factors, where: str) -> StudyError:
    factor_list = "; ".join(f"{name}: {', '.join(levels)}" for name, levels in factors.items())
    words = [*factors, *(level for levels in factors.values() for level in levels)]
    tokens = text.replace(":", " ").replace("=", " ").replace(",", " ").split()
    unknown = next((word for word in tokens if word not in {*words, "x", "-", "at"}), "")
    near = get_close_matches(unknown, words, n=1)
    return StudyError(
        f'"{text}" is not a comparison of this study',
        where=where,
        expected=f"{NOTATION}, with these factors and levels: {factor_list or 'none'}",
        remedy=f'Did you mean "{near[0]}" instead of "{unknown}"?' if near else "",
    )


def _join_words(words: Sequence[str]) -> str:
    *head, last = words
    return f"{', '.join(head)} and {last}" if head else last


CONDITION = "condition"
# Columns that say where a sentence is compared, and not what its condition is.
_REGION_COLUMNS = {"critical", "critical_word", "critical_region"}
Columns = Mapping[str, str]
# The largest number of columns that are tried together: 2 to the power of it are combined.
_MOST_COLUMNS = 12


def condition_factors(
    items: Iterable[tuple[str, Columns]], named: Sequence[str] = ()
) -> dict[str, dict[str, str]]:
    """Return the factors whose levels define the conditions of one construction.

    Args:
        items: Each item's condition and the researcher's columns.
        named: The columns that the study declares as factors; they count if they vary.

    Returns:
        For each factor, each condition's level. With ``named``, these columns. Otherwise the
        columns that are constant in each condition and cross completely to the conditions; if
        several sets of columns do, the one with the most factors, which says most about a
        condition. If no set does, a single factor ``condition``.
    """
    by_column, conditions = _constant_columns(items)
    chosen = {name: by_column[name] for name in named if name in by_column}
    if chosen:
        return chosen
    candidates = _drop_equal_partitions(by_column, conditions)
    for size in range(min(len(candidates), len(conditions).bit_length()), 1, -1):
        for names in combinations(candidates, size):
            if _is_crossed([by_column[name] for name in names], conditions):
                return {name: by_column[name] for name in names}
    return {CONDITION: {condition: condition for condition in conditions}}


def _constant_columns(
    items: Iterable[tuple[str, Columns]],
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return each condition's value of the columns that vary only between conditions."""
    values: dict[str, dict[str, str]] = {}
    conditions: dict[str, None] = {}
    varying: set[str] = set()
    for condition, columns in items:
        conditions.setdefault(condition)
        for name, value in columns.items():
            if name.lower() in _REGION_COLUMNS:
                continue
            if values.setdefault(name, {}).setdefault(condition, value) != value:
                varying.add(name)
    constant = {
        name: levels
        for name, levels in values.items()
        if name not in varying and len(levels) == len(conditions) and len({*levels.values()}) > 1
    }
    return constant, list(conditions)


def _drop_equal_partitions(
    by_column: Mapping[str, Mapping[str, str]], conditions: Sequence[str]
) -> list[str]:
    """Return the columns, without any that groups the conditions as an earlier one does."""
    column_by_partition: dict[tuple[int, ...], str] = {}
    for name, levels in by_column.items():
        order = list(dict.fromkeys(levels[condition] for condition in conditions))
        column_by_partition.setdefault(
            tuple(order.index(levels[condition]) for condition in conditions), name
        )
    return list(column_by_partition.values())[:_MOST_COLUMNS]


def _is_crossed(columns: Sequence[Mapping[str, str]], conditions: Sequence[str]) -> bool:
    cells = {tuple(levels[condition] for levels in columns) for condition in conditions}
    return len(cells) == len(conditions) == prod(len({*levels.values()}) for levels in columns)
