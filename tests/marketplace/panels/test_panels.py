"""The stand-ins of panels: links in their own shapes, codes taken once, credit and its faults."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from experiment.panels.table import PRESETS
from marketplace.panels import create_panels
from webapp.recruiters.panel.demonstration import find_listing


@pytest.fixture
def app() -> Flask:
    return create_panels(sleep=lambda _: None)


@pytest.fixture
def client(app) -> FlaskClient:
    return app.test_client()


def list_study(client: FlaskClient, platform: str, **more: object) -> None:
    link = "https://s.example/run/r?a={{%PROLIFIC_PID%}}&b=%SURVEY_CODE%&c=[%RID%]"
    listed = find_listing(platform).listed("7", link, **more)
    assert client.post("/control/studies", json=listed).status_code == 200


def send(client: FlaskClient, person: str = "p1"):
    return client.post("/people", data={"study": "7", "person": person})


def books(client: FlaskClient) -> list[dict]:
    return client.get("/control/books/7").json["people"]


@pytest.mark.parametrize("platform", PRESETS)
def test_every_panel_sends_a_person_by_a_link_of_their_own(client, platform):
    list_study(client, platform, access_codes=["aaaa", "bbbb"])
    first, other = send(client).location, send(client, "p2").location
    assert first != other
    assert books(client)[0]["id"] in first
    send(client)
    assert [person["visits"] for person in books(client)] == [2, 1]


def test_a_code_is_taken_for_what_it_stands_for_and_another_is_refused(client):
    list_study(client, "prolific", codes={"DONE": "completed", "OUT": "screened_out"})
    send(client)
    assert client.get("/submissions/complete?cc=NONE").status_code == 400
    assert client.get("/submissions/complete?cc=OUT").json == {"outcome": "screened_out"}
    client.get("/submissions/complete?cc=DONE")
    assert books(client)[0]["outcomes"] == ["screened_out", "completed"]
    assert books(client)[0]["granted"] == 0, "the first way back is the one that counts"


def test_a_code_of_ones_own_cannot_be_passed_on(client):
    list_study(client, "toloka")
    send(client)
    assert client.post("/code", data={"code": "proof"}).status_code == 200
    send(client, "p2")
    assert client.post("/code", data={"code": "proof"}).status_code == 400


def credit(client: FlaskClient, **changes: str):
    asked = {"experiment_id": "7", "credit_token": "t", "survey_code": books(client)[0]["id"]}
    return client.get("/services/SonaAPI.svc/WebstudyCredit", query_string=asked | changes)


def test_credit_is_granted_once_to_whom_sona_knows(client):
    list_study(client, "sona", credit_token="t")
    send(client)
    assert "Invalid experiment_id" in credit(client, credit_token="x").text
    assert "Invalid survey_code" in credit(client, survey_code="x").text
    assert "<a:credit_status>G<" in credit(client).text
    assert "already received credit" in credit(client).text
    assert (books(client)[0]["granted"], books(client)[0]["asked"]) == (1, 2)


@pytest.mark.parametrize(
    ("kind", "status", "granted"),
    [("throttled", 429, 0), ("server_error", 500, 0), ("server_error_after", 500, 1),
     ("truncated", 200, 1), ("slow", 200, 1)],
)  # fmt: skip
def test_faults_strike_before_or_after_the_deed(client, kind, status, granted):
    list_study(client, "sona", credit_token="t")
    send(client)
    client.post("/control/faults", json={"faults": [{"kind": kind, "count": 1}]})
    assert credit(client).status_code == status
    assert books(client)[0]["granted"] == granted


@pytest.mark.parametrize(("kind", "part"), [("unfilled", "%SURVEY_CODE%"), ("cut_off", "run/r?")])
def test_links_can_arrive_broken(client, kind, part):
    list_study(client, "sona")
    whole = send(client).location
    client.post("/control/faults", json={"faults": [{"kind": kind, "count": 1}]})
    broken = send(client).location
    assert part in broken
    assert broken != whole


def test_an_unknown_kind_of_id_or_study_is_told(client):
    reply = client.post("/control/studies", json={"key": "7", "person": "x", "link": "l"})
    assert (reply.status_code, "there is no kind of id" in reply.json["error"]) == (400, True)
    assert send(client).json == {"error": 'no study is listed as "7".'}
    assert client.get("/submissions/complete?cc=x").json == {
        "error": "nobody is signed in: start from /people."
    }
    list_study(client, "sona")
    granted = client.post("/control/grants", json={"key": "7", "id": "p9"})
    assert granted.json == {"error": 'nobody is called "p9" there.'}


def test_a_classroom_that_has_no_access_code_left_says_so(client):
    list_study(client, "classroom", access_codes=["aaaa"])
    assert send(client).status_code == 303
    assert send(client, "p2").json == {"error": "every access code was handed out."}
