"""A run's humanness block: scored, held against published rates, and hidden while it is blind."""

import json
import re
from pathlib import Path
from uuid import UUID

import pytest
from click.testing import CliRunner

from experiment.studies.load import load_study
from experiment.tables.observation_tables import HUMANNESS
from webapp.commands.integrity import integrity
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.privacy.own_data import collect_own_data
from webapp.runs.blinding import unblind_run
from webapp.runs.export_queries import list_export_tables, stream_rows
from webapp.runs.launch import launch_run
from webapp.runs.runs import find_named_run

STUDY = load_study(str(Path(__file__).parents[3] / "docs" / "humanness"))
pytestmark = pytest.mark.one_database
PICTURES = {"mueller_lyer", "ebbinghaus", "cafe_wall", "robot", "planets", "oranges"}


@pytest.fixture
def block_run(sessions, clock) -> Run:
    with sessions() as session:
        run = launch_run(session, STUDY, 1, "direct", now=clock(), code_version="0")
        session.commit()
        return run


@pytest.fixture
def answered(client, block_run) -> str:
    """Somebody who takes the first answer to each picture; return their reference's address."""
    home = client.post(f"/run/{block_run.ref}", data={"decision": "accept"}).location
    page = client.get(home).get_data(as_text=True)
    found = re.search(r'id="session">(.*?)</script>', page)
    assert found
    for trial in json.loads(found[1])["trials"]:
        if trial["task"] == "picture":
            uuid = str(UUID(int=trial["position"], version=4))
            body = {"uuid": uuid, "position": trial["position"], "side": "first"}
            sent = client.post(f"{home}answers", json={**body, "input_method": "key", "rt_ms": 900})
            assert sent.status_code == 200, sent.text
    return home


def test_answers_are_held_against_published_rates(answered, block_run, sessions):
    with reading(sessions) as session:
        run = find_named_run(session, block_run.ref)
        assert HUMANNESS in list_export_tables(session, run, STUDY)
        rows = list(stream_rows(session, run, HUMANNESS))
        person = session.query(Participant).one()
        told = collect_own_data(session, run, STUDY, person)["people_or_program_by_published_rates"]
    assert {row["item_id"] for row in rows} == PICTURES
    for row in rows:
        assert row["people_rate"] > row["programs_rate"]
        assert (row["nats"] > 0) == (not row["passed"])
    assert told["n_rated"] == 6 and told["n_failed"] == sum(not row["passed"] for row in rows)
    assert "doi:10.1093/jcr/ucag006" in told["source"] and told["decides_nothing_by_itself"]
    assert "answers" not in told, "which answer was expected is not told"


def test_the_command_tells_of_it_once_the_run_is_unblinded(
    answered, block_run, sessions, clock, instance
):
    def said() -> str:
        arguments = [block_run.ref, "--all", "--instance", str(instance)]
        return CliRunner().invoke(integrity, arguments, catch_exceptions=False).output

    assert "shown once the run is unblinded" in said() and "Published by" not in said()
    with sessions.begin() as session:
        run = find_named_run(session, block_run.ref)
        unblind_run(session, run, by="a test", reason="the test looks", now=clock())
    assert "Published by: Affonso" in said() and "it excludes nobody" in said()


def test_the_consent_page_says_that_such_tasks_are_there(client, block_run, run):
    sentence = "people and programs answer them differently"
    assert sentence in client.get(f"/run/{block_run.ref}").text
    assert sentence not in client.get(f"/run/{run.ref}").text
