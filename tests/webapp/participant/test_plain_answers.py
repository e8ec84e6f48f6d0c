"""An answer on its short way, and what does not go it: nobody can tell the two apart."""

import logging

import pytest

from webapp.database.engine import reading
from webapp.database.models import Response

pytestmark = pytest.mark.one_database


@pytest.fixture
def long_way(app) -> list[str]:
    """The addresses for which Flask was asked."""
    asked: list[str] = []
    app.before_request_funcs.setdefault(None, []).insert(0, lambda: asked.append("asked"))
    return asked


def n_stored(sessions) -> int:
    with reading(sessions) as session:
        return session.query(Response).count()


def test_a_plain_answer_is_stored_without_flask_once_its_run_is_known(visitor, sessions, long_way):
    visitor.answer(1)
    long_way.clear()
    assert visitor.answer(2).json == {"saved": 2, "remaining": 6}
    assert (long_way, n_stored(sessions)) == ([], 2)


def test_both_ways_answer_with_the_same_headers_and_the_same_log(visitor, caplog):
    visitor.answer(1)
    with caplog.at_level(logging.INFO, "parallax.requests"):
        short = visitor.answer(2)
        assert short.data
        # The same answer again with a header that the short way does not know.
        body = {"uuid": "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e44", "position": 3, "side": "first",
                "input_method": "key"}  # fmt: skip
        long = visitor.client.post(
            f"{visitor.home}answers", json=body, headers={"Transfer-Encoding": "identity"}
        )
    names = [{name for name, _ in reply.headers} for reply in (short, long)]
    assert names[0] == names[1]
    assert short.headers["X-Content-Type-Options"] == long.headers["X-Content-Type-Options"]
    said = [(each.method, each.endpoint, each.status) for each in caplog.records[-2:]]
    assert said == [("POST", "answers.save", 200)] * 2


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}],
)
def test_another_site_is_refused_as_ever(visitor, sessions, headers):
    visitor.answer(1)
    body = {"uuid": "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e44", "position": 2, "side": "first",
            "input_method": "key"}  # fmt: skip
    reply = visitor.client.post(f"{visitor.home}answers", json=body, headers=headers)
    assert (reply.status_code, n_stored(sessions)) == (403, 1)


def test_another_host_is_refused_as_ever(app, visitor, sessions):
    app.config["TRUSTED_HOSTS"] = ["localhost"]
    visitor.answer(1)
    body = {"uuid": "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e44", "position": 2, "side": "first",
            "input_method": "key"}  # fmt: skip
    elsewhere = {"Host": "elsewhere.example"}
    reply = visitor.client.post(f"{visitor.home}answers", json=body, headers=elsewhere)
    assert reply.status_code == 400
    assert n_stored(sessions) == 1


def test_the_last_answer_goes_the_long_way_and_is_stored_once(visitor, sessions, long_way):
    for position in range(1, 8):
        visitor.answer(position)
    long_way.clear()
    assert visitor.answer(8).json == {"saved": 8, "remaining": 0}
    assert (long_way, n_stored(sessions)) == (["asked"], 8)
