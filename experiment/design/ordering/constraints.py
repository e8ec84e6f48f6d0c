"""Constraints on orders, each defined by the violations that a position takes part in."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from experiment.errors import DesignError
from experiment.plugins import unknown_name
from experiment.records import Kind, ListEntry, lemmas_of
from experiment.studies.design import Design

Labels = tuple[Hashable | None, ...]


class Constraint(Protocol):
    """A constraint on orders; an order keeps the constraint if no position is in a violation.

    Swapping two trials must not change a violation that both take part in, so that the effect of a
    swap is the sum over the two positions.
    """

    @property
    def text(self) -> str:
        """The requirement in words, for messages."""
        ...

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return the number of violations that the trial at a position takes part in.

        Args:
            order: The trials' indices in their order.
            position: The position, from 0.
        """
        ...


@dataclass(frozen=True, slots=True)
class MinDistance:
    """Two trials that share a label are at least ``least`` positions apart.

    Attributes:
        column: The labels' column, for messages.
        labels: Each trial's label; None shares with no other trial.
        least: 2 forbids neighbours, 3 requires two other trials in between, and so on.
    """

    column: str
    labels: Labels
    least: int = 2

    @property
    def text(self) -> str:
        """The requirement in words."""
        if self.least == 2:
            return f"neighbours differ in {self.column}"
        return f"trials that share {self.column} stand {self.least} or more apart"

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return how many nearby trials share the label."""
        labels = self.labels
        label = labels[order[position]]
        if label is None:
            return 0
        start, end = max(0, position - self.least + 1), position + self.least
        return sum([labels[neighbour] == label for neighbour in order[start:end]]) - 1


@dataclass(frozen=True, slots=True)
class RunLimit:
    """At most ``most`` trials in a row share a label."""

    column: str
    labels: Labels
    most: int

    @property
    def text(self) -> str:
        """The requirement in words."""
        return f"at most {self.most} in a row share {self.column}"

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return how many runs of ``most + 1`` trials with the same label contain the position."""
        label = self.labels[order[position]]
        if label is None:
            return 0
        n_before = n_after = 0
        while position - n_before > 0 and self.labels[order[position - n_before - 1]] == label:
            n_before += 1
        while (
            position + n_after + 1 < len(order)
            and self.labels[order[position + n_after + 1]] == label
        ):
            n_after += 1
        n_before, n_after = min(n_before, self.most), min(n_after, self.most)
        return max(0, n_before + n_after + 1 - self.most)


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The first ``n`` trials are of an allowed kind."""

    what: str
    may_begin: tuple[bool, ...]
    n: int

    @property
    def text(self) -> str:
        """The requirement in words."""
        return f"the first {self.n} trials are {self.what}"

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return 1 for a trial that may not be among the first, else 0."""
        return int(position < self.n and not self.may_begin[order[position]])


@dataclass(frozen=True, slots=True)
class Spread:
    """A group's trials are spread: one in each of as many stretches of equal length."""

    column: str
    members: frozenset[int]

    @property
    def text(self) -> str:
        """The requirement in words."""
        return f"the {len(self.members)} trials of {self.column} come one per stretch"

    def stretch(self, position: int, n_trials: int) -> tuple[int, int]:
        """Return the start (inclusive) and end (exclusive) of the stretch with this position."""
        n = len(self.members)
        number = ((position + 1) * n - 1) // n_trials
        return number * n_trials // n, (number + 1) * n_trials // n

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return how far the number of members in the position's stretch differs from one."""
        start, end = self.stretch(position, len(order))
        return abs(sum(order[neighbour] in self.members for neighbour in range(start, end)) - 1)


def keeps(order: Sequence[int], constraints: Sequence[Constraint]) -> bool:
    """Return whether an order keeps every constraint."""
    return not any(
        constraint.violations(order, position)
        for constraint in constraints
        for position in range(len(order))
    )


ITEM_COLUMNS = ("construction", "template", "condition", "frame", "kind")


def declare_constraints(entries: Sequence[ListEntry], design: Design) -> list[Constraint]:
    """Return the constraints that a design sets on the order of one block's entries.

    Args:
        entries: The entries in their built order.
        design: The study's design.

    Raises:
        DesignError: The design names a column that the items lack.
    """
    order = design.order
    constraints: list[Constraint] = [
        *(MinDistance(column, labels(entries, column)) for column in separate_columns(design)),
        *(MinDistance(col, labels(entries, col), least) for col, least in order.distance.items()),
        *(RunLimit(col, labels(entries, col), most) for col, most in order.in_a_row.items()),
    ]
    if design.order.targets_apart:
        targets = tuple("target" if e.kind is Kind.TARGET else None for e in entries)
        constraints.append(MinDistance("being fillers", targets))
    constraints.extend(_make_spreads(entries, design))
    return constraints


def constraints_of_block(
    entries: Sequence[ListEntry], design: Design, *, first: bool
) -> list[Constraint]:
    """Return all constraints on the order of one block's entries.

    Args:
        entries: The entries in their built order.
        design: The study's design.
        first: Whether the block begins the session.

    Raises:
        DesignError: As ``declare_constraints``, or the block has too few fillers to begin with.
    """
    constraints = declare_constraints(entries, design)
    return [*constraints, *_constrain_beginning(entries, design)] if first else constraints


def _constrain_beginning(entries: Sequence[ListEntry], design: Design) -> list[Constraint]:
    """Return the constraints on the first trials of a session, for its first block."""
    n = design.order.first_fillers
    if not n:
        return []
    fillers = tuple(entry.kind is Kind.FILLER for entry in entries)
    if sum(fillers) < n:
        raise DesignError(
            f"the first {n} trials should be fillers, but the first block has only {sum(fillers)}",
            where="design.order.first_fillers",
            expected=f"at most {sum(fillers)}",
            remedy="Ask for fewer, or give items the kind filler",
        )
    return [SessionStart("fillers", fillers, n)]


def separate_columns(design: Design) -> list[str]:
    """Return the columns in which neighbouring trials must differ."""
    columns = [design.separate] if isinstance(design.separate, str) else design.separate
    return [column for column in columns if column]


def labels(entries: Sequence[ListEntry], column: str) -> tuple[str | None, ...]:
    """Return the label of each entry in a column.

    The column is one of the item's, one of the researcher's own, a feature, or a slot of the frame.
    An item without a value gets None, which no other item shares.

    Raises:
        DesignError: No item has the column.
    """
    names = tuple(map(_label_reader(column), entries))
    if entries and all(label is None for label in names):
        known_labels = dict.fromkeys(
            [
                *ITEM_COLUMNS,
                *(name for e in entries for name, _ in e.item.extra),
                *(name for e in entries for name in lemmas_of(e.item.features)),
                *(name for e in entries for name in lemmas_of(e.item.frame)),
            ]
        )
        unknown = unknown_name("column", column, list(known_labels))
        raise DesignError(
            unknown.problem,
            where="design.separate or design.order",
            expected=unknown.expected,
            remedy=unknown.remedy,
        )
    return names


def _label_reader(column: str) -> Callable[[ListEntry], str | None]:
    """Return the function that reads an entry's label in a column."""
    if column in ITEM_COLUMNS:
        return attrgetter("kind" if column == "kind" else f"item.{column}")

    def read_value(entry: ListEntry) -> str | None:
        item = entry.item
        for values in (dict(item.extra), lemmas_of(item.features), lemmas_of(item.frame)):
            if values.get(column):
                return values[column]
        return None

    return read_value


def _make_spreads(entries: Sequence[ListEntry], design: Design) -> list[Spread]:
    column = spread_column(design)
    by_label = labels(entries, column)
    return [
        Spread(key, frozenset([i for i, label in enumerate(by_label) if label == key]))
        for key in sorted(_find_catch_labels(entries, by_label))
    ]


def spread_column(design: Design) -> str:
    """Return the column that groups trials to be spread, if one of the group is a catch trial."""
    return "template" if design.separate == "template" else "construction"


def catch_keys(entries: Sequence[ListEntry], column: str) -> frozenset[str]:
    """Return the labels of catch trials; all trials with such a label are spread together."""
    return _find_catch_labels(entries, labels(entries, column))


def _find_catch_labels(
    entries: Sequence[ListEntry], by_label: Sequence[str | None]
) -> frozenset[str]:
    labelled = zip(entries, by_label, strict=True)
    return frozenset([label for entry, label in labelled if entry.kind is Kind.CATCH and label])
