"""What became of a source: every row, trial, column and cell was used, dropped by a rule, or named.

A reader that loses something silently loses it for good. So each step that takes rows away says how
many and by which rule, and what goes in must equal what comes out and what was taken away.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from analysis.errors import AnalysisError

_COLUMNS_SHOWN = 12


@dataclass(slots=True)
class Accounting:
    """What became of the rows, trials, columns and cells of one source.

    Attributes:
        where: The source, for messages.
        rows: How many rows it has.
        columns: Its columns.
        before: What the format's own reader left out, by rule: lines that hold no judgment.
        rows_dropped: Rows left out before sessions are divided, by rule.
        trials: How many trials the rows that are left hold.
        trials_dropped: Trials left out, by rule.
        used: How many judgments came out.
        columns_used: Each column that was read, with what it was read as.
        cells_used: How many cells the judgments were read from.
        checks: What was compared, in sentences.
        attention: What a reader has to know before they believe the result, in sentences.
    """

    where: str
    rows: int
    columns: tuple[str, ...]
    before: dict[str, int] = field(default_factory=dict)
    rows_dropped: dict[str, int] = field(default_factory=dict)
    trials: int = 0
    trials_dropped: dict[str, int] = field(default_factory=dict)
    used: int = 0
    columns_used: dict[str, str] = field(default_factory=dict)
    cells_used: int = 0
    checks: list[str] = field(default_factory=list)
    attention: list[str] = field(default_factory=list)

    @property
    def unused(self) -> list[str]:
        """The columns that the mapping does not name."""
        return [name for name in self.columns if name not in self.columns_used]

    @property
    def cells(self) -> dict[str, int]:
        """How many cells ended in which way; together they are all cells of the source."""
        all_ = self.rows * len(self.columns)
        unused = self.rows * len(self.unused)
        return {
            "used": self.cells_used,
            "in columns that the mapping does not name": unused,
            "in rows or trials that a rule dropped": all_ - unused - self.cells_used,
        }

    def balance(self) -> None:
        """Raise where what came out and what was dropped are not all that went in.

        Raises:
            AnalysisError: They are not.
        """
        missing = self.trials - self.used - sum(self.trials_dropped.values())
        if missing or min(self.cells.values()) < 0:
            raise AnalysisError(
                f"{self.used:,} judgments and {sum(self.trials_dropped.values()):,} trials that "
                f"rules dropped are not the {self.trials:,} trials that the file holds",
                where=self.where,
                expected="every trial to be used or dropped by a named rule",
                remedy="This is a fault of Parallax: please report it with the file's first lines",
            )

    def as_json(self) -> Mapping[str, object]:
        """Return the same as it is stored beside an import."""
        return {
            "rows": self.rows,
            "left_out_by_the_format": self.before,
            "rows_dropped": self.rows_dropped,
            "trials": self.trials,
            "trials_dropped": self.trials_dropped,
            "judgments": self.used,
            "columns_used": self.columns_used,
            "columns_not_used": self.unused,
            "cells": self.cells,
            "checks": self.checks,
            "attention": self.attention,
        }

    def lines(self) -> Iterator[str]:
        """Yield the reconciliation, line by line, as the preview shows it."""
        for rule, number in self.before.items():
            yield f"{number:,} left out before: {rule}"
        yield f"{self.rows:,} rows of {len(self.columns)} columns"
        for rule, number in self.rows_dropped.items():
            yield f"- {number:,} rows: {rule}"
        if self.trials != self.rows - sum(self.rows_dropped.values()):
            yield f"= {self.trials:,} trials"
        for rule, number in self.trials_dropped.items():
            yield f"- {number:,} trials: {rule}"
        yield f"= {self.used:,} judgments"
        unused = self.unused
        if unused:
            more = f" and {len(unused) - _COLUMNS_SHOWN} more" if unused[_COLUMNS_SHOWN:] else ""
            yield f"Columns not used: {', '.join(unused[:_COLUMNS_SHOWN])}{more}"
        yield "Cells: " + "; ".join(f"{number:,} {how}" for how, number in self.cells.items())
        yield from self.checks
        yield from (f"ATTENTION: {one}" for one in self.attention)
