"""What each payee is owed and got, for the terminal."""

from collections.abc import Iterable

from experiment.money import in_words
from experiment.tables.text_table import text_table
from webapp.payments.reconciliation.statement import Statement

_STATEMENT = ("payee", "due by the study's rule", "paid by our ledger", "paid by the platform")


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
