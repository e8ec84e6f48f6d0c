"""Types of values in study.toml: lists, and amounts in current and earlier notations."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from experiment.money import MoneyError, count_decimals, major_units, minor_units

AS_TUPLE = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
Texts = Annotated[tuple[str, ...], AS_TUPLE]
_TEXT = {"type": "string"}
# A single text becomes a list of one: a union type would report a mistake once per alternative.
TextOrTexts = Annotated[
    Texts,
    BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value]),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}),
]


# Keys of studies from before other currencies were supported.
_EARLIER = {"recruitment": ("reward_cents", "reward"), "payment": ("bonus_cents", "bonus_amount")}
_LONGEST_AMOUNT = 20


def _to_text(value: object) -> str:
    """Return the amount as a text; a number without quotes is accepted as well."""
    if isinstance(value, str) and len(value) <= _LONGEST_AMOUNT:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{Decimal(repr(value)):f}"[:_LONGEST_AMOUNT]
    raise ValueError('an amount is a number such as "1.50"')


# An amount in major units; the currency determines the minor units.
Amount = Annotated[
    str,
    BeforeValidator(_to_text),
    WithJsonSchema({"type": ["string", "number"], "examples": ["1.50"]}),
]


def checked_currency(code: str) -> str:
    """Return a currency's code if it is valid; for validators of pydantic models.

    Raises:
        ValueError: The code is not a currency.
    """
    try:
        count_decimals(code)
    except MoneyError as error:
        raise ValueError(f"{error.problem}; {error.expected}") from error
    return code


def checked_amount(amount: str, currency: str) -> int:
    """Return an amount in minor units; for validators of pydantic models.

    Raises:
        ValueError: The text is not an amount of this currency.
    """
    try:
        return minor_units(amount, currency)
    except MoneyError as error:
        raise ValueError(f"{error.problem}; expected {error.expected}") from error


def with_amounts(tables: object) -> object:
    """Return a study.toml's tables, with cents of earlier versions converted to amounts.

    Whole numbers of cents keep their meaning: hundredths of the currency.
    """
    if not isinstance(tables, Mapping):
        return tables
    read = dict(tables)
    for name, (earlier, key) in _EARLIER.items():
        table = read.get(name)
        if not isinstance(table, Mapping) or key in table:
            continue
        if type(hundredths := table.get(earlier)) is int:
            other_keys = {
                key_name: value for key_name, value in table.items() if key_name != earlier
            }
            read[name] = other_keys | {key: f"{major_units(hundredths, 'USD'):f}"}
    return read
