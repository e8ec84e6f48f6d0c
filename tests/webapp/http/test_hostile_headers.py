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
