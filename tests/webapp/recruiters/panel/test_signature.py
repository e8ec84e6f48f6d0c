"""Who comes by a link that the panel did not sign is turned away."""

import hashlib
import hmac
from datetime import timedelta

import jwt
import pytest

from experiment.panels.panel import Panel
from experiment.studies.load import load_study
from tests.experiment.panels.test_panel import OWN_PANEL
from webapp.core.clock import utc_now
from webapp.recruiters.arrivals import Arrival, ArrivalError, Landing
from webapp.recruiters.panel.recruiter import PanelRecruiter
from webapp.recruiters.panel.settings import PanelSettings

pytestmark = pytest.mark.one_database
KEY = "k" * 32
RECRUITER = PanelRecruiter(PanelSettings.model_validate({"secrets": {"panel_key": KEY}}))
MINIMAL = load_study("minimal")
TOKEN = {
    "parameter": "token", "algorithm": "HS256", "secret": "key", "issuer": "https://panel.example",
    "audience": "{url}", "claims": {"who": "person.id"},
}  # fmt: skip
PLAIN = {
    "parameter": "sig", "algorithm": "HMAC-SHA256", "secret": "key", "signed": "{who}|{project}",
}  # fmt: skip
URL = "https://study.example/run/abc?who=w1"


@pytest.fixture(autouse=True)
def request_context(app):
    with app.test_request_context():
        yield


def come(signature: dict[str, object], **arguments: str) -> Arrival:
    panel = Panel.model_validate({**OWN_PANEL, "signature": signature})
    study = MINIMAL.model_copy(update={"panel": panel})
    token = arguments.get("token", "")
    return RECRUITER.arrival(Landing(arguments, study, f"{URL}&token={token}", utc_now()))


def token(key: str = KEY, algorithm: str = "HS256", **changes: object) -> str:
    claims = {
        "iss": "https://panel.example", "aud": URL, "person": {"id": "w1"},
        "exp": utc_now() + timedelta(minutes=2),
    }  # fmt: skip
    return jwt.encode({**claims, **changes}, key, algorithm=algorithm)


def test_whom_the_panel_sent_gets_in():
    assert come(TOKEN, who="w1", token=token()).platform_id == "w1"


@pytest.mark.parametrize(
    "forged",
    [
        lambda: "",
        lambda: "x.y.z",
        lambda: token(key="another key of thirty-two letters"),
        lambda: jwt.encode({"person": {"id": "w1"}}, None, algorithm="none"),
        lambda: token(exp=utc_now() - timedelta(minutes=2)),
        lambda: token(iss="https://evil.example"),
        lambda: token(aud="https://study.example/run/other?who=w1"),
        lambda: token(person={"id": "w2"}),
        lambda: token(person="w1"),
    ],
)
def test_a_token_that_is_missing_forged_too_old_or_of_another_lets_nobody_in(forged):
    with pytest.raises(ArrivalError, match="not made by the platform") as error:
        come(TOKEN, who="w1", token=forged())
    assert error.value.code == "bad_signature"


def test_a_plain_signature_covers_what_the_study_says_it_covers():
    code = hmac.new(KEY.encode(), b"w1|p1", hashlib.sha256).hexdigest()
    assert come(PLAIN, who="w1", project="p1", sig=code.upper()).platform_id == "w1"
    for who, project, sig in [("w2", "p1", code), ("w1", "p2", code), ("w1", "p1", ""),
                              ("w1", "p1", "\u00e9")]:  # fmt: skip
        with pytest.raises(ArrivalError):
            come(PLAIN, who=who, project=project, sig=sig)
