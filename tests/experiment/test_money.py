"""Amounts in currencies of any number of digits, and no word of one currency elsewhere."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.money import (
    MoneyError,
    count_decimals,
    in_words,
    major_units,
    minor_units,
    parse_amounts,
    write_amount,
)

ROOT = Path(__file__).parents[2]
CURRENCIES = ("USD", "JPY", "KWD", "CLF")


@given(st.sampled_from(CURRENCIES), st.integers(0, 10**12 - 1))
def test_what_is_written_is_read_as_the_same_amount(currency, amount_minor):
    assert minor_units(write_amount(amount_minor, currency), currency) == amount_minor
    assert major_units(amount_minor, currency) * 10 ** count_decimals(currency) == amount_minor


@pytest.mark.parametrize(
    ("amount_minor", "currency", "text"),
    [
        (150, "USD", "$1.50"),
        (5, "GBP", "£0.05"),
        (150_000, "JPY", "¥150,000"),
        (1_500, "KWD", "KWD 1.500"),
        (0, "EUR", "€0.00"),
    ],
)
def test_people_read_an_amount_with_the_digits_of_its_currency(amount_minor, currency, text):
    assert in_words(amount_minor, currency) == text


def test_people_of_another_language_read_it_as_they_write():
    assert in_words(123_450, "EUR", "de") == "1.234,50 €"


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("1.505", "USD"), ("1.5", "JPY"), ("1.5000", "KWD"), ("1,50", "EUR"), ("-1", "USD"),
        ("1e3", "USD"), ("", "USD"), (" 1", "USD"), ("٣", "USD"), ("01", "USD"), ("1.", "USD"),
        ("NaN", "USD"), ("9" * 40, "USD"),
    ],
)  # fmt: skip
def test_what_is_no_amount_of_the_currency_is_refused_and_nothing_is_rounded(text, currency):
    with pytest.raises(MoneyError, match="is not an amount of"):
        minor_units(text, currency)


@pytest.mark.parametrize("code", ["usd", "XXX", "DOLLAR", "", "XAU"])
def test_what_is_no_currency_is_refused(code):
    with pytest.raises(MoneyError, match="is not a currency"):
        count_decimals(code)


def test_a_setting_lists_an_amount_of_each_currency():
    assert parse_amounts("20 USD, 2500 JPY") == {"USD": 2_000, "JPY": 2_500}
    for wrong in ("20", "20 USD 5 EUR", "2.5 JPY"):
        with pytest.raises(MoneyError):
            parse_amounts(wrong)
    with pytest.raises(
        MoneyError, match=r"USD is given twice. Expected one amount of each currency"
    ):
        parse_amounts("20 USD, 5 USD")


def test_an_amount_at_the_wire_is_exact():
    assert major_units(1, "KWD") == Decimal("0.001")
    assert str(major_units(100, "USD")) == "1.00"


# Where cents or a dollar sign stand and must: Mechanical Turk pays in US cents, and so do its
# stand-in and the control address of that; studies launched before there were currencies are read.
_WORDS = re.compile(
    r"_cents?\b|\bcents?_|\bcents\b|\bdollars?\b"
    r"|f[\"'].*\$\{[a-z_]+[.)} ]|[\"' (]\$[0-9]+[. \"']",
    re.IGNORECASE,
)
EXCEPTIONS = {
    "webapp/recruiters/mturk/": "the platform's own money",
    "marketplace/": "stand-ins speak their platforms' words",
    "webapp/database/migrations/versions/0004_payments.py": "the column as it was",
    "webapp/database/migrations/versions/0009_currencies.py": "renames that column",
    "experiment/studies/toml_values.py": "reads earlier studies",
    "experiment/money.py": "names them in its explanation",
    "benchmarks/fault_injection/environment.py": "reads the marketplace's books",
    "benchmarks/fault_injection/restored_mturk.py": "reads the marketplace's books",
    "analysis/findings/mixed_model.py": "a dollar sign is R's word for a column",
}


def test_no_word_of_one_currency_stands_outside_its_platform():
    sources = [
        path
        for folder in ("experiment", "webapp", "analysis", "benchmarks")
        for pattern in ("*.py", "*.html", "*.js")
        for path in (ROOT / folder).rglob(pattern)
    ]
    assert len(sources) > 300
    found = [
        f"{name}:{number}: {line.strip()}"
        for path in [*sources, ROOT / "parallax.py"]
        if not (name := path.relative_to(ROOT).as_posix()).startswith(tuple(EXCEPTIONS))
        if ".min." not in name
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if _WORDS.search(line)
    ]
    assert found == []
