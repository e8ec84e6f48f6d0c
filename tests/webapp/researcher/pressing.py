"""Everything that somebody can press on the researchers' pages, found by reading the pages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.webapp.done_once import DoneOnce
from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.access import SESSION_COOKIE

TYPED = {"number": "1", "email": "a@b.org", "password": "correct horse battery"}
# Texts of no fixed length, and one that is long enough for every field that has a least.
A_TEXT = "long enough an answer"


@dataclass(frozen=True, slots=True)
class Button:
    """An enabled button, and what its form sends if somebody types only what must be typed."""

    action: str
    fields: tuple[tuple[str, str], ...]

    @property
    def act(self) -> tuple[str, ...]:
        """What it does, without the words that every page chooses anew."""
        named = (f"{name}={value}" for name, value in self.fields if name in ("act", "live"))
        return (self.action, *named)


@dataclass
class _Form:
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[dict[str, str | None]] = field(default_factory=list)


class PageReader(HTMLParser):
    """Reads the links and the forms of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[_Form] = []
        self._form: _Form | None = None
        self._select = self._textarea = ""
        self.feed(page)

    def buttons(self) -> Iterator[Button]:
        """Yield every button that can be pressed."""
        for form in self.forms:
            for button in form.buttons:
                name, value = button.get("name"), button.get("value") or ""
                fields = form.fields | ({name: value} if name else {})
                yield Button(str(button.get("formaction") or form.action), tuple(fields.items()))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "a" and said.get("href"):
            self.links.append(str(said["href"]))
        elif tag == "form":
            self._form = _Form(str(said.get("action")))
            if said.get("method") == "post":
                self.forms.append(self._form)
        elif self._form is not None and "disabled" not in said:
            self._read_field(tag, said)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._textarea = ""

    def handle_data(self, data: str) -> None:
        if self._form is not None and self._textarea:
            self._form.fields[self._textarea] = data

    def _read_field(self, tag: str, said: Mapping[str, str | None]) -> None:
        assert self._form is not None
        fields, name, value = self._form.fields, said.get("name") or "", said.get("value")
        if tag == "button":
            self._form.buttons.append(dict(said))
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select:
            if "selected" in said or self._select not in fields:
                fields[self._select] = value or ""
        elif tag == "textarea":
            self._textarea = name
            fields[name] = A_TEXT if "required" in said else ""
        elif tag == "input" and name:
            self._read_input(fields, name, said)

    def _read_input(
        self, fields: dict[str, str], name: str, said: Mapping[str, str | None]
    ) -> None:
        kind, value = said.get("type") or "text", said.get("value")
        if kind in ("checkbox", "radio"):
            if "checked" in said or "required" in said:
                fields[name] = value or "on"
        elif kind != "file":
            typed = TYPED.get(kind, A_TEXT if "pattern" not in said else "1")
            fields[name] = value or (typed if "required" in said else "")


@dataclass
class Walk:
    """A walk through all pages that somebody can reach, pressing every button once.

    Attributes:
        client: Their browser.
        instance: The installation's folder, whose state is put back after each button.
        within: A pattern of the addresses of the pages that the walk visits.
        typed: What they type into fields, by the last part of the form's address and the field's
            name, with a space between. A form that asks who is to be paid is sent only if there is
            somebody.
        pressed: Every pressed button's act, and the status of the answer.
        texts: The answers that were refused, by the act.
    """

    client: FlaskClient
    instance: Path
    within: str
    typed: Mapping[str, str]
    pressed: dict[tuple[str, ...], int] = field(default_factory=dict)
    texts: dict[tuple[str, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._state = DoneOnce((self.instance,), lambda: None)
        self._files = self._state.files()
        cookie = self.client.get_cookie(SESSION_COOKIE, path=RESEARCHER_PATH)
        assert cookie is not None
        self._token = cookie.value

    def go(self, first: str) -> None:
        """Walk from a page to every other one."""
        waiting, known = [first], {first}
        while waiting:
            address = waiting.pop(0)
            with self.client.get(address) as answer:
                if answer.mimetype != "text/html" or answer.status_code != 200:
                    continue
                page = PageReader(answer.text)
            for link in page.links:
                to = urljoin(address, link).partition("#")[0]
                if self._leads_on(to) and to not in known:
                    known.add(to)
                    waiting.append(to)
            self._press_all(page, ())

    def _press_all(self, page: PageReader, before: tuple[Button, ...]) -> None:
        for button in page.buttons():
            act = (*(part for one in before for part in one.act), *button.act)
            known = act in self.pressed or button.act in self.pressed
            if known or button.action.endswith("/sign-out") or not self._can_fill(button):
                continue
            for earlier in before:
                self._press(earlier).close()
            with self._press(button) as answer:
                self.pressed[act] = answer.status_code
                if answer.status_code >= 400:
                    self.texts[act] = answer.text
                shown = answer.text if answer.mimetype == "text/html" else ""
            self._state.put_back(self._files)
            self.client.set_cookie(SESSION_COOKIE, self._token, path=RESEARCHER_PATH)
            if answer.status_code == 200 and len(before) < 2:
                self._press_all(PageReader(shown), (*before, button))

    def _press(self, button: Button) -> TestResponse:
        form = button.action.rpartition("/")[2]
        data: dict[str, Any] = {
            name: self.typed.get(f"{form} {name}", value) if value == A_TEXT else value
            for name, value in button.fields
        }
        return self.client.post(button.action, data=data)

    def _can_fill(self, button: Button) -> bool:
        return ("who", A_TEXT) not in button.fields or "check who" in self.typed

    def _leads_on(self, address: str) -> bool:
        parts = urlsplit(address)
        is_ours = re.match(self.within, parts.path) is not None
        return is_ours and not any(f"{word}=" in parts.query for word in ("sort", "qr", "page"))
