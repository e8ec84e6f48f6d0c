"""Whoever records an answer keeps the same rules: those of ``answer_cases.py``, case by case."""

import json
import logging
from pathlib import Path
from uuid import uuid4

import pytest
from flask import Flask

from benchmarks.static_study import Person, larger_minimal, opened, run_command
from tests.webapp.conftest import Visitor
from tests.webapp.participant.answer_cases import ANSWER, CASES, UUID, Case
from webapp import create_app
from webapp.core.metrics import METRICS
from webapp.database.engine import make_engine, reading
from webapp.database.models import Response
from webapp.serverless.session_files import compute_checksum

pytestmark = pytest.mark.one_database
_OF_PAGES = ("Content-Security-Policy", "Permissions-Policy", "Referrer-Policy", "Set-Cookie")


def first_of_its_process(app: Flask) -> None:
    """Let the answer be stored alone: the process has not met the run."""
    app.extensions["parallax"]._types.clear()


def together(app: Flask) -> None:
    """Let the answer share a transaction with others."""
    assert app.extensions["parallax"]._types


@pytest.fixture
def public_app(instance: Path, clock) -> Flask:
    """An app at a public address that counts its requests."""
    instance.mkdir(exist_ok=True)
    with (instance / "parallax.toml").open("a", encoding="utf-8") as settings:
        settings.write('public_url = "https://study.example"\nmetrics_port = 9464\n')
    app = create_app(instance, now=clock)
    yield app
    app.extensions["parallax"].engine.dispose()


def stored(app: Flask) -> list[tuple[int, str]]:
    with reading(app.extensions["parallax"].sessions) as session:
        rows = session.query(Response.trial_id, Response.client_uuid).order_by(Response.trial_id)
        return [tuple(row) for row in rows]


def body_of(case: Case, first: str) -> bytes:
    if isinstance(case.body, bytes):
        return (case.body.replace(b"%b", json.dumps(ANSWER).encode())[:12_288]
                if b"%b" in case.body else case.body)  # fmt: skip
    return json.dumps(case.sent).replace("{first}", first).encode()


def position_of(case: Case) -> int:
    return case.sent["position"] if isinstance(case.body, dict) else 2


@pytest.mark.parametrize("way", [first_of_its_process, together])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_server_keeps_the_rules(case, way, public_app, run, clock, caplog):
    client = public_app.test_client()
    home = client.post(f"/run/{run.ref}", data={"decision": "accept"}).location
    first = str(uuid4())
    assert Visitor(client, home).answer(1, uuid=first).json == {"saved": 1, "remaining": 7}
    if case.ending:
        client.post(home + case.ending[0], data=case.ending[1])
    if case.late:
        clock.go_on(days=31)
    before, token = stored(public_app), home.split("/")[2]
    metrics = public_app.extensions[METRICS]
    counted = count_of(metrics, case.status)
    way(public_app)
    with caplog.at_level(logging.DEBUG):
        caplog.clear()
        reply = client.open(
            f"/p/{case.token.format(token)}/answers",
            method=case.method,
            data=None if case.method == "GET" else body_of(case, first),
            headers=case.headers,
            buffered=True,
        )
    assert reply.status_code == case.status, reply.text
    new = [UUID] if case.status == 200 and position_of(case) == 2 else []
    assert [row[1] for row in stored(public_app) if row not in before] == new
    assert_reply(case, reply)
    assert_logged(case, caplog, token)
    assert count_of(metrics, case.status) == counted + case.logged


def assert_reply(case: Case, reply) -> None:
    if case.status == 200:
        position = position_of(case)
        assert reply.json == {"saved": position, "remaining": 6 if position == 2 else 7}
    elif case.code:
        assert reply.json["error"]["code"] == case.code
        assert reply.json["error"]["message"]
    else:
        assert reply.mimetype in ("text/html", "text/plain")
        return
    # An acknowledgement names no request: nobody asks about it.
    assert ("X-Request-ID" in reply.headers) is (case.status != 200)
    assert reply.mimetype == "application/json"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert not [name for name in _OF_PAGES if name in reply.headers]


def assert_logged(case: Case, caplog, token: str) -> None:
    told = [record for record in caplog.records if record.name == "parallax.requests"]
    expected = [(case.method, case.status)] if case.logged else []
    assert [(line.method, line.status) for line in told] == expected
    if case.code or case.status == 200:
        assert told[0].endpoint == "answers.save"
    secret = token.partition(".")[2]
    assert secret not in "".join(str(vars(record)) for record in caplog.records)


def count_of(metrics, status: int) -> float:
    samples = [sample for family in metrics.registry.collect() for sample in family.samples]
    return sum(
        sample.value
        for sample in samples
        if sample.name == "parallax_requests_total" and sample.labels["status"] == str(status)
    )


IMPORTED = [case for case in CASES if case.imported is not None]


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> tuple[str, dict[str, list[tuple[int, str]]]]:
    """What the import says of each case in a session of its own, and what it stores of it."""
    root = tmp_path_factory.mktemp("imported")
    of = ("--instance", str(root / "instance"))
    study = larger_minimal(root, len(IMPORTED))
    options = ("--seed", "1", "--simulated", "--out", str(root / "site"))
    run_command("study", "static", str(study), *options, *of)
    (root / "kept").mkdir()
    for number, case in enumerate(IMPORTED, start=1):
        entries = opened(root / "site", Person(number, 2), number).entries
        first, second = [entry for entry in entries if entry["kind"] == "answer"]
        uuid = json.loads(first["body"])["uuid"]
        second["body"] = json.dumps(case.sent).replace("{first}", uuid)
        fields = ("folder", "session", "n", "kind", "at", "body")
        second["check"] = compute_checksum("\n".join(str(second[name]) for name in fields))
        (root / "kept" / f"{number}.json").write_text(json.dumps(entries))
    words = run_command("import", "sessions", str(root / "kept"), *of)
    engine = make_engine(f"sqlite:///{root}/instance/parallax.sqlite3")
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT participant.ref, trial.position, response.client_uuid FROM response"
            " JOIN trial ON trial.id = response.trial_id"
            " JOIN participant ON participant.id = trial.participant_id"
        ).all()
    engine.dispose()
    kept: dict[str, list[tuple[int, str]]] = {}
    for ref, position, uuid in rows:
        kept.setdefault(ref, []).append((position, uuid))
    return words, kept


@pytest.mark.parametrize("case", IMPORTED, ids=lambda case: case.name)
def test_a_study_without_a_server_keeps_the_rules_about_what_an_answer_is(case, told):
    words, kept = told
    name = Person(IMPORTED.index(case) + 1, None).name
    lines = [line for line in words.splitlines() if line.startswith(f"Session {name}: ")]
    if case.imported:
        [line] = lines
        assert case.imported in line
    else:
        assert lines == []
    new = [(2, UUID)] if case.imported == "" and case.sent["position"] == 2 else []
    assert [row for row in kept[name] if row[0] != 1] == new
    assert len([row for row in kept[name] if row[0] == 1]) == 1
