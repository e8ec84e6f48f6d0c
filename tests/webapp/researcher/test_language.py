"""The room speaks the language that its reader chose, and leaves nothing in English."""

import gettext
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from babel import Locale
from sqlalchemy import select

from experiment.participation import EventKind
from experiment.responses.registry import RESPONSE_TYPES
from experiment.studies.load import BUILT_IN, built_in_studies
from webapp.database.models import Event, Participant, RunItem, User
from webapp.jobs.summaries import summarise
from webapp.recruiters.registry import RECRUITERS
from webapp.researcher import language
from webapp.researcher.drafts import texts_of
from webapp.researcher.language import Spoken
from webapp.runs.runs import study_as_launched
from webapp.runs.unblind import unblind
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
WORD = re.compile(r"[A-Za-z]{2,}")
UNREAD = ("script", "style", "code", "pre", "textarea")
SEEN = ("aria-label", "title", "alt", "placeholder")
# What is the same in every language: signs, units, names of formats and of what comes from outside.
SAME = {
    "UTC",
    "Parallax",
    "SHA",
    "Hz",
    "webhook",
    "https",
    "POST",
    "JSON",
    "Slack",
    "Mattermost",
    "csv",
    "tsv",
    "xlsx",
    "jsonl",
}


class Marked(gettext.NullTranslations):
    """A language whose every text is put between marks."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


class Unmarked(HTMLParser):
    """Collects the words of a page that nothing translates."""

    def __init__(self) -> None:
        super().__init__()
        self.words: set[str] = set()
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.words |= set(WORD.findall(" ".join(given.get(name) or "" for name in SEEN)))
        if tag not in ("input", "meta", "link", "br", "img"):
            # What is not in the page's language says so, and programs' words are no words.
            self._open.append((tag, tag in UNREAD or given.get("lang", "ja") != "ja"))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(unread for _, unread in self._open):
            self.words |= set(WORD.findall(data))


def unmarked(page: str) -> set[str]:
    # A text that holds another is between two pairs of marks.
    while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "", page)) != page:
        page = shorter
    parser = Unmarked()
    parser.feed(page)
    return parser.words - SAME


@pytest.fixture
def in_marks(monkeypatch):
    """Return a function that lets the room speak a language of marks from then on."""

    def speak() -> None:
        marked = Spoken("ja", Locale("ja"), Marked(), str.maketrans("", ""))
        monkeypatch.setattr(language, "spoken", lambda _: marked)

    return speak


@pytest.fixture
def lived(start, run, sessions, clock):
    """A run whose results may be seen, with somebody who finished and somebody at work.

    Everything that can happen beside an answer happened to the second.
    """
    visitor = start(run)
    visitor.answer_all()
    visitor.questionnaire(native_language="42")
    start(run)
    summarise(sessions, run.ref, study_as_launched, clock())
    with sessions.begin() as session:
        second = session.scalars(select(Participant.id).order_by(Participant.id.desc())).first()
        detail = {"what": "happened"}
        session.add_all(
            Event(participant_id=second, kind=kind, detail=detail, at=clock()) for kind in EventKind
        )
        unblind(session, session.merge(run), by="42", reason="4" * 10, now=clock())
        return session.scalars(select(Participant.ref).order_by(Participant.id)).all()


def test_no_page_of_the_room_says_anything_in_english_alone(
    lived, run, researcher, sessions, in_marks
):
    here = researcher(Role.OWNER)
    here.post("/projects", name="42")
    here.post("/studies/copy", study="minimal", name="copied")
    copied = re.search(r"copied \((\w+)\)", here.get("/studies").text)[0]
    here.post(f"/runs/{run.ref}/links", kind="code", number="2", list="")
    in_marks()
    at = f"/runs/{run.ref}"
    title_of_study = "Which sentence sounds better?"
    # The names of what was made, in this test and in the study that is shown.
    data = set(WORD.findall(" ".join((run.ref, *lived, copied, "owner minimal direct test"))))
    pages = [
        "/", "/?archive=1", at, f"{at}/participants", f"{at}/participants?sort=flags",
        *(f"{at}/participants/{ref}" for ref in lived), f"{at}/money", f"{at}/reports",
        f"{at}/links", "/settings", "/backups", "/installation", "/audit",
        "/launch/check?study=minimal", "/new-password", "/shared", "/sign-in/code",
        f"{at}/film?who={lived[0]}&beside={lived[0]}", "/studies", "/launch", "/projects",
        "/projects/42", "/accounts", "/notifications", "/sessions", "/tokens", "/password",
        "/second-factor", "/join", "/sign-in", "/nothing-here", f"/studies/power?study={copied}",
        f"/studies/edit?study={copied}",
    ]  # fmt: skip
    with sessions() as session:
        items = session.scalars(select(RunItem.item)).all()
    names = (*built_in_studies(), *RESPONSE_TYPES, *RECRUITERS, *texts_of(BUILT_IN / "minimal"))
    data |= set(WORD.findall(" ".join((title_of_study, *names, *map(str, items)))))
    data |= {"native", "language"}  # the name of the questionnaire's field
    found = {page: unmarked(here.get(page).text) - data for page in pages}
    left = {page: words for page, words in found.items() if words}
    assert not left, f"no catalogue translates this: {left}"


def test_the_language_is_the_accounts_else_the_browsers_else_english(researcher, sessions, browser):
    here = researcher(Role.VIEWER)
    wish = {"Accept-Language": "de-AT,de;q=0.9"}

    def page(headers: dict[str, str]) -> str:
        return here.client.get("/researcher/sessions", headers=headers).text

    assert '<html lang="de" dir="ltr">' in page(wish) and "Ihre Sitzungen" in page(wish)
    assert '<html lang="en" dir="ltr">' in page({"Accept-Language": "fi"})
    assert here.post("/language", language="ar").status_code == 303
    assert '<html lang="ar" dir="rtl">' in page(wish) and "جلساتكم" in page(wish)
    # Another browser of the same account speaks it, too; whoever is not signed in is not known.
    other = browser()
    assert (
        'lang="fr"'
        in other.client.get("/researcher/sign-in", headers={"Accept-Language": "fr"}).text
    )
    other.sign_in("viewer")
    assert 'lang="ar"' in other.get("/sessions").text
    here.post("/language", language="tlh")
    with sessions() as session:
        assert session.scalars(select(User.language)).all() == [None]
    assert 'lang="de"' in page(wish)


def test_refusals_speak_it_and_paragraphs_of_commands_are_marked_as_english(researcher, run):
    here = researcher(Role.OWNER)
    here.post("/language", language="it")
    missing = here.get("/runs/nothere")
    assert "Non trovato" in missing.text and "nessuno studio" in missing.text
    refused = here.post("/tokens", label="42", days="0")
    assert re.search(r'role="alert"><span lang="en" dir="ltr">\w', refused.text)


def test_numbers_dates_and_money_are_written_as_the_language_does(app):
    at = datetime(2026, 11, 5, 14, 3, tzinfo=UTC)
    wanted = {
        "en": ("1,234.5", "5 November 2026, 14:03", "2026-11-05", "$1,234.50"),
        "de": ("1.234,5", "5. November 2026, 14:03", "05.11.2026", "1.234,50$"),
        "pt": ("1234,5", "5 de novembro de 2026, 14:03", "05/11/2026", "1234,50$"),
        "ja": ("1,234.5", "2026年11月5日, 14:03", "2026/11/05", "$1,234.50"),
    }
    for code, (number, long, day, amount) in wanted.items():
        with app.test_request_context():
            language.speak_to(code)
            assert language.number(1234.5) == number
            assert language.when(at, "%-d %B %Y, %H:%M") == long
            assert language.when(at, "%Y-%m-%d") == day
            assert re.sub(r"\s|US", "", language.in_words(123450, "USD")) == amount
    with app.test_request_context():
        language.speak_to("ar")
        assert re.search("[0-9]", language.when(at, "%-d %b")), "digits as in every table"
    for code in ("ar", "he"):
        with app.test_request_context():
            language.speak_to(code)
            amount = language.in_words(123450, "USD")
            assert amount == '<bdi dir="ltr">USD\N{NO-BREAK SPACE}1,234.50</bdi>', "not $US"
            page = app.jinja_env.from_string("{{ amount }}").render(amount=amount)
            assert "<bdi" in page, "it is no text that is escaped"
            assert "150</bdi>" in language.in_words(150, "JPY")


def test_a_participants_request_reads_no_catalogue_of_the_room(client, run, monkeypatch):
    def never(*_: object) -> None:
        raise AssertionError("a participant's page asked for the room's language")

    monkeypatch.setattr(language, "spoken", never)
    monkeypatch.setattr(language, "speak_to", never)
    assert client.get(f"/run/{run.ref}").status_code == 200


@pytest.mark.one_database
def test_a_word_in_a_template_is_said_anew_in_each_language(app):
    with app.test_request_context(headers={"Accept-Language": "de"}):
        language.speak_to("de")
        page = app.jinja_env.from_string("{{ 'reader' | said }}")
        german = page.render()
    with app.test_request_context():
        language.speak_to("fr")
        assert page.render() != german


@pytest.mark.parametrize("code", ["en", "ja"])
def test_only_our_own_words_lose_their_underscores(app, code):
    with app.test_request_context():
        language.speak_to(code)
        assert "_" not in language.said("premature_press")
        answer = "easy_to_read 3, natural 5"
        assert language.said(answer) == answer, "a study's scale is called as in its data"
        assert language.said(None) == ""
