"""The language of the researcher's room: its catalogues, and how numbers and dates are written.

Everybody chooses their own, which is kept with the account; else the browser's wish counts. Digits
are 0 to 9 in every language, as in the tables that are exported and in the fields that are typed.
"""

import gettext as catalogues
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import NamedTuple

from babel import Locale
from babel.dates import format_date, format_skeleton
from babel.numbers import get_decimal_symbol, get_group_symbol
from flask import g, request
from markupsafe import Markup

from experiment import money
from webapp.core.i18n import CATALOGUES, SOURCE_LANGUAGE, Untranslated, speak
from webapp.researcher.words import WORDS

DOMAIN = "room"
# Whose formats are meant where a language has several: our Portuguese is that of Portugal.
_TERRITORIES = {"en": "en_US", "pt": "pt_PT"}
# How Python and how Babel call the same way of writing a date; the longer first.
_DATES: Mapping[str, str] = {
    "%-d %B %Y": "long",
    "%-d %b %Y": "medium",
    "%-d %b": "MMMd",
    "%Y-%m-%d": "medium",
}
# These languages write 1234, and 12 345.
_UNGROUPED = frozenset({"es", "pt"})


class Spoken(NamedTuple):
    """One language of the room.

    Attributes:
        language: Its code.
        locale: Its formats.
        messages: Its catalogue, then that of participants' pages.
        signs: What stands in numbers for the comma and the point.
    """

    language: str
    locale: Locale
    messages: catalogues.NullTranslations
    signs: dict[int, str]


@cache
def room_languages() -> dict[str, str]:
    """Return the languages in which every text of the room is translated, by their own names."""
    found = sorted(path.parents[1].name for path in CATALOGUES.glob(f"*/*/{DOMAIN}.mo"))
    own = {code: str(_locale(code).language_name) for code in (SOURCE_LANGUAGE, *found)}
    return {code: name[:1].upper() + name[1:] for code, name in own.items()}


@cache
def spoken(language: str) -> Spoken:
    """Return a language of the room; its catalogues are read once in a process."""
    locale, messages = _locale(language), catalogues.NullTranslations()
    if language != SOURCE_LANGUAGE:
        messages = catalogues.translation(DOMAIN, CATALOGUES, [language])
        messages.add_fallback(catalogues.translation("messages", CATALOGUES, [language]))
    group = get_group_symbol(locale, numbering_system="latn")
    decimal = get_decimal_symbol(locale, numbering_system="latn")
    return Spoken(language, locale, messages, str.maketrans({",": group, ".": decimal}))


def speak_to(chosen: str | None) -> None:
    """Answer the present request in the language that somebody chose, or that the browser wishes.

    Args:
        chosen: What is kept with the account; None where nothing is, or nobody is signed in.
    """
    known = room_languages()
    wished = request.accept_languages.best_match(list(known)) or SOURCE_LANGUAGE
    language = spoken(chosen if chosen in known else wished)
    speak(language.language, language.messages.gettext)


def present() -> Spoken:
    """Return the language of the present request."""
    return spoken(g.get("language") or SOURCE_LANGUAGE)


def ngettext(singular: str, plural: str, n: int, **values: object) -> Markup:
    """Return the message that fits a number, which stands in it as ``%(n)s``."""
    text = present().messages.ngettext(singular, plural, n)
    return Markup(text) % {"n": number(n), **values}


def said(word: object) -> str:
    """Return a word that is stored in English as the room says it (``words.py`` lists them).

    What is no such word, such as a study's own name for a scale, stays as it is.
    """
    found = present().messages.gettext(str(word)) if word else ""
    return found.replace("_", " ") if word in WORDS else found


def in_english(error: Exception | str) -> str:
    """Return a paragraph of what failed, or another text of the commands, marked as English."""
    return str(error) if present().language == SOURCE_LANGUAGE else Untranslated(error)


def when(at: datetime, form: str) -> str:
    """Return a time as the language writes it.

    Args:
        at: The time.
        form: How English writes it, for ``strftime``.
    """
    here = present()
    if here.language == SOURCE_LANGUAGE:
        return at.strftime(form)
    for written, style in _DATES.items():
        if written in form:
            before, after = form.split(written)
            day = _day(at.date(), style, here.language)
            return f"{at.strftime(before)}{day}{at.strftime(after)}"
    return at.strftime(form)


def number(value: float, places: int | None = None) -> str:
    """Return a number as the language writes it.

    Args:
        value: The number.
        places: How many decimals; None for as many as it has.
    """
    form = ",.10g" if isinstance(value, float) else ",d"
    text = format(value, form if places is None else f",.{places}f")
    here = present()
    if here.language in _UNGROUPED and abs(value) < 10_000:
        text = text.replace(",", "")
    return text.translate(here.signs)


def in_words(amount_minor: int, currency: str) -> str:
    """Return an amount of money as the language writes it.

    Where the page runs from right to left, the letters and the sign of a currency's symbol change
    places, and which currency is meant is lost. There the code of ISO 4217 stands instead, and both
    are set apart from the sentence around them as one piece that runs from left to right.
    """
    here = present()
    if here.locale.text_direction == "rtl":
        places = money.digits(currency)
        figure = number(float(money.major_units(amount_minor, currency)), places)
        return Markup('<bdi dir="ltr">{}\N{NO-BREAK SPACE}{}</bdi>').format(currency, figure)
    return money.in_words(amount_minor, currency, str(here.locale))


def _locale(language: str) -> Locale:
    return Locale.parse(_TERRITORIES.get(language, language))


@cache
def _day(day: date, style: str, language: str) -> str:
    locale = _locale(language)
    if style in ("medium", "long"):
        return str(format_date(day, style, locale))
    return str(format_skeleton(style, day, locale=locale))
