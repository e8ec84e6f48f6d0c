"""The contract that every recruiter keeps: those built in, and one of an installed package."""

import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from sqlalchemy import func, select

from experiment.errors import UnknownNameError
from experiment.panels.panel import Panel
from experiment.participation import Ending
from experiment.studies.files import study_files
from experiment.studies.load import load_study
from tests.test_installed_plugins import lay_package
from webapp.core.clock import utc_now
from webapp.core.logging import log_formatter
from webapp.core.settings import Settings
from webapp.database.engine import reading
from webapp.database.models import Hit, Participant
from webapp.errors import RunError, WebappError
from webapp.recruiters.arrivals import Acceptance, ArrivalError, Landing
from webapp.recruiters.base import PayingRecruiter, Recruiter
from webapp.recruiters.endings import Departure
from webapp.recruiters.registry import RECRUITERS, load_recruiter, open_platform, recruiter_class
from webapp.recruiters.settings import load_settings
from webapp.recruiters.simulated_crowd import Visitor
from webapp.runs.launch import launch_run

GUEST = """
from pydantic import BaseModel
from webapp.recruiters.arrivals import Arrival, checked_id
from webapp.recruiters.base import Recruiter
from webapp.recruiters.endings import Exit, ExitForm


class GuestSettings(BaseModel, extra="forbid"):
    site: str = "https://guest.example"


class Guest(Recruiter):
    name = "guest"
    settings_model = GuestSettings
    id_patterns = (r"\\bP\\d{8}\\b",)

    def sites(self, study):
        return (self.settings.site,)

    def arrival(self, landing):
        if landing.arguments.get("look"):
            return Arrival("", preview=True)
        return Arrival(checked_id(landing.arguments, "who", r"P\\d{8}"))

    def exit(self, departure):
        address = f"{self.settings.site}/back?who={departure.platform_id}&how={departure.ending}"
        return Exit("Thank you.", ExitForm.redirect(address), code="DONE")
"""
PANEL_TABLE = """
[panel]
preset = "prolific"
codes = { completed = "C1DONE" }
"""
STUDY = load_study("minimal")
STUDIES = {
    "panel": STUDY.model_copy(
        update={
            "panel": Panel.model_validate({"preset": "prolific", "codes": {"completed": "C1DONE"}}),
            "files": study_files(STUDY)
            | {"study.toml": study_files(STUDY)["study.toml"] + PANEL_TABLE.encode()},
        }
    )
}
NAMES = [*RECRUITERS.built_in, "guest"]
_MTURK = {
    "hitId": "HIT1", "workerId": "AWORKER", "turkSubmitTo": "http://127.0.0.1:8100",
}  # fmt: skip
_PROLIFIC = {
    "PROLIFIC_PID": "5f0c1e2d3b4a59687786a5b4", "STUDY_ID": "8f0c1e2d3b4a59687786a5b4",
    "SESSION_ID": "6f0c1e2d3b4a59687786a5b4",
}  # fmt: skip


@dataclass(frozen=True)
class Links:
    """The arguments with which a recruiter's links come: a look, a visit, the same person again."""

    preview: dict[str, str] | None
    visit: dict[str, str]
    again: dict[str, str]
    names_people: bool
    id: str = ""


LINKS = {
    "direct": Links({"preview": "1"}, {}, {}, names_people=False, id="5f0c1e2d3b4a59687786a5b4"),
    "simulator": Links(None, {}, {}, names_people=False),
    "mturk": Links(
        {**_MTURK, "workerId": "", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"},
        {**_MTURK, "assignmentId": "ASSIGNMENT1"},
        {**_MTURK, "assignmentId": "ASSIGNMENT2", "hitId": "HIT2"},
        names_people=True,
        id="A2SUAM2MT2KABC",
    ),
    "panel": Links(
        {"preview": "1"}, {"PROLIFIC_PID": "5f0c1e2d3b4a59687786a5b4"},
        {"PROLIFIC_PID": "5f0c1e2d3b4a59687786a5b4", "SESSION_ID": "6f0c1e2d3b4a59687786a5b4"},
        names_people=True, id="5f0c1e2d3b4a59687786a5b4",
    ),
    "prolific": Links(
        {"preview": "1"}, _PROLIFIC, {**_PROLIFIC, "SESSION_ID": "7f0c1e2d3b4a59687786a5b4"},
        names_people=True, id="5f0c1e2d3b4a59687786a5b4",
    ),
    "guest": Links(
        {"look": "1"}, {"who": "P12345678"}, {"who": "P12345678", "x": "y"},
        names_people=True, id="P12345678",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def package(tmp_path_factory) -> Iterator[None]:
    """Install a package that brings a recruiter."""
    folder: Path = tmp_path_factory.mktemp("site-packages")
    lay_package(folder, "guest_package", GUEST, {"parallax.recruiters": ("guest", "Guest")})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield
    sys.modules.pop("guest_package", None)


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


@pytest.fixture
def recruiter(name: str) -> Recruiter:
    return load_recruiter(name, Settings())


@pytest.fixture
def links(name: str) -> Links:
    return LINKS[name]


@pytest.fixture
def address(sessions, name: str) -> str:
    with sessions.begin() as session:
        study = STUDIES.get(name, STUDY)
        run = launch_run(session, study, 1, name, now=utc_now(), code_version="0")
        session.add_all(
            Hit(run_id=run.id, token=offer, purpose="recruitment", places=4, platform_id=offer)
            for offer in ("HIT1", "HIT2", _PROLIFIC["STUDY_ID"])
        )
    return f"/run/{run.ref}"


def landing(name: str, arguments: dict[str, str]) -> Landing:
    return Landing(
        arguments, STUDIES.get(name, STUDY), lambda: "https://study.example/run/abc", utc_now()
    )


def departure(name: str, ending: Ending, links: Links) -> Departure:
    accepted = Acceptance("ASSIGNMENT1", "HIT1", "http://127.0.0.1:8100")
    return Departure(
        ending, STUDIES.get(name, STUDY), "P12345678", accepted, links.visit, "receipt"
    )


@pytest.fixture
def people(sessions):
    """Return a function that counts the participants."""

    def count() -> int:
        with reading(sessions) as session:
            return session.scalar(select(func.count()).select_from(Participant)) or 0

    return count


def test_every_registered_recruiter_is_under_this_contract():
    assert set(RECRUITERS) == set(LINKS)


def test_a_recruiter_bears_the_name_it_is_registered_under(name):
    assert recruiter_class(name).name == name


def test_the_invitation_leads_to_the_run(recruiter):
    invitation = recruiter.invitation("https://study.example", "abc")
    assert invitation.startswith("https://study.example/run/abc")


@pytest.mark.one_database
@pytest.mark.parametrize("ending", Ending)
def test_every_ending_has_a_way_back_that_the_policy_lets_through(
    app, recruiter, name, links, ending
):
    with app.test_request_context():
        left = recruiter.exit(departure(name, ending, links))
    assert left.text.endswith((".", "!"))
    if left.form is not None:
        target = urlsplit(left.form.action)
        assert not target.query, "a browser drops the query of a form that is sent by GET"
        hosts = [urlsplit(site).netloc for site in recruiter.sites(STUDIES.get(name, STUDY))]
        assert any(target.netloc.endswith(host.removeprefix("*")) for host in hosts)


def test_only_the_simulator_is_simulated(recruiter, name):
    assert recruiter.simulated is (name == "simulator")


def test_an_unknown_recruiter_is_answered_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match='Did you mean "direct"'):
        load_recruiter("dirct", Settings())


def test_who_pays_nobody_has_no_platform(recruiter, name):
    if isinstance(recruiter, PayingRecruiter):
        return
    with pytest.raises(RunError, match="nor pays participants"):
        open_platform(name, Settings())


def test_its_settings_have_defaults_names_and_meanings(name, tmp_path):
    model = recruiter_class(name).settings_model
    assert load_settings(tmp_path, {}).recruiter_settings(name, model) == model()
    assert issubclass(model, BaseModel)
    assert model.model_config.get("extra") == "forbid", "a misspelt setting must be told"


def test_its_section_is_read(name, tmp_path):
    (tmp_path / "parallax.toml").write_text(f"[{name}]\n", encoding="utf-8")
    load_settings(tmp_path, {})


def test_the_log_hides_what_its_platform_calls_people(recruiter, links):
    if not links.id:
        assert not recruiter.id_patterns
        return
    line = log_formatter("json", StringIO()).format(
        logging.LogRecord("x", logging.INFO, "", 0, f"came {links.id} just now", None, None)
    )
    assert links.id not in line
    assert "just now" in line


def test_it_sends_simulated_participants(recruiter, name):
    if name == "panel":
        with pytest.raises(WebappError, match="need a stand-in of the panel to send them"):
            recruiter.visitor()
        return
    visitor: Visitor = recruiter.visitor()
    assert callable(visitor)


@pytest.mark.one_database
def test_a_look_leaves_no_row(client, address, links, people):
    if links.preview is None:
        return
    assert 'data-page="consent"' in client.get(address, query_string=links.preview).text
    accept = {"decision": "accept"}
    looked = client.post(address, query_string=links.preview, data=accept)
    assert (looked.status_code, people()) == (200, 0)


@pytest.mark.one_database
def test_who_is_named_by_the_platform_is_one_participant_however_often_they_come(
    client, address, links, people, visit
):
    accept = {"decision": "accept"}
    first = client.post(address, query_string=links.visit, data=accept).location
    visit(first).answer(1)
    # As a browser keeps it.
    shown = accept | {"session": first.strip("/").split("/")[-1]}
    again = client.post(address, query_string=links.again, data=shown).location
    assert people() == (1 if links.names_people else 2)
    assert (visit(again).session()["answered"] == [1]) is links.names_people


@pytest.mark.one_database
def test_work_is_handed_in_once_everything_is_stored_and_not_before(client, address, links, visit):
    sent_to = client.post(address, query_string=links.visit, data={"decision": "accept"})
    visitor = visit(sent_to.location)
    assert "data-submit-form" not in visitor.page().text
    visitor.answer_all()
    assert "data-submit-form" not in visitor.page().text
    visitor.questionnaire(native_language="English")
    closing = visitor.page().text
    assert 'data-page="closing"' in closing
    assert ("data-submit-form" in closing) is links.names_people
    assert "If you do nothing for five minutes" in closing or not links.names_people


_NAMES = ["assignmentId", "hitId", "workerId", "turkSubmitTo", "preview", "PROLIFIC_PID"]
_VALUES = st.one_of(
    st.text(max_size=80),
    st.sampled_from(["ASSIGNMENT_ID_NOT_AVAILABLE", "A1", "https://www.mturk.com.evil.example"]),
)


# A busy machine draws slowly, which says nothing about the recruiters.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(_NAMES), _VALUES))
def test_whatever_stands_in_a_link_is_read_or_refused_kindly(name, arguments):
    try:
        arrival = load_recruiter(name, Settings()).arrival(landing(name, arguments))
    except ArrivalError as error:
        assert error.status == 400
        return
    if arrival.acceptance is not None:
        assert arrival.acceptance.submit_to == "http://127.0.0.1:8100"
