"""For whom somebody else vouches, nobody looks at where they come from."""

import hashlib
import hmac

import pytest
from sqlalchemy import func, select

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from tests.webapp.conftest import start_run
from webapp.database.engine import reading
from webapp.database.models import ArrivalAddress, Participant
from webapp.runs.links import make_links

pytestmark = pytest.mark.one_database
KEY = "k" * 32
PANEL = """
[panel]
person = ["who"]
address = "{site}/back?who={participant}&code={code}"
parameters = { who = {} }
values = { site = "https://panel.example" }
secrets = { key = "panel_key" }
codes = { completed = "DONE", screened_out = "OUT" }
[panel.signature]
parameter = "sig"
algorithm = "HMAC-SHA256"
secret = "key"
signed = "{who}"
"""
ACCEPT = {"decision": "accept"}
FROM_ELSEWHERE = {"X-Forwarded-For": "203.0.113.5"}


@pytest.fixture
def instance(instance):
    with (instance / "parallax.toml").open("a") as settings:
        settings.write(f'[panel.secrets]\npanel_key = "{KEY}"\n')
    return instance


@pytest.fixture
def rows(sessions):
    def count() -> tuple[int, int]:
        with reading(sessions) as session:
            people = session.scalar(select(func.count(Participant.id)))
            return people, session.scalar(select(func.count(ArrivalAddress.participant_id)))

    return count


@pytest.mark.parametrize("kind", ["single", "code"])
def test_who_has_a_personal_link_or_code_is_not_counted(client, run, sessions, clock, rows, kind):
    with sessions.begin() as session:
        [link] = make_links(session, run, kind, ["Anna"], [None], clock())
        token = link.token
    assert (
        client.post(f"/run/{run.ref}?link={token}", data=ACCEPT, headers=FROM_ELSEWHERE).status_code
        == 303
    )
    assert rows() == (1, 0)


def test_whom_a_platform_signed_is_not_counted_and_others_are(client, sessions, study, rows):
    files = study_files(study)
    toml = files["study.toml"].decode() + PANEL
    signed = frozen_study({**files, "study.toml": toml.encode()}, study.folder)
    run, plain = start_run(sessions, signed, "panel"), start_run(sessions, study)
    code = hmac.new(KEY.encode(), b"w1", hashlib.sha256).hexdigest()
    way = f"/run/{run.ref}?who=w1&sig={code}"
    assert client.post(way, data=ACCEPT, headers=FROM_ELSEWHERE).status_code == 303
    assert rows() == (1, 0)
    assert client.post(f"/run/{plain.ref}", data=ACCEPT).status_code == 303
    assert rows() == (2, 0), "the machine itself"
    sent = client.post(f"/run/{plain.ref}", data=ACCEPT, headers=FROM_ELSEWHERE)
    assert sent.status_code == 303 and rows() == (3, 1)


def test_the_bare_address_of_a_run_with_links_asks_for_the_code(client, run, sessions, clock):
    with sessions.begin() as session:
        make_links(session, run, "single", ["Anna"], [None], clock())
    asked = client.get(f"/run/{run.ref}")
    assert asked.status_code == 403
    assert "This study is open to those who were given a link or an access code." in asked.text
