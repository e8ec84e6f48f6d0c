"""An arrival's pages, and an end's, on their short way, and what does not go it.

Nobody can tell the two apart.
"""

import gzip
import json
import logging
import re
from datetime import UTC, datetime

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from webapp.database.models import Participant, Project, Run
from webapp.participant import plain_pages
from webapp.runs.links import make_links

# The app itself answers an address with something after it.
_LONG = "?long=way"
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
_OWN = re.compile(r'name="visit" value="\w+"|"trials": \[.*?\]')


@pytest.fixture
def long_way(app) -> list[str]:
    """The addresses for which Flask was asked."""
    asked: list[str] = []
    app.before_request_funcs.setdefault(None, []).insert(0, lambda: asked.append("asked"))
    return asked


@pytest.fixture
def home(client, run) -> str:
    """The address of somebody who has just agreed, where others came before."""
    for _ in range(2):
        client.get(f"/run/{run.ref}")
        address = client.post(f"/run/{run.ref}", data={"decision": "accept"}).location
        client.get(address + _LONG)
    return client.post(f"/run/{run.ref}", data={"decision": "accept"}).location


def heads(reply) -> set[tuple[str, str]]:
    own = {"X-Request-ID", "Content-Length"}
    return {(name, value) for name, value in reply.headers if name not in own}


@pytest.mark.one_database
@pytest.mark.parametrize("packed", [True, False])
def test_the_second_to_open_the_link_gets_the_same_page_without_flask(
    client, run, long_way, packed
):
    asks = {"Accept-Encoding": "gzip"} if packed else {}
    first = client.get(f"/run/{run.ref}", headers=asks)
    long_way.clear()
    second = client.get(f"/run/{run.ref}", headers=asks)
    assert (long_way, heads(first)) == ([], heads(second))
    texts = [
        (gzip.decompress(each.data) if packed else each.data).decode() for each in (first, second)
    ]
    assert texts[0] != texts[1], "each page has a mark of its own"
    assert len({_OWN.sub("", text) for text in texts}) == 1
    assert int(second.headers["Content-Length"]) == len(second.data)


@pytest.mark.one_database
@pytest.mark.parametrize("packed", [True, False])
def test_the_first_page_at_work_is_the_app_s_own_without_flask(client, home, long_way, packed):
    long_way.clear()
    short = client.get(home, headers={"Accept-Encoding": "gzip"} if packed else {})
    assert long_way == []
    long = client.get(home + _LONG, headers={"Accept-Encoding": "gzip"} if packed else {})
    texts = [
        (gzip.decompress(each.data) if packed else each.data).decode() for each in (short, long)
    ]
    sessions = [json.loads(re.search(r'id="session">(.*?)</script>', t)[1]) for t in texts]
    assert sessions[0] == sessions[1] and len(sessions[0]["trials"]) == 8
    assert len({_OWN.sub("", text) for text in texts}) == 1
    assert heads(short) == heads(long)


@pytest.mark.one_database
def test_both_ways_write_the_same_line(client, home, run, caplog):
    with caplog.at_level(logging.INFO, "parallax.requests"):
        for address in (home, home + _LONG, f"/run/{run.ref}", f"/run/{run.ref}{_LONG}"):
            client.get(address)
    said = [(each.method, each.endpoint, each.status) for each in caplog.records[-4:]]
    assert said == [("GET", "session.show", 200)] * 2 + [("GET", "consent.show", 200)] * 2


def close(session, run: Run) -> None:
    session.get_one(Run, run.id).closed_at = NOW


def give_out_links(session, run: Run) -> None:
    make_links(session, session.get_one(Run, run.id), "multi", [""], [None], NOW)


def limit_its_project(session, run: Run) -> None:
    most = {"most_runs": 0, "most_upload_mb": 0, "most_jobs": 0}
    project = Project(name="small", made_at=NOW, most_participants=1, **most)
    session.add(project)
    session.flush()
    session.get_one(Run, run.id).project_id = project.id


@pytest.mark.parametrize(
    ("change", "status"), [(close, 409), (give_out_links, 403), (limit_its_project, 200)]
)
def test_a_run_that_changed_is_looked_at_in_full(client, run, sessions, long_way, change, status):
    client.get(f"/run/{run.ref}")
    long_way.clear()
    with sessions.begin() as session:
        change(session, run)
    assert client.get(f"/run/{run.ref}").status_code == status
    assert long_way == ["asked"]


def test_a_run_whose_places_are_taken_is_looked_at_in_full(client, run, sessions, long_way):
    client.get(f"/run/{run.ref}")
    while client.post(f"/run/{run.ref}", data={"decision": "accept"}).status_code == 303:
        pass
    long_way.clear()
    assert client.get(f"/run/{run.ref}").status_code == 409
    assert long_way == ["asked"]


@pytest.mark.one_database
def test_who_has_answered_is_welcomed_back(client, home, long_way):
    body = {"uuid": "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e44", "position": 2, "side": "first",
            "input_method": "key"}  # fmt: skip
    assert client.post(f"{home}answers", json=body).status_code == 200
    long_way.clear()
    assert "Welcome back" in client.get(home).text
    assert long_way == ["asked"]


def test_who_was_silent_too_long_is_looked_at_in_full(client, home, long_way, clock):
    clock.go_on(hours=3)
    long_way.clear()
    assert client.get(home).status_code == 200
    assert long_way == ["asked"]


@pytest.mark.one_database
def test_who_described_their_device_before_is_asked_nothing_again(client, home, long_way):
    client.post(f"{home}device", json={"user_agent_family": "Firefox"})
    long_way.clear()
    text = client.get(home).text
    assert '"device_known": true' in text and long_way == ["asked"]


GIVEN = {"native_language": "English"}


def answer_all(client, home: str) -> None:
    for position in range(1, 9):
        body = {"uuid": f"7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e{position:02}", "position": position,
                "side": "first", "input_method": "key"}  # fmt: skip
        assert client.post(f"{home}answers", json=body).status_code == 200


@pytest.fixture
def at_the_end(client, run, home) -> str:
    """The address of somebody who has answered all trials, where others ended before."""
    first = client.post(f"/run/{run.ref}", data={"decision": "accept"}).location
    for address in (first, home):
        answer_all(client, address)
    client.get(first)
    client.post(f"{first}questionnaire", data=GIVEN)
    client.get(first)
    return home


@pytest.mark.one_database
@pytest.mark.parametrize("packed", [True, False])
def test_the_last_pages_are_the_app_s_own_without_flask(client, at_the_end, long_way, packed):
    asks = {"Accept-Encoding": "gzip"} if packed else {}

    def the_same_both_ways() -> str:
        long_way.clear()
        short = client.get(at_the_end, headers=asks)
        assert long_way == []
        long = client.get(at_the_end + _LONG, headers=asks)
        texts = [
            (gzip.decompress(each.data) if packed else each.data).decode() for each in (short, long)
        ]
        assert texts[0] == texts[1] and heads(short) == heads(long)
        return texts[0]

    assert "native_language" in the_same_both_ways()
    client.post(f"{at_the_end}questionnaire", data=GIVEN)
    assert "own-code" in the_same_both_ways()


@pytest.mark.one_database
def test_each_sees_the_own_code(client, run, at_the_end, sessions):
    client.post(f"{at_the_end}questionnaire", data=GIVEN)
    text = client.get(at_the_end).text
    with sessions() as session:
        codes = {each.ref: each.code for each in session.query(Participant)}
    own = codes.pop(at_the_end.removeprefix("/p/").partition(".")[0])
    assert text.count(own) == 2 and not any(code in text for code in codes.values())


@pytest.mark.one_database
def test_who_is_asked_the_last_questions_too_late_is_looked_at_in_full(
    client, at_the_end, long_way, clock
):
    clock.go_on(hours=3)
    long_way.clear()
    assert client.get(at_the_end).status_code == 200
    assert long_way == ["asked"]


@pytest.mark.one_database
def test_a_page_with_mistakes_is_nobody_else_s(client, run, home, long_way):
    answer_all(client, home)
    assert client.post(f"{home}questionnaire", data={}).status_code == 422
    long_way.clear()
    assert 'role="alert" tabindex' not in client.get(home).text
    assert long_way == ["asked"]


@pytest.mark.one_database
@pytest.mark.parametrize(("patience_s", "asked"), [(-1.0, 1), (3.0, 5)])
def test_a_database_that_was_waited_for_is_not_waited_for_again(
    app, client, run, monkeypatch, patience_s, asked
):
    client.get(f"/run/{run.ref}")
    engine, tries = app.extensions["parallax"].engine, []

    def fail(*_: object) -> None:
        tries.append(1)
        raise OperationalError("connect", None, Exception("timeout expired"))

    monkeypatch.setattr(plain_pages, "PATIENCE_S", patience_s)
    monkeypatch.setattr("webapp.database.retry.is_transient", lambda _: True)
    monkeypatch.setattr("webapp.database.retry._PAUSES_S", (0.0,) * 3)
    event.listen(engine, "checkout", fail)
    try:
        assert client.get(f"/run/{run.ref}").status_code == 503
    finally:
        event.remove(engine, "checkout", fail)
    assert len(tries) == asked
