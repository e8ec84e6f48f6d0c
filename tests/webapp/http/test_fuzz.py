"""Hostile requests to every route end in no error of ours, and change nothing for nobody."""

import pytest
from werkzeug.test import EnvironBuilder, run_wsgi_app

from tests.hostile.fuzz import Fuzzer
from webapp import create_app

pytestmark = pytest.mark.one_database


def test_no_request_ends_in_an_error_of_the_server(tmp_path):
    app = create_app(tmp_path / "instance")
    found = Fuzzer(app, seed=20).requests(400)
    app.extensions["parallax"].engine.dispose()
    assert found.failures == []
    assert sum(found.statuses.values()) > 300


@pytest.mark.parametrize(
    "host", ["a" * 64, f"{'a' * 64}.example", "xn--a", "..", "[::1", "a b", "é.example", "x:y"]
)
@pytest.mark.parametrize("settings", ["", 'public_url = "https://study.example"'])
def test_a_host_that_cannot_be_one_is_refused_in_words(host, settings, tmp_path):
    (tmp_path / "parallax.toml").write_text(settings)
    app = create_app(tmp_path)
    environ = EnvironBuilder("/healthz").get_environ()
    environ["HTTP_HOST"] = host.encode().decode("latin-1")
    _, status, _ = run_wsgi_app(app, environ)
    app.extensions["parallax"].engine.dispose()
    assert status.startswith("400")
