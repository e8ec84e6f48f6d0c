"""Whatever stands in a header that is parsed, nobody gets a server's error by it."""

import itertools
import json
import random

import pytest

pytestmark = pytest.mark.one_database

HEADERS = (
    "Origin",
    "Referer",
    "Host",
    "Sec-Fetch-Site",
    "X-Forwarded-For",
    "X-Forwarded-Proto",
    "X-Forwarded-Host",
    "X-Request-ID",
    "Accept-Language",
    "Accept-Encoding",
    "Accept",
    "Authorization",
    "Content-Type",
    "Content-Encoding",
    "Cookie",
    "If-None-Match",
    "If-Modified-Since",
    "Range",
    "User-Agent",
    "Upgrade",
    "Expect",
)
VALUES = (
    "",
    "http://[::1",
    "http://[",
    "http://]",
    "http://[v1.x]",
    "http://\u2100.example",
    "http://a:99999999999999999999",
    "null, null",
    "\x00",
    "\xff\xfe",
    "a" * 9000,
    ";" * 3000,
    "," * 3000,
    "en;q=" + "9" * 5000,
    "en;q=nan",
    "bytes=" + "9" * 5000 + "-",
    "bytes=-1-2-3",
    "multipart/form-data",
    "multipart/form-data; boundary=" + "x" * 500,
    "text/html; charset=" + "utf-99",
    "application/json; charset=utf-16",
    "Basic \xff",
    "Digest username*=utf-99''x",
    "W/" * 1000,
    "Thu, 99 Feb 99999999999 99:99:99 GMT",
    "%00%ff%u1234",
    "=" * 500,
    "x*=utf-99''%ff",
)


def test_no_header_makes_a_server_s_error(app, client, run, visitor):
    app.testing = False
    client.application.config["PROPAGATE_EXCEPTIONS"] = False
    draw = random.Random(1)
    addresses = [
        ("GET", f"/run/{run.ref}", None),
        ("POST", f"/run/{run.ref}", "decision=decline"),
        ("POST", f"{visitor.home}answers", json.dumps({"position": 1})),
        ("POST", "/researcher/sign-in", "name=x&password=y"),
        ("GET", "/healthz", None),
    ]
    wrong = []
    for header, value in itertools.product(HEADERS, VALUES):
        method, address, body = draw.choice(addresses)
        try:
            value.encode("latin-1")
        except UnicodeEncodeError:
            value = value.encode().decode("latin-1")  # as WSGI hands bytes on
        environ = {f"HTTP_{header.upper().replace('-', '_')}": value}
        if header == "Content-Type":
            environ = {"CONTENT_TYPE": value}
        answered = client.open(address, method=method, data=body, environ_overrides=environ)
        if answered.status_code >= 500 or "Traceback" in answered.text:
            wrong.append((method, address, header, value[:40], answered.status_code))
    assert wrong == []


def test_another_site_s_origin_is_refused_however_it_is_written(client, run):
    for origin in ("http://[::1", "http://evil.example", "", "x", "http://localhost@evil.example"):
        sent = client.post(
            f"/run/{run.ref}", data={"decision": "accept"}, headers={"Origin": origin}
        )
        assert sent.status_code == 403, origin
