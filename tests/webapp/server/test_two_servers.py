"""Servers on two machines over one database are one server to a participant."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import select

from experiment.studies.load import load_study
from tests.patience import PATIENCE_S
from webapp.core.clock import utc_now
from webapp.database.engine import make_sessions, open_database, reading
from webapp.database.models import Participant, Response
from webapp.runs.launch import launch_run
from webapp.server import server_control as server


@pytest.fixture
def url(postgres) -> Iterator[str]:
    with postgres.database() as url:
        yield url


@pytest.fixture
def machines(url, tmp_path) -> Iterator[list[httpx.Client]]:
    """Connections to two servers that share a database and the key for links, and nothing else."""
    key = tmp_path / "shared_key"
    key.write_text("k" * 64, encoding="utf-8")
    key.chmod(0o600)
    with ExitStack() as stack:
        clients = []
        for name in ("one", "two"):
            instance = tmp_path / name
            instance.mkdir()
            settings = {"database_url": url, "secret_key_file": str(key)}
            lines = [f"{setting} = {json.dumps(value)}\n" for setting, value in settings.items()]
            (instance / "parallax.toml").write_text("".join(lines), encoding="utf-8")
            started = server.start(instance, workers=1)
            stack.callback(server.stop, instance)
            client = httpx.Client(base_url=started.url, trust_env=False, timeout=PATIENCE_S)
            clients.append(stack.enter_context(client))
        yield clients


@pytest.fixture
def link(url) -> str:
    engine = open_database(url)
    with make_sessions(engine).begin() as session:
        study = load_study("minimal")
        run = launch_run(session, study, 1, "direct", now=utc_now(), code_version="0")
    engine.dispose()
    return f"/run/{run.ref}"


def test_a_participant_whose_requests_alternate_between_two_machines_finishes(machines, link, url):
    turn = cycle(machines)
    assert next(turn).get(link).status_code == 200
    home = next(turn).post(link, data={"decision": "accept"}).headers["location"]
    page = next(turn).get(home).text
    found = re.search(r'id="session">(.*?)</script>', page, re.DOTALL)
    assert found
    left = []
    for trial in json.loads(found[1])["trials"]:
        answer = {"uuid": str(uuid4()), "position": trial["position"], "side": "first"}
        sent = {**answer, "input_method": "key"}
        # The acknowledgement is lost on the way, and the other machine is asked again.
        next(turn).post(f"{home}answers", json=sent)
        left.append(next(turn).post(f"{home}answers", json=sent).json()["remaining"])
    assert left == list(range(len(left)))[::-1]
    form = {"native_language": "English"}
    assert next(turn).post(f"{home}questionnaire", data=form).status_code == 303
    assert 'data-page="closing"' in next(turn).get(home).text
    assert stored(url) == ("finished", len(left))


def stored(url: str) -> tuple[str, int]:
    engine = open_database(url)
    with reading(make_sessions(engine)) as session:
        state = session.scalars(select(Participant.state)).one()
        n_responses = len(session.scalars(select(Response.id)).all())
    engine.dispose()
    return state, n_responses
