"""People get what is stored of them by their code, and nobody else's."""

import json

import pytest
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Participant, Response
from webapp.privacy.own_data import _describe_answer

pytestmark = pytest.mark.one_database
HOSTILE = "<script>alert(1)</script>\x00 =1+1"


@pytest.fixture
def codes(start, run, sessions):
    first, second = start(run), start(run)
    first.answer_all()
    first.questionnaire(native_language=HOSTILE.replace("\x00", ""))
    second.answer(1)
    with reading(sessions) as session:
        people = session.scalars(select(Participant).order_by(Participant.id)).all()
    assert f'href="/run/{run.ref}/data"' in first.page().text
    return [person.code for person in people]


def test_all_of_ones_own_and_nothing_of_others_is_sent(codes, run, client):
    form = client.get(f"/run/{run.ref}/data")
    assert "Your own code" in form.text
    sent = client.post(f"/run/{run.ref}/data", data={"code": f" {codes[0].upper()} "})
    assert sent.headers["Content-Disposition"].startswith("attachment")
    data = json.loads(sent.data)
    assert data["answers"]["native_language"].startswith("<script>")
    assert all(trial["your_answer"]["chosen_side"] for trial in data["trials"])
    assert all(trial["on_the_screen"]["first"] for trial in data["trials"])
    assert data["consent"]["text"]
    assert data["you"]["code"] == codes[0]
    assert codes[1] not in sent.text
    assert "good_side" not in sent.text


def test_a_typed_answer_does_not_say_whether_it_was_expected():
    typed = Response(chosen_side="first", steps='{"details":{"text":"dog"}}')
    assert _describe_answer(typed) == {"steps": '{"details":{"text":"dog"}}'}
    assert _describe_answer(Response(chosen_side="first")) == {"chosen_side": "first"}


@pytest.mark.parametrize("code", ["", "x" * 5000, HOSTILE, "%", "' or 1=1 --"])
def test_a_code_that_nobody_has_gets_nothing(code, codes, run, client):
    refused = client.post(f"/run/{run.ref}/data", data={"code": code})
    assert refused.status_code == 404
    assert "We cannot find this code" in refused.text
