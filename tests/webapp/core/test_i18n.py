"""Every message of the pages is translated, and the pages speak the study's language."""

import re
import shutil
import string
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

import webapp
from experiment.errors import StudyError
from experiment.studies.load import STUDIES_FOLDER, load_study
from webapp.core.i18n import CATALOGUES, SOURCE_LANGUAGE, gettext, languages
from webapp.database.models import Run
from webapp.participant.data_notice import list_stored_data

pytestmark = pytest.mark.one_database
WEBAPP = Path(webapp.__file__).parent
REFRESH = "docs/participants.md, Languages, says how to refresh the catalogues"
TRANSLATED = sorted(path.name for path in CATALOGUES.iterdir() if path.is_dir())


@cache
def messages() -> frozenset[str]:
    mapping = (CATALOGUES / "babel.cfg").read_text(encoding="utf-8")
    methods, options = parse_mapping_cfg(StringIO(mapping))
    found = extract_from_dir(str(WEBAPP), method_map=methods, options_map=options)
    return frozenset(text for _file, _line, text, _comments, _context in found)


@cache
def catalogue(language: str) -> Catalog:
    path = CATALOGUES / language / "LC_MESSAGES" / "messages.po"
    return read_po(BytesIO(path.read_bytes()), locale=language)


def entries(language: str) -> Iterator[Message]:
    return (message for message in catalogue(language) if message.id)


def fields(text: str) -> set[str]:
    named = {name for _, name, _, _ in string.Formatter().parse(text) if name}
    return named | set(re.findall(r"%\((\w+)\)s", text))


# What no native speaker has read says so; none may lag behind the pages.
REVIEWED = ["it"]
UNREVIEWED = ["ar", "de", "es", "fr", "he", "ja", "pt", "zh"]


def test_the_languages_of_the_pages():
    assert (
        languages()
        == [SOURCE_LANGUAGE, *sorted([*REVIEWED, *UNREVIEWED])]
        == [
            SOURCE_LANGUAGE,
            *TRANSLATED,
        ]
    )


@pytest.mark.parametrize("language", UNREVIEWED)
def test_what_no_native_speaker_has_read_says_so(language):
    path = CATALOGUES / language / "LC_MESSAGES" / "messages.po"
    assert "Not reviewed by a native speaker" in path.read_text("utf-8").partition("msgid")[0]


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_page_of_a_persons_own_data_speaks_every_language(language):
    page = {
        "Your data",
        "Your own code",
        "Download what is stored about you",
        "We cannot find this code. Please check it and try again.",
    }
    assert page <= messages()
    assert page <= {m.id for m in entries(language) if m.string}


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_message_is_translated_and_none_is_uncertain(language):
    translated = {m.id for m in entries(language) if m.string and not m.fuzzy}
    assert messages() - translated == set(), REFRESH
    assert translated - messages() == set(), f"no page says these any more: {REFRESH}"


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_has_the_same_places_for_values(language):
    translated = [message for message in entries(language) if message.string]
    wrong = [m.id for m in translated if fields(m.id) != fields(m.string)]
    assert not wrong


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_compiled_catalogue_is_that_of_the_text(language):
    with (CATALOGUES / language / "LC_MESSAGES" / "messages.mo").open("rb") as file:
        compiled = {m.id: m.string for m in read_mo(file) if m.id}
    assert compiled == {m.id: m.string for m in entries(language) if m.string}, REFRESH


def test_outside_a_request_messages_stand_as_they_were_written():
    assert gettext("This session has no trial %(number)s.", number=3).endswith("trial 3.")


@pytest.fixture
def run_in(launched, tmp_path):
    """Return a function that launches the minimal study as if it were of another language."""

    def launch(language: str, own: Mapping[str, str] | None = None) -> Run:
        folder = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / language / "minimal")
        (folder / "texts" / "en").rename(folder / "texts" / language)
        path = folder / "study.toml"
        text = path.read_text("utf-8").replace('language = "en"', f'language = "{language}"')
        path.write_text(text, encoding="utf-8")
        if own:
            entries = [f'msgid "{message}"\nmsgstr "{text}"\n' for message, text in own.items()]
            catalogue_file = folder / "texts" / language / "messages.po"
            catalogue_file.write_text("\n".join(entries), encoding="utf-8")
        return launched(load_study(str(folder)))

    return launch


@pytest.fixture
def italian(run_in) -> Run:
    return run_in("it")


def test_the_pages_speak_the_studys_language_whatever_the_browser_wishes(client, italian, start):
    wish = {"Accept-Language": "en"}
    consent = client.get(f"/run/{italian.ref}", headers=wish).text
    assert '<html lang="it" dir="ltr">' in consent and "Acconsento" in consent
    assert "I agree" not in consent
    visitor = start(italian)
    assert "Iniziare" in visitor.page().text
    visitor.answer_all()
    assert "Qualche ultima domanda" in visitor.page().text
    assert "La preghiamo di rispondere" in visitor.questionnaire().text
    visitor.questionnaire(native_language="italiano")
    assert "Ora può chiudere questa pagina" in visitor.page().text


def test_errors_speak_it_too(client, italian, start):
    undecided = client.post(f"/run/{italian.ref}", data={})
    assert "scegliere se vuole partecipare" in undecided.text and 'lang="it"' in undecided.text
    visitor = start(italian)
    assert "non c'è la prova 9" in visitor.answer(9).json["error"]["message"]
    assert "non è leggibile" in visitor.answer(0).json["error"]["message"]
    for _ in range(7):
        start(italian)
    assert "Lo studio è al completo" in client.get(f"/run/{italian.ref}").text


def test_where_no_run_is_known_the_browsers_wish_counts(client):
    for wish, words in (("it-IT,it;q=0.9", "nessuno studio"), ("fi", "no study"), ("", "no study")):
        page = client.get("/run/nothere", headers={"Accept-Language": wish})
        assert words in page.text
    sent = client.post("/p/forged.token/answers", headers={"Accept-Language": "it"}, json={})
    assert "Questo link non è completo" in sent.json["error"]["message"]


@pytest.mark.parametrize(("language", "direction"), [("fa", "rtl"), ("ur", "rtl"), ("fi", "ltr")])
def test_the_text_runs_as_its_language_does(client, run_in, language, direction):
    page = client.get(f"/run/{run_in(language).ref}").text
    assert f'<html lang="{language}" dir="{direction}">' in page
    assert "I agree" in page  # no catalogue: the buttons are English


def test_a_language_that_nobody_knows_runs_from_left_to_right(client, run_in):
    assert '<html lang="tlh" dir="ltr">' in client.get(f"/run/{run_in('tlh').ref}").text


def test_what_is_stored_is_told_in_the_pages_language(client, italian, study):
    page = client.get(f"/run/{italian.ref}").text
    assert "Che cosa viene conservato" in page
    assert not [s for s in list_stored_data(study, known_to_platform=False) if s in page]


def test_what_is_untranslated_is_marked_as_english_and_the_studys_own_words_come_first(
    client, run_in, start
):
    """Persian has no catalogue of ours; the study translates one message."""
    run = run_in(
        "fa",
        own={
            "I agree and want to take part": "موافقم",
            "{position} of {total}": "{position} از {total}",
        },
    )
    consent = client.get(f"/run/{run.ref}").text
    assert '<html lang="fa" dir="rtl">' in consent
    assert "موافقم" in consent
    assert '<span lang="en" dir="ltr">I do not want to take part</span>' in consent
    assert '<span lang="en" dir="ltr">Once for each device' in consent
    page = start(run).page().text
    assert '<span lang="en" dir="ltr" id="indicator"' in page
    assert '<span id="count"' in page
    assert 'data-count="{position} از {total}"' in page
    assert 'data-practice="Practice {position} of {total}"' in page
    sent = client.post(f"/run/{run.ref}", data={}, headers={"Accept": "application/json"})
    assert "<span" not in (sent.json or {}).get("error", {}).get("message", "")
    marked = re.findall(r'="[^"<>]*<span', consent + page)
    assert not marked, "an attribute holds text alone"


def test_english_pages_and_translated_ones_mark_nothing(client, run_in, start):
    for run in (run_in("it"), run_in("en-GB"), run_in("de")):
        assert 'lang="en" dir="ltr"' not in client.get(f"/run/{run.ref}").text
        assert 'lang="en" dir="ltr"' not in start(run).page().text


def test_a_studys_catalogue_that_cannot_be_used_is_named(run_in):
    with pytest.raises(StudyError, match="has different placeholders from its message"):
        run_in("fa", own={"Trial %(number)s cannot be answered like this.": "آزمون"})
    with pytest.raises(StudyError, match="cannot be read"):
        run_in("ps", own={"Start": 'x"\nnonsense'})
