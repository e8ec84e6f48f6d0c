"""Every catalogue addresses people in one way, and calls what they agree to by one word."""

import re
import tomllib
import unicodedata
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

import webapp

TRANSLATIONS = Path(webapp.__file__).parent / "translations"
GLOSSARY = tomllib.loads((TRANSLATIONS / "glossary.toml").read_text("utf-8"))
ENGLISH = GLOSSARY.pop("english")


def messages(language: str) -> dict[str, str]:
    with (TRANSLATIONS / language / "LC_MESSAGES" / "messages.po").open("rb") as file:
        return {str(one.id): str(one.string) for one in read_po(file) if one.id}


def bare(text: str) -> str:
    """Return a text without the signs that stand above and below letters."""
    return "".join(sign for sign in text if unicodedata.category(sign) != "Mn")


def departures(language: str, translated: dict[str, str]) -> list[str]:
    """Return each message that addresses people otherwise, or lacks a word of the glossary."""
    own = GLOSSARY[language]
    found = [
        f"{text!r} addresses people otherwise than {own['address']}: {other[0]!r}"
        for text in translated.values()
        if (other := re.search(own["never"], bare(text), re.IGNORECASE))
    ]
    return found + [
        f"{text!r} lacks the word for {word!r}, which is {own['words'][word]!r}; it translates "
        f"{english!r}"
        for word, about in ENGLISH.items()
        for english, text in translated.items()
        if re.search(about, english, re.IGNORECASE)
        and not re.search(own["words"][word], bare(text), re.IGNORECASE)
    ]


def test_every_catalogue_has_its_glossary():
    assert {path.parent.parent.name for path in TRANSLATIONS.glob("*/*/*.po")} == set(GLOSSARY)
    assert all(set(own["words"]) == set(ENGLISH) for own in GLOSSARY.values())


@pytest.mark.parametrize("language", GLOSSARY)
def test_no_message_departs_from_the_glossary(language):
    assert not departures(language, messages(language))


@pytest.mark.parametrize(
    ("language", "english", "text"),
    [
        ("de", "Erase my answers", "Löschen, was ich gegeben habe"),
        ("de", "Welcome back", "Willkommen zurück, wie geht es dir"),
        ("ar", "Your corrections are stored.", "تم حفظ تصحيحاتك."),
        ("he", "Your data", "הנתונים שלכם"),
        ("pt", "You have taken part before", "Você já participou"),
        ("zh", "Welcome back", "欢迎你回来"),
    ],
)
def test_what_stood_in_the_catalogues_before_is_found(language, english, text):
    assert departures(language, {english: text})
