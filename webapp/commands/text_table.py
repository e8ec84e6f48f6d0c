"""Tables for the terminal."""

from collections.abc import Iterable, Sequence

from experiment.money import in_words
from webapp.payments.statement import Statement

_STATEMENT = ("payee", "due by the study's rule", "paid by our ledger", "paid by the platform")


def text_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the rows under their header, each column as wide as its longest cell."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def statement_table(statements: Iterable[Statement]) -> str:
    """Return what each payee is owed and got, one payee a row."""
    rows = [
        (
            statement.payee,
            _amount(statement, statement.owed_minor, "undecided"),
            _amount(statement, statement.ledger_minor, ""),
            _amount(statement, statement.platform_minor, "not asked"),
        )
        for statement in statements
    ]
    return text_table(_STATEMENT, rows)


def _amount(statement: Statement, amount_minor: int | None, otherwise: str) -> str:
    return otherwise if amount_minor is None else in_words(amount_minor, statement.currency)
