"""One request, and whether its answer is what no answer may be."""

import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from werkzeug.datastructures import Headers
from werkzeug.routing import Rule
from werkzeug.test import run_wsgi_app

from tests.hostile.answers import TooLongError, bounded, wrong_with
from tests.hostile.site import Site

_KINDS = ("2xx", "3xx", "4xx", "5xx")
_ROW = "{:<24} {:>7} {:>9} {:>8} {:>8} {:>8} {:>8}"


@dataclass
class Walked:
    """What became of the requests.

    Attributes:
        counted: How many requests of a class of routes had an answer of a kind, ``"4xx"``.
        routes: How many routes are in each class.
        found: What is wrong: the request, and why.
    """

    counted: Counter[tuple[str, str]] = field(default_factory=Counter)
    routes: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    def table(self) -> Iterator[str]:
        """Yield the lines of a table: how each class of routes answered, and all of them."""
        yield _ROW.format("", "routes", "requests", *_KINDS)
        for name in sorted(self.routes):
            each = [self.counted[name, kind] for kind in _KINDS]
            yield _ROW.format(name, self.routes[name], f"{sum(each):,}", *each)
        every = [sum(n for (_, of), n in self.counted.items() if of == kind) for kind in _KINDS]
        yield _ROW.format("all", sum(self.routes.values()), f"{sum(every):,}", *every)

    def result(self) -> Iterator[str]:
        """Yield how much was found, and the first of it."""
        yield f"found: {len(self.found)}"
        yield from self.found[:20]


def ask(
    site: Site, rule: Rule, environ: dict[str, Any], asked: str, walked: Walked, name: str
) -> Headers:
    """Ask, note what became of it, and return the answer's headers; none where nothing came.

    Args:
        site: Whom.
        rule: The route.
        environ: The request.
        asked: What is said of it where something is wrong.
        walked: Where it is noted.
        name: The route's class.
    """
    try:
        with bounded():
            body, status, headers = run_wsgi_app(site.app, environ, buffered=True)
            content = b"".join(body)
    except TooLongError:
        walked.found.append(f"{asked}: it took too long")
        return Headers()
    except Exception as error:  # around the app, where nothing answers it
        walked.found.append(f"{asked}: {error!r}")
        return Headers()
    if headers.get("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    code = int(status.partition(" ")[0])
    # The page of settings tells owners where things lie.
    told = b"" if rule.endpoint == "installation.show_settings" and code == 200 else content
    walked.counted[name, f"{code // 100}xx"] += 1
    if problem := wrong_with(code, headers, told, site.instance):
        walked.found.append(f"{asked}: {problem}")
    return headers
