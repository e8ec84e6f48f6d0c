"""Each preset sends each end that vendors tell apart to its own address, signed where it signs."""

import base64
import hashlib
import hmac
from urllib.parse import urlencode

import pytest

from experiment.panels.panel import Panel
from experiment.panels.table import PRESETS
from experiment.participation import Ending
from experiment.studies.load import load_study
from tests.experiment.panels.test_panel import OWN
from webapp.recruiters.endings import Departure
from webapp.recruiters.panel.recruiter import PanelRecruiter, PanelSettings

pytestmark = pytest.mark.one_database
SECRETS = {"credit_token": "9f86", "cint_key": "c1", "sample_ninja_key": "s1"}
RECRUITER = PanelRecruiter(PanelSettings.model_validate({"secrets": SECRETS}))
LINK = {"RID": "r1", "pid": "p1", "survey_code": "77"}
ENDS = (Ending.COMPLETED, Ending.SCREENED_OUT, Ending.FULL, Ending.FAILED_CHECK,
        Ending.DUPLICATE, Ending.SECURITY)  # fmt: skip


def cint(code: str) -> str:
    address = f"https://samplicio.us/s/ClientCallBack.aspx?RIS={code}&RID=r1"
    made = hmac.new(b"c1", f"{address}&".encode(), hashlib.sha1).digest()
    return f"{address}&hash={base64.urlsafe_b64encode(made).decode().rstrip('=')}"


def sample_ninja(code: str) -> str:
    path = f"/p/exit?id=p1&s={code}"
    return f"https://sampleninja.app{path}&hash={hashlib.sha256(f'{path}s1'.encode()).hexdigest()}"


CREDIT = "https://lab.sona-systems.com/webstudy_credit.aspx?experiment_id=123&credit_token=9f86&survey_code=77"
PARTS = {name: f"https://{name}.example/end" for name in ("screened", "failed")}
# What the researcher adds, and where each of the ends leads; nobody is sent anywhere else.
ADDED: dict[str, dict[str, object]] = {
    "besample": {"values": {"screened_out_address": PARTS["screened"]}},
    "connect": {"values": {"screened_out_address": PARTS["screened"],
                           "failed_check_address": PARTS["failed"]}},
    "prolific": {"codes": {"screened_out": "S1"}},
}  # fmt: skip
EXPECTED: dict[str, dict[Ending, str]] = {
    "besample": {Ending.COMPLETED: "https://besample.example/done?x=1",
                 Ending.SCREENED_OUT: PARTS["screened"]},
    "cint": dict(zip(ENDS, map(cint, ("10", "20", "40", "30", "30", "30")), strict=True)),
    "classroom": {},
    "connect": {Ending.COMPLETED: "https://connect.example/redirect/ABC",
                Ending.SCREENED_OUT: PARTS["screened"], Ending.FAILED_CHECK: PARTS["failed"]},
    "prolific": {Ending.COMPLETED: "https://app.prolific.com/submissions/complete?cc=C1DONE",
                 Ending.SCREENED_OUT: "https://app.prolific.com/submissions/complete?cc=S1"},
    "respondent": {Ending.COMPLETED: "https://app.respondent.io/complete?cc=0a1b"},
    "sample_ninja": dict(
        zip(ENDS, map(sample_ninja, ("c", "p", "q", "qua", "dup", "s")), strict=True)
    ),
    "sona": {},
    "sona_redirect": {Ending.COMPLETED: CREDIT},
    "testable": {},
    "toloka": {},
}  # fmt: skip


@pytest.fixture(autouse=True)
def request_context(app):
    with app.test_request_context():
        yield


@pytest.mark.parametrize("name", PRESETS)
def test_each_end_leads_to_its_own_address_and_to_no_other(name):
    own, added = OWN[name], ADDED.get(name, {})
    tables = {key: {**own.get(key, {}), **added.get(key, {})} for key in {*own, *added}}
    panel = Panel.model_validate({"preset": name, **tables})
    study = load_study("minimal").model_copy(update={"panel": panel})
    for end in ENDS:
        form = RECRUITER.exit(Departure(end, study, "p", None, LINK, "ref.proof")).form
        sent = None
        if form is not None:
            assert form.method == "get"
            sent = f"{form.action}?{urlencode(form.fields)}" if form.fields else form.action
        assert sent == EXPECTED[name].get(end), (name, end)


def test_a_table_that_misses_a_preset_is_seen():
    assert set(EXPECTED) == set(PRESETS)
