"""A mistake in a table: where it is, and what a message must say to have named it."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.experiment.authoring.lint.tables import Table


@dataclass(frozen=True, slots=True)
class Planted:
    """What was done to a table.

    Attributes:
        says: A pattern that a message must have to have named it.
        rows: The rows it is in, of which the message must name one; empty where it is in all.
    """

    says: str
    rows: tuple[int, ...] = ()


# Spoils a table in place; None where the table has nothing that can be spoilt so.
Mistake = Callable[[Table, random.Random], Planted | None]


def targets(table: Table) -> list[int]:
    """Return the rows that are targets."""
    return [n for n, row in enumerate(table.rows) if row.get("kind", "target") == "target"]


def any_text(table: Table, rng: random.Random) -> tuple[int, str]:
    """Return a row and one of its columns of sentences."""
    columns = [name for name in (table.good, table.bad) if name]
    return rng.randrange(len(table.rows)), rng.choice(columns)
