"""Who took part in an earlier run is not let in where the study excludes them, on any recruiter."""

import pytest
from sqlalchemy import func, select

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study, load_study
from tests.webapp.conftest import start_run
from webapp.database.engine import reading
from webapp.database.models import Participant

PERSON, OTHER = "5f0c1e2d3b4a59687786a5b4", "6f0c1e2d3b4a59687786a5b4"
PANEL = """
[panel]
person = ["PROLIFIC_PID"]
address = "https://panel.example/end?status={code}&id={PROLIFIC_PID}"
codes = { completed = "1", duplicate = "4" }
parameters = { PROLIFIC_PID = { pattern = "[0-9a-f]{24}" } }
"""


def excluding(*, exclude: bool = True, panel: bool = False):
    study = load_study("minimal")
    files = study_files(study)
    toml = files["study.toml"].decode()
    if exclude:
        toml = toml.replace("[recruitment]\n", "[recruitment]\nexclude_earlier_runs = true\n")
    toml += PANEL if panel else ""
    return frozen_study({**files, "study.toml": toml.encode()}, study.folder)


@pytest.fixture
def launched(sessions):
    return lambda study, recruiter="direct": start_run(sessions, study, recruiter)


@pytest.fixture
def come(app):
    """Return a function that opens a run's link, agrees, and gives the last answer."""

    def to(run, person: str = PERSON, decision: str = "accept"):
        link, browser = f"/run/{run.ref}?PROLIFIC_PID={person}", app.test_client()
        opened = browser.get(link)
        if opened.status_code != 200:
            return opened
        return browser.post(link, data={"decision": decision})

    return to


def people(sessions, run) -> int:
    counted = select(func.count(Participant.id)).where(Participant.run_id == run.id)
    with reading(sessions) as session:
        return session.execute(counted).scalar_one()


@pytest.mark.parametrize("recruiter", ["direct", "panel"])
def test_who_took_part_in_an_earlier_run_is_turned_away_and_others_are_not(
    launched, come, sessions, recruiter
):
    study = excluding(panel=recruiter == "panel")
    first, second = launched(study, recruiter), launched(study, recruiter)
    assert come(first).status_code == 303
    refused = come(second)
    assert refused.status_code == 409
    assert "you have taken part in this study before" in refused.text
    assert people(sessions, second) == 0
    assert come(second, OTHER).status_code == 303
    # The earlier run lets them go on, and whoever is in the later one goes on there.
    assert come(first).status_code == 303
    assert come(second, OTHER).status_code == 303


def test_the_panel_is_told_that_they_are_a_duplicate(launched, come):
    study = excluding(panel=True)
    first, second = launched(study, "panel"), launched(study, "panel")
    come(first)
    refused = come(second)
    assert 'action="https://panel.example/end"' in refused.text
    assert 'name="status" value="4"' in refused.text


def test_a_person_is_known_again_by_whatever_way_they_come(launched, come):
    first, second = launched(excluding(panel=True), "panel"), launched(excluding(), "direct")
    come(first)
    assert come(second).status_code == 409


def test_who_only_declined_saw_nothing_and_may_take_part(launched, come):
    first, second = launched(excluding()), launched(excluding())
    come(first, decision="decline")
    assert come(second).status_code == 303


def test_without_the_key_and_in_other_studies_everybody_is_let_in(launched, come, sessions):
    study = excluding()
    first, second = launched(study), launched(excluding(exclude=False))
    come(first)
    assert come(second).status_code == 303
    with sessions.begin() as session:
        third = session.merge(launched(excluding()))
        third.study = "another"
    assert come(third).status_code == 303


def test_a_page_that_was_open_before_does_not_let_them_in(launched, come, app, sessions):
    first, second = launched(excluding()), launched(excluding())
    link, browser = f"/run/{second.ref}?PROLIFIC_PID={PERSON}", app.test_client()
    assert browser.get(link).status_code == 200
    come(first)
    assert browser.post(link, data={"decision": "accept"}).status_code == 409
    assert people(sessions, second) == 0
