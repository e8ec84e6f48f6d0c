"""Whatever is sent, the reply is a clear page or one shape of JSON, and nothing is half-stored."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.one_database

FIELDS = {
    "uuid": "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e10", "position": 1, "side": "first",
    "input_method": "key",
}  # fmt: skip
PROGRAMS = ("answers", "device")


def clear(response) -> bool:
    """Whether a refusal is one that a person or a program can read."""
    if response.is_json:
        return set(response.json) == {"error"} and set(response.json["error"]) == {
            "code", "message",
        }  # fmt: skip
    return "<h1>" in response.text and "Traceback" not in response.text


@pytest.mark.parametrize("page", PROGRAMS)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"\xff\xfe\x00", b"null", b"1e999", b'{"position": 1}', b"x" * 4097,
     json.dumps(FIELDS | {"position": 99}).encode(), b"[" * 2000],
)  # fmt: skip
def test_a_body_that_is_none_stores_nothing(visitor, rows, page, body):
    before = rows()
    response = visitor.client.post(f"{visitor.home}{page}", data=body)
    assert 400 <= response.status_code < 500
    assert response.is_json and clear(response)
    assert rows() == before


@pytest.mark.parametrize(
    "token", ["x", "x.y", "..", "%00", "a" * 3000, "%F0%9F%98%80", "null.null"]
)
@pytest.mark.parametrize("page", ["", "answers", "device", "questionnaire"])
def test_a_wrong_token_stores_nothing(client, visitor, rows, token, page):
    before = rows()
    send = client.post if page else client.get
    response = send(f"/p/{token}/{page}", data=json.dumps(FIELDS))
    assert response.status_code in (401, 404, 405)
    assert clear(response)
    assert rows() == before


def test_a_questionnaire_that_is_too_long_is_a_clear_page(visitor, rows):
    visitor.answer_all()
    before = rows()
    response = visitor.questionnaire(native_language="x" * 300_000)
    assert response.status_code == 413 and clear(response)
    assert "too long" in response.text
    assert rows() == before


@pytest.mark.both_databases
def test_answers_out_of_order_are_stored_by_their_position(visitor):
    for position in (8, 3, 5):
        assert visitor.answer(position).status_code == 200
    assert visitor.session()["answered"] == [3, 5, 8]


@pytest.mark.both_databases
def test_a_failure_inside_shows_no_trace_and_stores_nothing(app, visitor, rows, monkeypatch):
    app.testing = False
    before = rows()

    def fail(*_: object) -> int:
        raise RuntimeError("secret detail")

    # A run's first answer is stored alone, later ones together with others'.
    for module in ("record", "record_batch"):
        monkeypatch.setattr(f"webapp.sessions.{module}.response_values", fail)
    response = visitor.answer(1)
    assert response.status_code == 500 and clear(response)
    assert "secret" not in response.text and rows() == before


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    page=st.sampled_from(PROGRAMS),
    body=st.binary(max_size=300)
    | st.dictionaries(
        st.sampled_from([*FIELDS, "rt_ms", "was_hidden", "viewport_width_px", "language"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    ).map(lambda fields: json.dumps(FIELDS | fields).encode()),
)
def test_whatever_the_body_the_reply_is_one_of_two_shapes(visitor, page, body):
    response = visitor.client.post(f"{visitor.home}{page}", data=body)
    assert response.status_code < 500 and response.is_json
    assert "saved" in response.json or clear(response)
