"""Whatever stands in a header that is parsed, nobody gets a server's error by it."""

import pytest

from tests.hostile.headers import HEADERS, walk
from tests.hostile.site import Site

pytestmark = pytest.mark.one_database


LOOKED_FOR = set[str]()


class Noted(dict):
    """A request's environment that notes what is looked for in it."""

    def __getitem__(self, key):
        LOOKED_FOR.add(key)
        return super().__getitem__(key)

    def __contains__(self, key):
        LOOKED_FOR.add(key)
        return super().__contains__(key)

    def get(self, key, default=None):
        LOOKED_FOR.add(key)
        return super().get(key, default)


def test_no_header_makes_a_server_s_error(tmp_path):
    site = Site(tmp_path / "instance")
    inner = site.app.wsgi_app
    site.app.wsgi_app = lambda environ, start: inner(Noted(environ), start)
    walked = walk(site, per_class=1, share=0.05)
    site.close()
    assert walked.found == []
    names = {each.removeprefix("HTTP_") for each in LOOKED_FOR if each.isupper()}
    headers = {each for each in names if f"HTTP_{each}" in LOOKED_FOR or "CONTENT" in each}
    assert headers <= {each.upper().replace("-", "_") for each in HEADERS}
    # Each class was reached: its routes did something, and did not only refuse.
    assert {name for name, kind in walked.counted if kind in ("2xx", "3xx")} >= {
        name for name in walked.routes if name != "platforms' calls"
    }


def test_another_site_s_origin_is_refused_however_it_is_written(client, run):
    for origin in ("http://[::1", "http://evil.example", "", "x", "http://localhost@evil.example"):
        sent = client.post(
            f"/run/{run.ref}", data={"decision": "accept"}, headers={"Origin": origin}
        )
        assert sent.status_code == 403, origin


@pytest.mark.parametrize("name", ["If-Modified-Since", "If-Unmodified-Since", "If-Range"])
def test_a_date_that_is_none_is_ignored(client, name):
    date = "Thu, 01 Feb 99999999999 09:09:09 GMT"
    with client.get("/static/noto-sans.css", headers={name: date, "Range": "bytes=0-1"}) as sent:
        assert sent.status_code in (200, 206)
