"""People of a panel: who they are, which links are theirs, and how they go back."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from experiment.panels.panel import Panel
from experiment.participation import Ending
from experiment.studies.load import load_study
from tests.experiment.panels.test_panel import OWN, OWN_PANEL
from webapp.core.clock import utc_now
from webapp.core.settings import Settings
from webapp.errors import RunError, WebappError
from webapp.recruiters import arrivals
from webapp.recruiters.arrivals import ArrivalError, Landing
from webapp.recruiters.endings import Departure
from webapp.recruiters.panel.recruiter import PanelRecruiter, PanelSettings
from webapp.recruiters.registry import load_recruiter
from webapp.recruiters.settings import load_settings
from webapp.sessions import link_visits

pytestmark = pytest.mark.one_database

STUDY = load_study("minimal")
PERSON = "5f0c1e2d3b4a59687786a5b4"
SECRETS = PanelSettings.model_validate({"secrets": {"credit_token": "9f86", "panel_key": "k1"}})
RECRUITER = PanelRecruiter(SECRETS)


def study_with(**panel: object):
    return STUDY.model_copy(update={"panel": Panel.model_validate(panel)})


def landing(study, **arguments: str) -> Landing:
    return Landing(arguments, study, lambda: "https://study.example/run/abc", utc_now())


def leave(study, ending: Ending = Ending.COMPLETED, person: str | None = PERSON, **parameters: str):
    return RECRUITER.exit(Departure(ending, study, person, None, parameters, "ref.proof"))


@pytest.fixture(autouse=True)
def request_context(app):
    with app.test_request_context():
        yield


def test_the_link_to_paste_holds_the_platforms_own_placeholders():
    study = study_with(preset="prolific", **OWN["prolific"])
    assert RECRUITER.posted_link("https://s.example", "abc", study) == (
        "https://s.example/run/abc?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
        "&SESSION_ID={{%SESSION_ID%}}"
    )
    assert "survey_code=%SURVEY_CODE%" in RECRUITER.posted_link(
        "https://s.example", "abc", study_with(preset="sona", **OWN["sona"])
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "missing_id"),
        ({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "unfilled_link"),
        ({"PROLIFIC_PID": "abc"}, "malformed_id"),
        ({"PROLIFIC_PID": PERSON, "STUDY_ID": "{{%STUDY_ID%}}"}, "unfilled_link"),
        ({"PROLIFIC_PID": PERSON, "STUDY_ID": "b" * 24}, "other_study"),
    ],
)
def test_a_link_that_the_platform_did_not_fill_in_or_made_for_another_study_is_told(
    arguments, code
):
    study = study_with(preset="prolific", **OWN["prolific"], values={"study_id": "a" * 24})
    with pytest.raises(ArrivalError) as error:
        RECRUITER.arrival(landing(study, **arguments))
    assert error.value.code == code


def test_the_person_and_everything_declared_is_kept_and_nothing_else():
    study = study_with(preset="prolific", **OWN["prolific"])
    arrival = RECRUITER.arrival(
        landing(study, PROLIFIC_PID=PERSON, STUDY_ID="a" * 24, tracking="x")
    )
    assert arrival.platform_id == PERSON
    assert arrival.parameters == {"PROLIFIC_PID": PERSON, "STUDY_ID": "a" * 24}


def test_no_value_is_accepted_that_could_not_be_kept_whole():
    study = study_with(**{**OWN_PANEL, "parameters": {"who": {"pattern": ".*"}}})
    with pytest.raises(ArrivalError, match="not complete"):
        RECRUITER.arrival(landing(study, who="x" * 201))
    assert arrivals.LONGEST_VALUE <= link_visits.LONGEST_PARAMETER


def test_a_strangers_value_is_matched_in_linear_time_whatever_the_pattern():
    study = study_with(**{**OWN_PANEL, "parameters": {"who": {"pattern": "(a+)+b"}}})
    RECRUITER.check(study)
    with pytest.raises(ArrivalError, match="not complete"):
        RECRUITER.arrival(landing(study, who="a" * 199 + "!"))
    assert RECRUITER.arrival(landing(study, who="aab")).parameters == {"who": "aab"}


def test_a_launched_run_goes_on_with_a_pattern_that_no_new_one_may_have():
    study = study_with(**{**OWN_PANEL, "parameters": {"who": {"pattern": r"(a+)+b(?=)"}}})
    assert RECRUITER.arrival(landing(study, who="aab")).parameters == {"who": "aab"}
    with pytest.raises(ArrivalError, match="not complete"):
        RECRUITER.arrival(landing(study, who="a" * 199 + "!"))
    with pytest.raises(RunError, match="looking ahead or behind") as refused:
        RECRUITER.check(study)
    assert "parameters.who.pattern" in refused.value.where


def test_who_finishes_goes_back_by_a_redirect_that_holds_the_endings_code():
    study = study_with(preset="prolific", codes={"completed": "C1", "screened_out": "S1"})
    left = leave(study)
    assert (left.form.action, dict(left.form.fields), left.form.method) == (
        "https://app.prolific.com/submissions/complete", {"cc": "C1"}, "get",
    )  # fmt: skip
    assert leave(study, Ending.SCREENED_OUT).code == "S1"
    full = leave(study, Ending.FULL)
    assert (full.form, full.code) == (None, "")
    assert "return the study on the platform" in full.text


def test_a_form_is_posted_to_the_panel():
    ending = {"address": "https://p.example/end", "method": "form", "fields": {"id": "{who}"}}
    form = leave(
        study_with(**OWN_PANEL, endings={"withdrawn": ending}), Ending.WITHDRAWN, who="w 1"
    ).form
    assert (form.method, form.action, form.fields) == (
        "post",
        "https://p.example/end",
        {"id": "w 1"},
    )


def test_sona_is_asked_by_the_server_and_its_token_never_reaches_the_page():
    left = leave(study_with(preset="sona", **OWN["sona"]), survey_code="77")
    assert left.form is None
    assert "9f86" not in left.text + left.code


def test_sonas_own_redirect_grants_the_credit_in_the_browser():
    form = leave(study_with(preset="sona_redirect", **OWN["sona_redirect"]), survey_code="77").form
    assert form.fields == {"experiment_id": "123", "credit_token": "9f86", "survey_code": "77"}


def test_tolokas_code_is_another_for_each_person_and_proves_who_finished():
    left = leave(study_with(preset="toloka"), worker_id="w1")
    assert left.code == "ref.proof"
    assert "copy the completion code" in left.text


def test_what_cannot_be_filled_in_for_a_person_is_left_out():
    left = leave(study_with(preset="sona_redirect", **OWN["sona_redirect"]))
    assert left.form is None
    assert left.text.endswith(".")


def test_a_study_that_names_a_secret_is_launched_where_the_secret_is():
    study = study_with(preset="sona", **OWN["sona"])
    RECRUITER.check(study)
    with pytest.raises(WebappError, match='no secret "credit_token"'):
        load_recruiter("panel", Settings()).check(study)
    with pytest.raises(WebappError, match="which panel its"):
        RECRUITER.check(STUDY)


def test_secrets_are_read_from_the_instance_and_from_the_environment_and_never_shown(tmp_path):
    (tmp_path / "parallax.toml").write_text('[panel.secrets]\ncredit_token = "s3cret"\n')
    kept = load_settings(tmp_path, {}).recruiter_settings("panel", PanelSettings)
    assert kept.secrets["credit_token"].get_secret_value() == "s3cret"
    given = load_settings(tmp_path, {"PARALLAX_PANEL_SECRETS": '{"credit_token": "other"}'})
    assert (
        given.recruiter_settings("panel", PanelSettings).secrets["credit_token"].get_secret_value()
        == "other"
    )
    assert "s3cret" not in f"{kept} {kept.secrets}"


@pytest.mark.parametrize("name", OWN)
def test_every_site_that_people_are_sent_to_is_let_through_and_none_is_theirs_to_choose(name):
    study = study_with(preset=name, **OWN[name])
    evil = dict.fromkeys(study.panel.parameters, "https://evil.example")
    sites = RECRUITER.sites(study)
    for ending in Ending:
        form = leave(study, ending, "https://evil.example", **evil).form
        if form is not None:
            parts = urlsplit(form.action)
            assert f"{parts.scheme}://{parts.netloc}" in sites
            assert parse_qsl(parts.query) == []
