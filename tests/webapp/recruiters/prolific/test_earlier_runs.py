"""Whoever took part in an earlier run neither finds the next one on Prolific nor gets in."""

import pytest

from experiment.studies.load import load_study
from webapp.recruitment.publish import carry_out_plan, draft_plan
from webapp.runs.launch import launch_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def study_folder(study_folder):
    toml = (study_folder / "study.toml").read_text(encoding="utf-8")
    toml = toml.replace("[recruitment]\n", "[recruitment]\nexclude_earlier_runs = true\n")
    (study_folder / "study.toml").write_text(toml, encoding="utf-8")
    return study_folder


@pytest.fixture
def second(lab, study_folder, clock):
    """The same study, launched again."""
    with lab.sessions() as session:
        study = load_study(str(study_folder))
        run = launch_run(session, study, 2, "prolific", now=clock(), code_version="0")
        session.commit()
    return run


def test_prolific_hides_the_study_from_them_and_our_door_knows_them(lab, second, stand_in, shell):
    earlier, person = lab.publish(), stand_in.person()
    _, way = lab.arrive(person, earlier)
    lab.agree(way)
    now = lab.app.extensions["parallax"].now
    link = lab.link.replace(lab.run.ref, second.ref)
    plan = draft_plan(lab.sessions, lab.platform, second.ref, link, now())
    [(later, _)] = list(carry_out_plan(lab.sessions, lab.platform, plan, now))
    filters = lab.platform.study(later).filters
    assert {"filter_id": "previous_studies_blocklist", "selected_values": [earlier]} in filters
    assert person.try_to_take(later).status_code == 404
    # What the platform shows is what was posted.
    shown = shell("recruitment", "status", second.ref)
    assert shown.exit_code == 0, shown.output
    assert "was changed" not in shown.output
    _, to_second = lab.arrive(stand_in.person(), later)
    lab.agree(to_second)


def test_who_reaches_the_page_all_the_same_is_refused_at_the_door(
    lab, second, stand_in, monkeypatch
):
    earlier, person = lab.publish(), stand_in.person()
    _, way = lab.arrive(person, earlier)
    lab.agree(way)
    monkeypatch.setattr("webapp.recruitment.publish.find_earlier_offers", lambda *_: [])
    now = lab.app.extensions["parallax"].now
    link = lab.link.replace(lab.run.ref, second.ref)
    plan = draft_plan(lab.sessions, lab.platform, second.ref, link, now())
    [(later, _)] = list(carry_out_plan(lab.sessions, lab.platform, plan, now))
    _, to_second = lab.arrive(person, later)
    refused = lab.app.test_client().post(to_second, data={"decision": "accept"})
    assert refused.status_code == 409
    assert "return your submission" in refused.text
