"""A signed way in that is used again, here or elsewhere, makes no second person."""

import hashlib

import pytest
from sqlalchemy import select

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study, load_study
from tests.webapp.conftest import Visitor, start_run
from webapp.database.engine import reading
from webapp.database.models import Participant
from webapp.recruiters.panel.recruiter import PanelRecruiter, PanelSettings
from webapp.services import EXTENSION

pytestmark = pytest.mark.one_database
PANEL = """
[panel]
person = ["who"]
address = "https://panel.example/end?who={who}&status={code}"
secrets = { key = "panel_key" }
codes = { completed = "1", security = "9" }
[panel.parameters.who]
[panel.signature]
parameter = "sig"
algorithm = "SHA256"
signed = "SIGNED"
"""


@pytest.fixture(params=["{who}{key}", "{path}{key}"])
def entry(request, app, sessions):
    """Return a function that gives a person's signed link."""
    study = load_study("minimal")
    files = study_files(study)
    toml = files["study.toml"] + PANEL.replace("SIGNED", request.param).encode()
    run = start_run(sessions, frozen_study({**files, "study.toml": toml}, study.folder), "panel")
    settings = PanelSettings.model_validate({"secrets": {"panel_key": "k1"}})
    app.extensions[EXTENSION]._recruiters["panel"] = PanelRecruiter(settings)

    def link(who: str) -> str:
        address = f"/run/{run.ref}?who={who}"
        signed = who if request.param.startswith("{who}") else address
        return f"{address}&sig={hashlib.sha256(f'{signed}k1'.encode()).hexdigest()}"

    return link


@pytest.fixture
def people(sessions):
    def read() -> list[str | None]:
        with reading(sessions) as session:
            found = session.scalars(select(Participant).order_by(Participant.id))
            return [each.platform_id for each in found]

    return read


def test_a_signed_link_is_one_person_however_often_and_wherever_it_is_opened(app, entry, people):
    link, homes = entry("w1"), set()
    for _browser in range(3):
        client = app.test_client()
        for _time in range(2):
            assert client.get(link).status_code in (200, 302, 303)
            homes.add(client.post(link, data={"decision": "accept"}).location)
    assert people() == ["w1"]
    assert len(homes) == 1
    app.test_client().post(entry("w2"), data={"decision": "accept"})
    assert people() == ["w1", "w2"]


def test_the_link_of_one_person_with_the_id_of_another_makes_nobody(app, entry, people):
    client, link = app.test_client(), entry("w1")
    for forged in (
        link.replace("who=w1", "who=w2"),
        link.replace("who=w1", "who=W1"),
        link.replace("who=w1", "who=w2&who=w1"),
        link.partition("&sig=")[0],
    ):
        assert client.post(forged, data={"decision": "accept"}).status_code == 400
    assert people() == []


def test_who_was_through_and_comes_by_the_same_link_again_is_nobody_new(app, entry, people):
    client, link = app.test_client(), entry("w1")
    visitor = Visitor(client, client.post(link, data={"decision": "accept"}).location)
    visitor.answer_all()
    for _ in range(2):
        visitor.questionnaire(native_language="English")
    for browser in (client, app.test_client()):
        assert browser.post(link, data={"decision": "accept"}).status_code == 409
    assert people() == ["w1"]
