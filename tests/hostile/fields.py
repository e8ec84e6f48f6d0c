"""Every field that something looks at, with values that nobody types by accident.

No list says which fields there are: each route is asked, and what it looks at is noted; so is each
form of each page. The other fields hold what a page offers or what is right, so that a wrong one is
looked at alone.
"""

import io
import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Rule
from werkzeug.test import EnvironBuilder, run_wsgi_app

from tests.hostile.answers import MARK
from tests.hostile.asking import Walked, ask
from tests.hostile.forms import EVERY, LOOKED_AT, Forms
from tests.hostile.peopled import Peopled

VALUES: tuple[bytes, ...] = (
    b"", b" ", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"9" * 5_000, b"-1", b"0", b"1e400", b"NaN",
    b"0x10", b"1_0", b"9" * 19, b"2147483648", "\u0663".encode(), "\u00b2".encode(), b"1.5",
    b"True",
    b"a" * 30_000, b"a b " * 5_000, b"\n" * 5_000, b"\r\nSet-Cookie: a=b", MARK, b"'\"><" + MARK,
    b"=1+1", b"{{7*7}}", b"%s%n%(x)s{x}", b"../../secret_key", b"/etc/passwd", b"..", b"a/b",
    b"--help", b"-rf", b"$(id)", b"`id`;id|id", b"' or 1=1 --", b"http://[::1", b"http://a:99999999",
    b"javascript:alert(1)", b"//evil.example", b"\\\\evil.example", b"9999-99-99", b"\xe2\x80\xae",
    b"[" * 5_000, b'{"a":' * 2_000, b"null", b"," * 5_000, b"\xf0\x9f\x98\x80" * 1_000,
)  # fmt: skip
_ROUNDS = 6
# It holds a digest of the session, which is another one after each.
_FORM = "form_token"
# Arriving looks at other fields for each way of arriving.
_ARRIVALS = ("consent.", "compensation.")
_Sound = dict[str, str | None]


@dataclass(frozen=True)
class _Route:
    """A route as it is asked: with a method, and at which of the runs somebody arrives."""

    rule: Rule
    method: str
    arrival: int | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.rule.rule}"

    def path(self, site: Peopled, given: Mapping[str, str] | None = None) -> str:
        """Return an address of it at which there is something, but for what is given."""
        at = {} if self.arrival is None else {"ref": site.arrivals[self.arrival]}
        return site.path_of(self.rule, {**at, **(given or {})} or None)

    def request(
        self, site: Peopled, sound: _Sound, field: str = "", value: bytes = b""
    ) -> dict[str, Any]:
        """Return a request whose fields are right but for one; a file has a wrong name."""
        in_path = field in self.rule.arguments
        path = self.path(site, {field: quote(value, safe="") or "x"} if in_path else None)
        fields: list[tuple[str, str | bytes]] = [
            (name, text or "")
            for name, text in sound.items()
            if name not in (field, _FORM) and text is not None
        ]
        fields += [(_FORM, site.form)] if self.method == "POST" and field != _FORM else []
        is_file = field in sound and sound[field] is None
        fields += [] if in_path or is_file or not field else [(field, value)]
        if self.method == "GET":
            builder = EnvironBuilder(path, method="GET", query_string=urlencode(fields))
        elif is_file:
            data: dict[str, Any] = dict(fields)
            data[field] = (io.BytesIO(b"item,good,bad\n"), value.decode("utf-8", "replace"))
            builder = EnvironBuilder(path, method="POST", data=data)
        else:
            kind = "application/x-www-form-urlencoded"
            sent = urlencode(fields).encode()
            builder = EnvironBuilder(path, method="POST", data=sent, content_type=kind)
        return {**builder.get_environ(), **site.environ_of(self.rule)}

    def looked_at(self, site: Peopled, sound: _Sound) -> set[str]:
        """Return the fields that it looks at, and add to ``sound`` what is right in each."""
        right = site.sound_of(self.rule)
        for _ in range(_ROUNDS):
            LOOKED_AT.clear()
            site.be_ready()
            sound |= {
                name: right[name] for name in sound if name in right and sound[name] is not None
            }
            run_wsgi_app(site.app, self.request(site, sound), buffered=True)
            new = LOOKED_AT - {EVERY} - sound.keys()
            sound |= {name: right.get(name, "") for name in new}
            if not new:
                break
        return {*sound, *LOOKED_AT} - {EVERY}


def walk(
    folder: Path,
    share: float = 1.0,
    seed: int = 1,
    build: Callable[[Path], Peopled] = Peopled,
) -> tuple[Walked, dict[str, set[str]]]:
    """Send every value in every field of every route.

    Args:
        folder: Where installations are made: each route that changes something has its own.
        share: How much of that is sent, of 1; it is drawn. Of less than all, all routes share one.
        seed: What is drawn follows from it.
        build: Makes an installation in a folder.

    Returns:
        What became of it, and the names that were looked at, by route.
    """
    whole, walked, draw = share >= 1, Walked(), random.Random(seed)
    names, site = defaultdict[str, set[str]](set), build(folder / "begun")
    forms, seen = _forms(site)
    for number, route in enumerate(_routes(site)):
        if whole and route.method == "POST":
            site.close()
            shutil.rmtree(site.instance)
            site = build(folder / str(number))
        name, sound = site.class_of(route.rule, route.method), dict(forms.found[str(route)])
        if route.method == "GET":  # each was asked when its forms were read
            here, sound = seen[str(route), route.arrival]
        else:
            here = route.looked_at(site, sound)
        names[str(route)] |= here
        walked.routes[name] += route.arrival is None
        for field, value in product(sorted({*here, *route.rule.arguments}), VALUES):
            if whole or draw.random() < share:
                site.be_ready()
                environ = route.request(site, sound, field, value)
                ask(site, route.rule, environ, f"{route} {field}={value[:40]!r}", walked, name)
    site.close()
    return walked, names


def _routes(site: Peopled) -> Iterator[_Route]:
    rules = sorted(site.rules, key=lambda rule: (rule.endpoint in site.leaves, rule.rule))
    for method in ("GET", "POST"):
        for rule in (rule for rule in rules if method in (rule.methods or ())):
            yield _Route(rule, method)
            if rule.endpoint.startswith(_ARRIVALS):
                yield from (_Route(rule, method, at) for at in range(len(site.arrivals)))


def _forms(site: Peopled) -> tuple[Forms, dict[tuple[str, int | None], tuple[set[str], _Sound]]]:
    """Return the forms of every page, by the routes to which they are sent.

    And for each page, by its route and arrival, the fields that it looks at and what is right.
    """
    forms, adapter = Forms(), site.app.url_map.bind("")
    seen = dict[tuple[str, int | None], tuple[set[str], _Sound]]()
    for route in (each for each in _routes(site) if each.method == "GET"):
        sound: _Sound = {}
        seen[str(route), route.arrival] = route.looked_at(site, sound), sound
        body, _, headers = run_wsgi_app(site.app, route.request(site, sound), buffered=True)
        if headers.get("Content-Type", "").startswith("text/html"):
            forms.read(route.path(site), b"".join(body).decode("utf-8", "replace"))
    for path in list(forms.found):
        with suppress(NotFound, MethodNotAllowed):
            rule, _ = adapter.match(path, "POST", return_rule=True)
            forms.found[f"POST {rule.rule}"] |= forms.found.pop(path)
    return forms, seen
