"""The language of participants' pages: gettext catalogues, and which way the text runs."""

from pathlib import Path

import flask_babel  # type: ignore[import-untyped]
from babel import Locale, UnknownLocaleError
from flask import Flask, g, request

# What the sources are written in needs no catalogue.
SOURCE_LANGUAGE = "en"
CATALOGUES = Path(__file__).parents[1] / "translations"


def translate_pages(app: Flask) -> None:
    """Let the app's pages and errors speak the language of the run a request is about."""
    flask_babel.Babel(app, locale_selector=_locale)
    app.context_processor(lambda: {"language": _language(), "direction": _locale().text_direction})


def set_language(language: str) -> None:
    """Answer the present request in a language from here on."""
    g.language = language
    flask_babel.refresh()


def gettext(message: str, **values: object) -> str:
    """Return a message in the request's language, or as it stands where there is no request.

    Args:
        message: The English text, with ``%(name)s`` where a value goes.
        **values: The values by name.
    """
    return str(flask_babel.gettext(message, **values))


def languages() -> list[str]:
    """Return the languages whose messages are all translated."""
    return [
        SOURCE_LANGUAGE,
        *sorted(path.parent.parent.name for path in CATALOGUES.glob("*/*/*.mo")),
    ]


def _language() -> str:
    # Before it is known which run a request is about, the browser's wish is all there is.
    spoken: str | None = g.get("language") or request.accept_languages.best_match(languages())
    return spoken or SOURCE_LANGUAGE


def _locale() -> Locale:
    # A study may be of a language that Babel has never heard of.
    try:
        return Locale.parse(_language(), sep="-")
    except (UnknownLocaleError, ValueError):
        return Locale.parse(SOURCE_LANGUAGE)
