"""Every text of the researcher's room is marked, and translated into every language it offers."""

import re
import string
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

import webapp
from experiment.participation import Ending, EventKind, State
from experiment.payment.payment import PaymentKind, PaymentState
from experiment.records import SIDES
from webapp.core.i18n import CATALOGUES
from webapp.long_jobs.records import JobState
from webapp.notifications.causes import SAID_OF
from webapp.projects.rights import ProjectRole, Right
from webapp.recruiters.statuses import AssignmentStatus
from webapp.researcher.language import DOMAIN, room_languages
from webapp.researcher.money import FOR_ALL, FOR_ONE
from webapp.researcher.participants import SORTS, VERDICTS
from webapp.researcher.words import WORDS
from webapp.users.roles import Role

WEBAPP = Path(webapp.__file__).parent
TEMPLATES = sorted((WEBAPP / "templates" / "researcher").glob("*.html"))
REFRESH = "CONTRIBUTING.md, A text of the room, says how to refresh the catalogues"
LANGUAGES = sorted(path.name for path in CATALOGUES.iterdir() if path.is_dir())
GLOSSARY = tomllib.loads((CATALOGUES / "glossary.toml").read_text("utf-8"))
ENGLISH = GLOSSARY.pop("english")
# Of a room's texts these words have another sense: the code of an invitation, of an app, of a QR.
del ENGLISH["code"]
# What is the same in every language.
UNTRANSLATED = {"UTC", "Parallax", "SHA", "Hz"}
WORD = re.compile(r"[A-Za-z]{2,}")
JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
ENGLISH_BY_INTENT = re.compile(r'<(\w+)[^>]* lang="en"[^>]*>.*?</\1>', re.DOTALL)
OF_PROGRAMS = re.compile(r"<(script|style|code|pre)\b.*?</\1>", re.DOTALL)
SEEN_ATTRIBUTES = re.compile(r'(?:aria-label|title|alt|placeholder)="([^"]*)"')


@cache
def messages() -> frozenset[str | tuple[str, ...]]:
    mapping = (CATALOGUES / "room.cfg").read_text(encoding="utf-8")
    methods, options = parse_mapping_cfg(StringIO(mapping))
    found = extract_from_dir(str(WEBAPP), method_map=methods, options_map=options)
    return frozenset(
        text if isinstance(text, str) else tuple(text) for _file, _line, text, *_rest in found
    )


@cache
def catalogue(language: str) -> Catalog:
    path = CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    return read_po(BytesIO(path.read_bytes()), locale=language)


def forms(language: str) -> Iterator[tuple[str, str]]:
    """Yield every English text with each of its translations."""
    for message in catalogue(language):
        if isinstance(message.id, tuple):
            yield from ((message.id[1], each) for each in message.string)
        elif message.id:
            yield message.id, message.string


def fields(text: str) -> set[str]:
    named = {name for _, name, _, _ in string.Formatter().parse(text) if name}
    return named | set(re.findall(r"%\((\w+)\)s", text))


def tags(text: str) -> list[str]:
    return sorted(re.findall(r"</?\w+", text))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_template_says_anything_that_is_not_marked(path):
    text = JINJA.sub("", path.read_text("utf-8"))
    seen = SEEN_ATTRIBUTES.findall(text)
    for unread in (ENGLISH_BY_INTENT, OF_PROGRAMS):
        text = unread.sub("", text)
    bare = WORD.findall(re.sub(r"<[^>]*>", " ", text)) + WORD.findall(" ".join(seen))
    assert not set(bare) - UNTRANSLATED, f"write {{{{ _(...) }}}}: {REFRESH}"


def test_the_room_offers_every_language_that_participants_have():
    assert list(room_languages()) == ["en", *LANGUAGES]
    assert room_languages()["pt"] == "Português"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_and_none_is_uncertain(language):
    whole = {
        m.id
        for m in catalogue(language)
        if m.id and not m.fuzzy and all([m.string] if isinstance(m.string, str) else m.string)
    }
    assert messages() - whole == set(), REFRESH
    assert whole - messages() == set(), f"no page says these any more: {REFRESH}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_places_and_tags_of_its_text(language):
    wrong = [
        english
        for english, text in forms(language)
        if not fields(text) <= fields(english) or tags(text) != tags(english)
    ]
    short = [
        m.id
        for m in catalogue(language)
        if isinstance(m.id, str) and fields(m.id) - fields(m.string)
    ]
    # An attribute of a page ends at the first such sign.
    quoted = [text for english, text in forms(language) if text.count('"') > english.count('"')]
    assert not wrong + short + quoted


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_that_of_the_text(language):
    with (CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.mo").open("rb") as file:
        compiled = {str(m.id): list(m.string) for m in read_mo(file) if m.id}
    texts = {m.id if isinstance(m.id, str) else str(list(m.id)): m for m in catalogue(language)}
    assert compiled == {text: list(m.string) for text, m in texts.items() if text}, REFRESH


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_copies_a_link_does_not_say_that_it_copies_a_study(language):
    known = catalogue(language)
    assert known["Study"].string.lower() not in known["Copy"].string.lower()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_departs_from_the_glossary(language):
    own = GLOSSARY[language]
    found = []
    for english, text in forms(language):
        said = re.sub(r"%\(\w+\)s|<[^>]*>|study\.toml", "", english)
        bare = "".join(sign for sign in text if unicodedata.category(sign) != "Mn")
        if other := re.search(own["never"], bare, re.IGNORECASE):
            found.append((text, other[0], own["address"]))
        found += [
            (english, text, word)
            for word, about in ENGLISH.items()
            if re.search(about, said, re.IGNORECASE)
            and not re.search(own["words"][word], bare, re.IGNORECASE)
        ]
    assert not found


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_no_native_speaker_has_read_says_so(language):
    path = CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    assert "Not reviewed by a native speaker" in path.read_text("utf-8").partition("msgid")[0]


def test_every_word_that_is_stored_in_english_is_among_the_words():
    options = [f"{side.capitalize()} option" for side in SIDES]
    kinds = (State, EventKind, Ending, JobState, PaymentKind, PaymentState, AssignmentStatus)
    roles = (Role, ProjectRole, Right)
    stored = {str(word) for kind in (*kinds, *roles) for word in kind}
    stored |= {*SIDES, *options, *VERDICTS, *SORTS.values(), *SAID_OF.values()}
    stored |= {*FOR_ALL.values(), *FOR_ONE.values()}
    assert not stored - set(WORDS)
