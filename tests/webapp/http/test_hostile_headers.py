"""Whatever stands in a header that is parsed, nobody gets a server's error by it."""

import pytest

from benchmarks.hostile.headers import walk
from benchmarks.hostile.site import Site

pytestmark = pytest.mark.one_database


def test_no_header_makes_a_server_s_error(tmp_path):
    site = Site(tmp_path / "instance")
    walked = walk(site, per_class=1, share=0.05)
    site.close()
    assert walked.found == []
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
