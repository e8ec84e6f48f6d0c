"""Account for every row, trial, column and cell of a source: used, dropped by a rule, or named.

Silent data loss would go unnoticed. So each step that drops rows records their number and the rule,
and the number of input rows must equal the output rows plus the dropped rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from analysis.errors import AnalysisError

_COLUMNS_SHOWN = 12


@dataclass(slots=True)
class Accounting:
    """What happened to the rows, trials, columns and cells of one source.

    Attributes:
        where: The source, for messages.
        rows: The number of rows.
        columns: The columns.
        before: Numbers of lines without judgments that the format's reader left out, by rule.
        rows_dropped: Numbers of rows dropped before sessions are split into trials, by rule.
        trials: The number of trials in the remaining rows.
        trials_dropped: Numbers of dropped trials, by rule.
        used: The number of resulting judgments.
        columns_used: The role of each column that was read.
        cells_used: The number of cells that the judgments were read from.
        checks: The checks made, in sentences.
        attention: Warnings about the result, in sentences.
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
        """The columns that the mapping does not use."""
        return [name for name in self.columns if name not in self.columns_used]

    @property
    def cells(self) -> dict[str, int]:
        """The number of cells by outcome; the sum is the number of cells in the source."""
        all_ = self.rows * len(self.columns)
        unused = self.rows * len(self.unused)
        return {
            "used": self.cells_used,
            "in columns that the mapping does not name": unused,
            "in rows or trials that a rule dropped": all_ - unused - self.cells_used,
        }

    def balance(self) -> None:
        """Raise unless the input equals the output plus everything dropped.

        Raises:
            AnalysisError: The numbers do not add up.
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
        """Return the accounting in the form stored next to an import."""
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
        """Yield the lines of the accounting for the preview."""
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
            remainder = (
                f" and {len(unused) - _COLUMNS_SHOWN} more" if unused[_COLUMNS_SHOWN:] else ""
            )
            yield f"Columns not used: {', '.join(unused[:_COLUMNS_SHOWN])}{remainder}"
        yield "Cells: " + "; ".join(
            f"{number:,} {outcome}" for outcome, number in self.cells.items()
        )
        yield from self.checks
        yield from (f"ATTENTION: {warning}" for warning in self.attention)
