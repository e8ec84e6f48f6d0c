"""Amounts of money as study.toml writes them, and as earlier versions of it wrote them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from experiment.money import MoneyError, digits, major_units, minor_units

# The keys of studies that were launched before there were other currencies.
_EARLIER = {"recruitment": ("reward_cents", "reward"), "payment": ("bonus_cents", "bonus_amount")}
_LONGEST = 20


def _as_written(value: object) -> str:
    """Return the amount as the file gives it; a number without quotes is as good."""
    if isinstance(value, str) and len(value) <= _LONGEST:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{Decimal(repr(value)):f}"[:_LONGEST]
    raise ValueError('an amount is a number such as "1.50"')


# An amount in major units; a currency says what it is in minor ones.
Amount = Annotated[
    str,
    BeforeValidator(_as_written),
    WithJsonSchema({"type": ["string", "number"], "examples": ["1.50"]}),
]


def checked_currency(code: str) -> str:
    """Return the code of a currency; for the validators of models.

    Raises:
        ValueError: It is none.
    """
    try:
        digits(code)
    except MoneyError as error:
        raise ValueError(f"{error.problem}; {error.expected}") from error
    return code


def checked_amount(amount: str, currency: str) -> int:
    """Return an amount in minor units; for the validators of models.

    Raises:
        ValueError: It is no amount of that currency.
    """
    try:
        return minor_units(amount, currency)
    except MoneyError as error:
        raise ValueError(f"{error.problem}; expected {error.expected}") from error


def with_amounts(tables: object) -> object:
    """Return the tables of a study.toml, those of earlier versions with amounts in place of cents.

    Whole numbers of cents go on meaning what they meant: hundredths of the currency.
    """
    if not isinstance(tables, Mapping):
        return tables
    read = dict(tables)
    for name, (earlier, key) in _EARLIER.items():
        table = read.get(name)
        if not isinstance(table, Mapping) or key in table:
            continue
        if type(hundredths := table.get(earlier)) is int:
            rest = {known: value for known, value in table.items() if known != earlier}
            read[name] = rest | {key: f"{major_units(hundredths, 'USD'):f}"}
    return read
