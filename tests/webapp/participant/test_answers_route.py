import pytest
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Response


def stored(sessions) -> list[Response]:
    with reading(sessions) as session:
        return list(session.scalars(select(Response)))


def test_an_answer_is_acknowledged_with_what_remains(visitor, sessions):
    response = visitor.answer(1)
    assert (response.status_code, response.json) == (200, {"saved": 1, "remaining": 7})
    assert len(stored(sessions)) == 1


def test_a_resend_gets_the_same_acknowledgement(visitor, sessions):
    uuid = "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e10"
    replies = [visitor.answer(2, uuid=uuid) for _ in range(3)]
    assert [reply.json for reply in replies] == [{"saved": 2, "remaining": 7}] * 3
    assert len(stored(sessions)) == 1


def test_a_different_answer_later_is_acknowledged_and_the_first_stands(visitor, sessions):
    visitor.answer(1, "first")
    assert visitor.answer(1, "second").json == {"saved": 1, "remaining": 7}
    assert [response.chosen_side for response in stored(sessions)] == ["first"]


def test_the_body_is_read_whatever_the_browser_calls_it(visitor):
    body = (
        b'{"uuid": "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e10", "position": 1,'
        b' "side": "first", "input_method": "touch"}'
    )
    response = visitor.client.post(f"{visitor.home}answers", data=body, content_type="text/plain")
    assert response.json == {"saved": 1, "remaining": 7}


def error_of(response) -> tuple[int, str]:
    assert set(response.json) == {"error"}
    assert set(response.json["error"]) == {"code", "message"}
    assert response.json["error"]["message"]
    return response.status_code, response.json["error"]["code"]


def test_every_refusal_has_one_shape(visitor, client, sessions):
    address = f"{visitor.home}answers"
    assert error_of(client.post(address, data=b"{")) == (400, "malformed_answer")
    assert error_of(client.post(address, data=b"x" * 12_289)) == (413, "request_entity_too_large")
    both = visitor.answer(1, rating=3).json["error"]["message"]
    assert "give either side or rating" in both and "Value error" not in both
    assert error_of(visitor.answer(9)) == (404, "unknown_position")
    visitor.home = "/p/forged.token/"
    assert error_of(visitor.answer(1)) == (401, "bad_token")
    assert "This link is incomplete. Please open the link" in visitor.answer(1).text
    assert not stored(sessions)


def test_who_declined_cannot_answer(client, run, visitor):
    visitor.home = client.post(f"/run/{run.ref}", data={"decision": "decline"}).location
    assert error_of(visitor.answer(1)) == (409, "wrong_state")
    assert "This session accepts no answers." in visitor.answer(1).text


def test_an_expired_address_takes_no_answers(visitor, clock):
    clock.go_on(days=31)
    assert error_of(visitor.answer(1)) == (401, "expired_token")
    said = visitor.answer(1).text
    assert "This link was valid for" in said and "days and has expired." in said


def test_a_failure_of_the_database_is_no_acknowledgement(visitor, app, sessions):
    app.testing = False
    with sessions() as session:
        session.connection().exec_driver_sql("DROP TABLE event")
        session.connection().exec_driver_sql("ALTER TABLE response RENAME TO gone")
        session.commit()
    assert error_of(visitor.answer(1)) == (500, "internal_server_error")


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_answers_are_only_sent_never_fetched(visitor, method):
    response = getattr(visitor.client, method)(f"{visitor.home}answers")
    assert response.status_code == 405
    assert "POST" in response.headers["Allow"]
