"""What an order must keep, each constraint as the violations that one position takes part in."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

Labels = tuple[Hashable | None, ...]


class Constraint(Protocol):
    """A constraint on orders; an order keeps it when no position takes part in a violation.

    Swapping two trials must change nothing in a violation that both take part in, so that the
    difference of a swap is that of the two positions.
    """

    @property
    def text(self) -> str:
        """What is asked, for messages."""
        ...

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return in how many violations the trial at a position takes part.

        Args:
            order: The trials' indices in their order.
            position: The position, from 0.
        """
        ...


@dataclass(frozen=True, slots=True)
class Distance:
    """Two trials that share a label stand at least ``least`` positions apart.

    Attributes:
        column: What the labels are, for messages.
        labels: Each trial's label; None shares with nobody.
        least: 2 keeps them from being neighbours, 3 puts two others between them, ...
    """

    column: str
    labels: Labels
    least: int = 2

    @property
    def text(self) -> str:
        """What is asked."""
        if self.least == 2:
            return f"neighbours differ in {self.column}"
        return f"trials that share {self.column} stand {self.least} or more apart"

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return how many of the trials nearby share the label."""
        labels = self.labels
        label = labels[order[position]]
        if label is None:
            return 0
        start, end = max(0, position - self.least + 1), position + self.least
        return sum([labels[other] == label for other in order[start:end]]) - 1


@dataclass(frozen=True, slots=True)
class InARow:
    """At most ``most`` trials in a row share a label."""

    column: str
    labels: Labels
    most: int

    @property
    def text(self) -> str:
        """What is asked."""
        return f"at most {self.most} in a row share {self.column}"

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return how many stretches of ``most + 1`` alike trials the position lies in."""
        label = self.labels[order[position]]
        if label is None:
            return 0
        before = after = 0
        while position - before > 0 and self.labels[order[position - before - 1]] == label:
            before += 1
        while (
            position + after + 1 < len(order) and self.labels[order[position + after + 1]] == label
        ):
            after += 1
        before, after = min(before, self.most), min(after, self.most)
        return max(0, before + after + 1 - self.most)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first ``n`` trials are of those that may stand there."""

    what: str
    may_begin: tuple[bool, ...]
    n: int

    @property
    def text(self) -> str:
        """What is asked."""
        return f"the first {self.n} trials are {self.what}"

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return 1 for a trial that may not stand there."""
        return int(position < self.n and not self.may_begin[order[position]])


@dataclass(frozen=True, slots=True)
class Spread:
    """The trials of a group are spread: one in each of as many equally long stretches."""

    column: str
    members: frozenset[int]

    @property
    def text(self) -> str:
        """What is asked."""
        return f"the {len(self.members)} trials of {self.column} come one per stretch"

    def stretch(self, position: int, n_trials: int) -> tuple[int, int]:
        """Return the first position of a position's stretch, and the first after it."""
        n = len(self.members)
        number = ((position + 1) * n - 1) // n_trials
        return number * n_trials // n, (number + 1) * n_trials // n

    def violations(self, order: Sequence[int], position: int) -> int:
        """Return by how many the members in the position's stretch differ from one."""
        start, end = self.stretch(position, len(order))
        return abs(sum(order[other] in self.members for other in range(start, end)) - 1)


def keeps(order: Sequence[int], constraints: Sequence[Constraint]) -> bool:
    """Return whether an order keeps every constraint."""
    return not any(
        constraint.violations(order, position)
        for constraint in constraints
        for position in range(len(order))
    )
