"""The language of pages: gettext catalogues and text direction.

On participant pages, a study's own catalogue takes precedence over Parallax's, and English is the
fallback. English text on a page in another language is marked, so that browsers pronounce it and
lay it out as English. Researcher pages are in English.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import flask_babel  # type: ignore[import-untyped]
from babel import Locale, UnknownLocaleError
from flask import Flask, g, has_request_context, request
from markupsafe import Markup, escape

# The source language needs no catalogue.
SOURCE_LANGUAGE = "en"
CATALOGUES = Path(__file__).parents[1] / "translations"
_UNTRANSLATED = Markup('<span lang="en" dir="ltr">{}</span>')


class Untranslated(str):
    """An English text on a page in another language; pages mark it as English."""

    __slots__ = ()

    def __html__(self) -> Markup:
        """Return the text as HTML."""
        return _UNTRANSLATED.format(escape(str(self)))


def translate_pages(app: Flask) -> None:
    """Show the app's pages and errors in the language of the run that a request belongs to."""
    flask_babel.Babel(app, locale_selector=_request_locale)
    app.jinja_env.globals |= {"_": _translate_as_html, "tongue": _mark_untranslated}
    app.context_processor(
        lambda: {"language": _request_language(), "direction": _request_locale().text_direction}
    )


def N_(message: str) -> str:
    """Return a message unchanged; it is translated where it is shown."""
    return message


def set_language(language: str, own_messages: Mapping[str, str] | None = None) -> None:
    """Set the language of the rest of the current request.

    Args:
        language: The language.
        own_messages: The study's own translations by English message.
    """
    g.language, g.own_messages, g.translator = language, own_messages or {}, None
    flask_babel.refresh()


def gettext(message: str, **values: object) -> str:
    """Return a message in the request's language; outside a request, in the default language.

    Args:
        message: The English text, with ``%(name)s`` for each value.
        **values: The values by name.
    """
    text, is_translated = _translate(message)
    filled_text = text % values if values else text
    return filled_text if is_translated else Untranslated(filled_text)


def _translate_as_html(message: str, **values: object) -> Markup:
    """Return a message as HTML for a template; ``striptags`` makes it usable in an attribute."""
    text, is_translated = _translate(message)
    filled_markup = Markup(text) % values if values else Markup(text)
    return filled_markup if is_translated else _UNTRANSLATED.format(filled_markup)


def _mark_untranslated(*messages: str) -> Markup:
    """Return the attributes that mark an element as English if no message is translated."""
    is_translated = any(_translate(message)[1] for message in messages)
    return Markup("") if is_translated else Markup(' lang="en" dir="ltr"')


class _Translator(NamedTuple):
    """The translations of a request, looked up once because a page has dozens of texts."""

    own_messages_by_text: Mapping[str, str]
    translate: Callable[[str], str]
    is_source: bool  # the page is in English, so no text is marked as untranslated


def _translate(message: str) -> tuple[str, bool]:
    """Return a message in the request's language, and whether a translation was found."""
    if not has_request_context():
        return str(flask_babel.gettext(message)), True
    request_globals = g._get_current_object()
    translator: _Translator | None = request_globals.get("translator")
    if translator is None:
        translator = request_globals.translator = _Translator(
            g.get("own_messages", {}),
            flask_babel.get_domain().get_translations().ugettext,
            _request_language().partition("-")[0].lower() == SOURCE_LANGUAGE,
        )
    if message in translator.own_messages_by_text:
        return translator.own_messages_by_text[message], True
    text = str(translator.translate(message))
    return text, text != message or translator.is_source


def languages() -> list[str]:
    """Return the languages with complete translations."""
    return [
        SOURCE_LANGUAGE,
        *sorted(path.parent.parent.name for path in CATALOGUES.glob("*/*/messages.mo")),
    ]


def _request_language() -> str:
    # Until the request's run is known, use the browser's preferred language.
    preferred_language: str | None = g.get("language") or request.accept_languages.best_match(
        languages()
    )
    return preferred_language or SOURCE_LANGUAGE


def text_direction() -> str:
    """Return the text direction of the request's language in HTML: ``ltr`` or ``rtl``."""
    return str(_request_locale().text_direction)


def _request_locale() -> Locale:
    # A study's language may be unknown to Babel.
    try:
        return Locale.parse(_request_language(), sep="-")
    except (UnknownLocaleError, ValueError):
        return Locale.parse(SOURCE_LANGUAGE)
