"""Amounts of money in minor units: parsing, conversion and formatting.

Every amount is a whole number of minor units (cents, pence, yen, fils) with the ISO 4217 code of
its currency; a run has one currency. Amounts that a platform expects in major units are converted
only when they are sent.
"""

import re
from copy import copy
from decimal import Decimal
from functools import cache

from babel import Locale
from babel.numbers import list_currencies

from experiment.errors import ParallaxError

DEFAULT_CURRENCY = "USD"
_DEFAULT_DIGITS = 2
# ISO 4217, list one. CLDR, which Babel includes, counts only the digits in everyday use.
_DIGITS = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_NO_CURRENCIES = {"XXX", "XTS", "XAU", "XAG", "XPT", "XPD", "XDR", "XBA", "XBB", "XBC", "XBD"}
_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,4}))?", re.ASCII)


class MoneyError(ParallaxError):
    """A text is not an amount of its currency, or a code is not a currency."""


def count_decimals(currency: str) -> int:
    """Return the number of a currency's decimal digits: 2 for USD, 0 for JPY, 3 for KWD.

    Raises:
        MoneyError: The currency is unknown.
    """
    if currency not in _list_currency_codes():
        raise MoneyError(
            f'"{currency}" is not a currency',
            expected="a code of ISO 4217, such as USD, EUR or JPY",
        )
    counts = (count for count, codes in _DIGITS.items() if currency in codes.split())
    return next(counts, _DEFAULT_DIGITS)


@cache
def _list_currency_codes() -> frozenset[str]:
    return frozenset(list_currencies()) - _NO_CURRENCIES


def minor_units(amount: str, currency: str) -> int:
    """Return an amount in major units, e.g. ``1.50``, converted to minor units.

    Raises:
        MoneyError: The text is not an amount of this currency; amounts are never rounded.
    """
    places = count_decimals(currency)
    match = _AMOUNT.fullmatch(amount)
    decimals = (match[2] or "") if match else ""
    if match is None or len(decimals) > places:
        example = write_amount(1250 if places else 12, currency)
        raise MoneyError(
            f'"{amount}" is not an amount of {currency}',
            expected=(
                f"a number with at most {places} digits after a decimal point, such as {example}"
            )
            if places
            else f"a whole number, such as {example}",
        )
    return int(match[1] + decimals.ljust(places, "0"))


def major_units(amount_minor: int, currency: str) -> Decimal:
    """Return an amount in major units, with all decimal digits, as platforms expect it."""
    return Decimal(amount_minor).scaleb(-count_decimals(currency))


def write_amount(amount_minor: int, currency: str) -> str:
    """Return an amount as written in files, e.g. ``1.50``; ``minor_units`` reads this form."""
    return f"{major_units(amount_minor, currency):f}"


def parse_amounts(text: str) -> dict[str, int]:
    """Return a setting's amounts by currency, e.g. of ``20 USD, 2500 JPY``.

    Raises:
        MoneyError: A part is not an amount and a code, or a currency occurs twice.
    """
    totals = dict[str, int]()
    for part in text.split(","):
        amount, _, currency = part.strip().partition(" ")
        if currency in totals:
            raise MoneyError(f"{currency} is given twice", expected="one amount of each currency")
        totals[currency] = minor_units(amount, currency)
    return totals


def in_words(amount_minor: int, currency: str, locale: str = "en_US") -> str:
    """Return an amount formatted for a locale, e.g. ``$1.50``, ``¥150``, ``KWD 1.500``."""
    language = Locale.parse(locale, sep="_" if "_" in locale else "-")
    places = count_decimals(currency)
    pattern = copy(language.currency_formats["standard"])
    pattern.frac_prec = (places, places)
    amount = major_units(amount_minor, currency)
    text = pattern.apply(amount, language, currency=currency, currency_digits=False)
    # A currency code, unlike a symbol, is separated from the number by a space.
    return re.sub(f"{currency}(?=[0-9])", f"{currency} ", text.replace("\N{NO-BREAK SPACE}", " "))
