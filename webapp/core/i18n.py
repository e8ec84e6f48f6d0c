"""The language of pages: gettext catalogues, and which way the text runs.

On participants' pages, what a study's own catalogue says comes first, then ours, then English.
English that stands on a page of another language is marked as such, so that it is read and laid
out as English. Researchers' pages are in English.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import flask_babel  # type: ignore[import-untyped]
from babel import Locale, UnknownLocaleError
from flask import Flask, g, has_request_context, request
from markupsafe import Markup, escape

# What the sources are written in needs no catalogue.
SOURCE_LANGUAGE = "en"
CATALOGUES = Path(__file__).parents[1] / "translations"
_UNTRANSLATED = Markup('<span lang="en" dir="ltr">{}</span>')


class Untranslated(str):
    """A text in English on a page of another language; pages mark it, other readers need not."""

    __slots__ = ()

    def __html__(self) -> Markup:
        """Return the text as pages show it."""
        return _UNTRANSLATED.format(escape(str(self)))


def translate_pages(app: Flask) -> None:
    """Let the app's pages and errors speak the language of the run a request is about."""
    flask_babel.Babel(app, locale_selector=_locale)
    app.jinja_env.globals |= {"_": _on_page, "tongue": _tongue}
    app.context_processor(lambda: {"language": _language(), "direction": _locale().text_direction})


def set_language(language: str, own: Mapping[str, str] | None = None) -> None:
    """Answer the present request in a language from here on.

    Args:
        language: The language.
        own: The study's own translations by their English messages.
    """
    g.language, g.own_messages, g.tongue = language, own or {}, None
    flask_babel.refresh()


def gettext(message: str, **values: object) -> str:
    """Return a message in the request's language, or as it stands where there is no request.

    Args:
        message: The English text, with ``%(name)s`` where a value goes.
        **values: The values by name.
    """
    text, translated = _translation(message)
    said = text % values if values else text
    return said if translated else Untranslated(said)


def _on_page(message: str, **values: object) -> Markup:
    """Return a message as a template shows it; ``striptags`` makes it fit for an attribute."""
    text, translated = _translation(message)
    said = Markup(text) % values if values else Markup(text)
    return said if translated else _UNTRANSLATED.format(said)


def _tongue(*messages: str) -> Markup:
    """Return the attributes of an element into which a script puts messages if all are English."""
    translated = any(_translation(message)[1] for message in messages)
    return Markup("") if translated else Markup(' lang="en" dir="ltr"')


class _Tongue(NamedTuple):
    """What a request's texts are said in, looked up once: a page has dozens of them."""

    own: Mapping[str, str]
    translate: Callable[[str], str]
    is_whole: bool  # nothing is left in another language, so nothing is marked as such


def _translation(message: str) -> tuple[str, bool]:
    """Return a message in the request's language, and whether it is in that language."""
    if not has_request_context():
        return str(flask_babel.gettext(message)), True
    request_s = g._get_current_object()
    tongue: _Tongue | None = request_s.get("tongue")
    if tongue is None:
        tongue = request_s.tongue = _Tongue(
            g.get("own_messages", {}),
            flask_babel.get_domain().get_translations().ugettext,
            _language().partition("-")[0].lower() == SOURCE_LANGUAGE,
        )
    if message in tongue.own:
        return tongue.own[message], True
    text = str(tongue.translate(message))
    return text, text != message or tongue.is_whole


def languages() -> list[str]:
    """Return the languages whose messages are all translated."""
    return [
        SOURCE_LANGUAGE,
        *sorted(path.parent.parent.name for path in CATALOGUES.glob("*/*/messages.mo")),
    ]


def _language() -> str:
    # Before it is known which run a request is about, the browser's wish is all there is.
    spoken: str | None = g.get("language") or request.accept_languages.best_match(languages())
    return spoken or SOURCE_LANGUAGE


def text_direction() -> str:
    """Return which way the request's language runs, as HTML says it: ``ltr`` or ``rtl``."""
    return str(_locale().text_direction)


def _locale() -> Locale:
    # A study may be of a language that Babel has never heard of.
    try:
        return Locale.parse(_language(), sep="-")
    except (UnknownLocaleError, ValueError):
        return Locale.parse(SOURCE_LANGUAGE)
