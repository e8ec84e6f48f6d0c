"""Every header that something parses, with values that nobody sends by accident."""

import random
from collections import defaultdict
from itertools import product

from werkzeug.routing import Rule
from werkzeug.test import EnvironBuilder

from tests.hostile.asking import Walked, ask
from tests.hostile.site import Site

# What our own code, Werkzeug or Flask reads of a request.
HEADERS = (
    "Origin", "Referer", "Host", "Sec-Fetch-Site", "X-Forwarded-For", "X-Forwarded-Proto",
    "X-Forwarded-Host", "X-Request-ID", "Forwarded", "Accept-Language", "Accept-Encoding", "Accept",
    "Authorization", "Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding",
    "Cookie", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
    "Range", "User-Agent", "Upgrade",
    "Connection", "Expect", "Cache-Control", "X-Parallax-Within", "HX-Request", "Last-Event-ID",
    "X-Prolific-Request-Signature", "X-Prolific-Request-Timestamp",
)  # fmt: skip
VALUES = (
    "", " ", "null, null", "\x00", "\xff\xfe", "\r\nSet-Cookie: a=b", "x\nSet-Cookie: a=b",
    "http://[::1", "http://[", "http://]", "http://[v1.x]", "http://\u2100.example",
    "http://a:99999999999999999999", "http://localhost@evil.example", "[::1]:", "a:b:c",
    "a" * 9_000, ";" * 3_000, "," * 3_000, "=" * 500, '"' * 501, "\\" * 501, "(" * 3_000,
    "en;q=" + "9" * 5_000, "en;q=nan", "en;q=1e400", "*;q=0,", "en-" * 1_000, "gzip;q=\u0663",
    "bytes=" + "9" * 5_000 + "-", "bytes=-1-2-3", "bytes=0-" + ",0-" * 900, "bytes=\xb2-",
    "multipart/form-data", "multipart/form-data; boundary=" + "x" * 500,
    'multipart/form-data; boundary="', "text/html; charset=utf-99",
    "application/json; charset=utf-16", "application/x-www-form-urlencoded; charset=\x00",
    "Basic \xff", "Basic " + "=" * 99, "Bearer", "Bearer " + "x" * 5_000,
    "Digest username*=utf-99''x",
    "W/" * 1_000, 'W/"', "Thu, 99 Feb 99999999999 99:99:99 GMT", "Thu, 01 Jan 0000 00:00:00 GMT",
    "Thu, 01 Jan 1970 00:00:00 +99999999", "9" * 5_000, "-1", "1e9", "\u0663", "NaN", "0x10",
    "%00%ff%u1234", "x*=utf-99''%ff", "a=b; " * 900, "parallax_researcher=" + "\xe9" * 200,
    "chunked, chunked", "websocket", "100-continue", "../../etc/passwd", "<script>a</script>",
    "{{7*7}}", "for=[::1;proto=", "1.2.3.4, " * 500, "999.1.1.1", "::ffff:1.2.3.4.5", "fe80::%\x00",
    "xn--", "xn--\x80", "." * 300, "a." * 200,
)  # fmt: skip


def walk(site: Site, per_class: int = 4, share: float = 1.0, seed: int = 1) -> Walked:
    """Send every value in every header to routes of every class.

    Args:
        site: Whom it is sent to.
        per_class: To how many routes of a class each value of each header is sent; they are drawn
            anew for each.
        share: How much of that, of 1.
        seed: What is drawn follows from it.
    """
    walked, draw = Walked(), random.Random(seed)
    of_class = defaultdict[str, list[tuple[Rule, str]]](list)
    for rule in site.rules:
        for method in sorted((rule.methods or set()) & {"GET", "POST"}):
            of_class[site.class_of(rule, method)].append((rule, method))
    walked.routes.update({name: len(some) for name, some in of_class.items()})
    for name, some in of_class.items():
        for header, value in product(HEADERS, VALUES):
            if share >= 1 or draw.random() < share:
                for rule, method in draw.sample(some, min(per_class, len(some))):
                    _asked(site, name, rule, method, (header, value), walked)
    return walked


def _asked(
    site: Site, name: str, rule: Rule, method: str, sent: tuple[str, str], walked: Walked
) -> None:
    header, value = sent
    environ = EnvironBuilder(
        site.path_of(rule), method=method, **(site.body_of(rule) if method == "POST" else {})
    ).get_environ()
    environ |= {**site.environ_of(rule), **_environ(header, value)}
    asked = f"{method} {rule.rule} {header}: {value[:60]!r}"
    ask(site, rule, environ, asked, walked, name)


def _environ(header: str, value: str) -> dict[str, str]:
    """Return a header as a server hands it on: bytes, each as one letter of Latin 1."""
    name = header.upper().replace("-", "_")
    sent = value.encode("utf-8").decode("latin-1") if not value.isascii() else value
    return {name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}": sent}
