"""The forms that pages hold, and what the app looks at in what is sent to it."""

from collections import defaultdict
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

from flask import Flask
from werkzeug.datastructures import ImmutableMultiDict

# What was looked at since it was last emptied: names of fields, and EVERY where all were taken.
EVERY = "*"
LOOKED_AT: set[str] = set()


class _Watching(ImmutableMultiDict[str, Any]):
    """Fields that note by which names they are looked at."""

    def __getitem__(self, key: str) -> Any:
        LOOKED_AT.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        LOOKED_AT.add(str(key))
        return super().__contains__(key)

    def get(self, key: str, *given: Any, **options: Any) -> Any:
        LOOKED_AT.add(key)
        return super().get(key, *given, **options)

    def getlist(self, key: str, *given: Any, **options: Any) -> Any:
        LOOKED_AT.add(key)
        return super().getlist(key, *given, **options)

    def lists(self) -> Any:
        LOOKED_AT.add(EVERY)
        return super().lists()


def watch(app: Flask) -> None:
    """Let an app note what it looks at, in addresses and in forms."""
    own = app.request_class.parameter_storage_class
    watched = type("_Watched", (_Watching, own), {})
    app.request_class = type("_Request", (app.request_class,), {"parameter_storage_class": watched})


class Forms(HTMLParser):
    """The forms of pages, each by the path to which it is sent.

    Attributes:
        found: The fields of each with what they hold; a file's field holds None.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: defaultdict[str, dict[str, str | None]] = defaultdict(dict)
        self._page = self._select = self._text = ""
        self._form: dict[str, str | None] = {}

    def read(self, path: str, page: str) -> None:
        """Add the forms of a page."""
        self._page, self._form = path, {}
        self.feed(page)
        self.reset()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a form, or a field of one."""
        said = {name: value or "" for name, value in attrs}
        name, value = said.get("name", ""), said.get("value", "")
        if tag == "form":
            to = urlsplit(urljoin(self._page, said.get("action", ""))).path
            self._form = self.found[to] if said.get("method", "").lower() == "post" else {}
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select:
            if "selected" in said or self._select not in self._form:
                self._form[self._select] = value
        elif tag == "textarea" and name:
            self._text = name
            self._form.setdefault(name, "")
        elif tag in ("input", "button") and name:
            kind = said.get("type", "")
            if kind == "file":
                self._form[name] = None
            elif kind not in ("checkbox", "radio") or "checked" in said or name not in self._form:
                self._form[name] = value

    def handle_endtag(self, tag: str) -> None:
        """End what began."""
        if tag == "form":
            self._form = {}
        elif tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._text = ""

    def handle_data(self, data: str) -> None:
        """Keep what stands in a field of several lines."""
        if self._text:
            self._form[self._text] = data
