"""Every route can be answered by a process that has a single connection."""

import re
from uuid import uuid4

import pytest
from flask import Flask, request, request_finished
from sqlalchemy import Engine, text
from sqlalchemy.pool import QueuePool

from tests.webapp.connections import one_for_each_request
from webapp.core.addresses import RESEARCHER_PATH
from webapp.database import engine as engine_module
from webapp.participant.assets import assets_of
from webapp.runs.runs import close_run
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.sign_in import make_form_token
from webapp.users.users import add_user


class PoolOfOne(QueuePool):
    """A pool of one connection: whoever takes a second one at a time is refused at once."""

    most = 1

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **{**options, "pool_size": 1, "timeout": 0})


@pytest.fixture(autouse=True)
def _pool_of_one(monkeypatch):
    monkeypatch.setattr(engine_module, "CountedPool", PoolOfOne)


@pytest.fixture
def answered(app: Flask):
    """The endpoints that were reached, and the statuses with which they answered."""
    found = set[tuple[str | None, int]]()

    def note(_app: Flask, response) -> None:
        found.add((request.endpoint, response.status_code))

    with request_finished.connected_to(note, app):
        yield found


def test_every_route_is_answered_with_one_connection(
    app, client, run, start, sessions, clock, answered
):
    address, own = f"/run/{run.ref}", assets_of(app)
    for page in ("/healthz", own.address("page.js"), own.address("parallax.css"), address):
        with client.get(page) as response:
            assert response.status_code == 200
    assert client.get(own.address("nothing.js")).status_code == 404
    assert client.get(f"{address}/compensation").status_code == 200
    assert client.post(f"{address}?preview=1", data={"decision": "accept"}).status_code == 200
    declined = client.post(address, data={"decision": "decline"})
    assert client.get(declined.location).status_code == 200

    visitor = start(run)
    assert client.post(f"{visitor.home}device", json={"language": "en"}).status_code in (200, 400)
    again = str(uuid4())
    # Stored together with others' answers, known already, another one, and refused.
    assert [visitor.answer(1, uuid=again).status_code for _ in range(2)] == [200, 200]
    assert (visitor.answer(1).status_code, visitor.answer(99).status_code) == (200, 404)
    clock.go_on(hours=5)
    assert visitor.page().status_code == 200
    for position in range(2, 9):
        assert visitor.answer(position).status_code == 200
    assert visitor.page().status_code == 200
    assert visitor.questionnaire().status_code == 422
    assert visitor.questionnaire(native_language="English").status_code == 303
    assert visitor.page().status_code == 200

    with sessions.begin() as session:
        close_run(session, session.merge(run), clock())
    assert client.get(address).status_code == 409
    assert client.get("/run/nothing").status_code == 404
    assert client.get("/p/nobody/").status_code == 401
    for role in (None, Role.OWNER):
        _ask_for_the_rest(app, client, run, role, {endpoint for endpoint, _ in answered})
    assert {endpoint for endpoint, _ in answered if endpoint} == {
        rule.endpoint for rule in app.url_map.iter_rules()
    }
    assert not [reply for reply in answered if reply[1] >= 500]


def _ask_for_the_rest(app: Flask, client, run, role: Role | None, reached: set[str | None]) -> None:
    """Ask for every route that was not reached yet, and as a researcher for all of theirs."""
    form = _signed_in(app, client, role) if role else {}
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: ".leave" in rule.endpoint):
        if rule.endpoint in reached and not (role and rule.rule.startswith(RESEARCHER_PATH)):
            continue
        path = rule.rule.replace("<ref>", run.ref).replace("<path:filename>", "researcher.css")
        path = re.sub(r"<any\((\w+)[^>]*>", r"\1", path)
        path = re.sub("<[^>]*>", "nothing", path)
        method = "POST" if "POST" in (rule.methods or ()) else "GET"
        client.open(
            path, method=method, data=form, buffered=rule.endpoint != "live.stream_live_part"
        ).close()


def _signed_in(app: Flask, client, role: Role) -> dict[str, str]:
    services, password = app.extensions["parallax"], "correct horse battery"
    with services.sessions.begin() as session:
        hashed = hash_password(password)
        add_user(session, "anna", role, hashed, by="a test", now=services.now())
    form = {"name": "anna", "password": password}
    cookie = client.post(f"{RESEARCHER_PATH}/sign-in", data=form).headers["Set-Cookie"]
    return {"form_token": make_form_token(re.split("[=;]", cookie)[1])}


@pytest.mark.one_database
def test_a_request_that_takes_two_connections_is_noticed(app: Flask):
    engine: Engine = engine_module.create_engine("sqlite://", poolclass=QueuePool)
    with (
        pytest.raises(AssertionError, match="healthz"),
        one_for_each_request(engine),
        app.test_request_context("/healthz"),
        engine.connect() as first,
        engine.connect() as second,
    ):
        assert [each.execute(text("SELECT 1")).scalar_one() for each in (first, second)] == [1, 1]
