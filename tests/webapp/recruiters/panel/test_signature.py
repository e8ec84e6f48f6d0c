"""Who comes by a link that the panel did not sign is turned away."""

import base64
import hashlib
import hmac
from datetime import timedelta

import jwt
import pytest

from experiment.panels.panel import Panel
from experiment.studies.files import study_files
from experiment.studies.load import frozen_study, load_study
from tests.experiment.panels.test_panel import OWN_PANEL
from tests.webapp.conftest import start_run
from webapp.core.clock import utc_now
from webapp.recruiters.arrivals import Arrival, ArrivalError, Landing
from webapp.recruiters.panel.recruiter import PanelRecruiter, PanelSettings

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
    return RECRUITER.arrival(Landing(arguments, study, lambda: f"{URL}&token={token}", utc_now()))


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
    with pytest.raises(ArrivalError, match="not valid, or is too old") as error:
        come(TOKEN, who="w1", token=forged())
    assert error.value.code == "bad_signature"


def test_a_plain_signature_covers_what_the_study_says_it_covers():
    code = hmac.new(KEY.encode(), b"w1|p1", hashlib.sha256).hexdigest()
    assert come(PLAIN, who="w1", project="p1", sig=code.upper()).platform_id == "w1"
    for who, project, sig in [("w2", "p1", code), ("w1", "p2", code), ("w1", "p1", ""),
                              ("w1", "p1", "\u00e9")]:  # fmt: skip
        with pytest.raises(ArrivalError):
            come(PLAIN, who=who, project=project, sig=sig)


PATH = {"parameter": "sig", "algorithm": "SHA1", "signed": "{path}{key}"}
WHOLE = {
    "parameter": "sig", "algorithm": "HMAC-SHA256", "encoding": "base64url", "secret": "key",
    "signed": "{url}",
}  # fmt: skip


def follow(signature: dict[str, object], url: str, who: str = "w1") -> Arrival:
    panel = Panel.model_validate({**OWN_PANEL, "signature": signature})
    study = MINIMAL.model_copy(update={"panel": panel})
    sig = url.partition("sig=")[2].partition("&")[0]
    return RECRUITER.arrival(Landing({"who": who, "sig": sig}, study, lambda: url, utc_now()))


def test_a_whole_address_or_its_path_is_signed_as_it_was_opened():
    code = hmac.new(KEY.encode(), f"{URL}&x=a%20b".encode(), hashlib.sha256).digest()
    sig = base64.urlsafe_b64encode(code).decode().rstrip("=")
    assert follow(WHOLE, f"{URL}&x=a%20b&sig={sig}").platform_id == "w1"
    assert follow(WHOLE, f"{URL}&sig={sig}&x=a%20b").platform_id == "w1"
    path = hashlib.sha1(f"/run/abc?who=w1{KEY}".encode()).hexdigest()
    assert follow(PATH, f"{URL}&sig={path}").platform_id == "w1"
    for forged in (f"{URL}&x=a+b&sig={sig}", f"{URL}&sig={sig}", f"{URL}&x=a%20b&sig="):
        with pytest.raises(ArrivalError) as error:
            follow(WHOLE, forged)
        assert error.value.kept == {"who": "w1"}


def test_who_comes_by_a_forged_link_is_sent_back_by_the_end_for_security(app, sessions):
    panel = """
[panel]
person = ["who"]
address = "https://panel.example/end?who={who}&status={code}&m={mark}"
secrets = { key = "panel_key" }
codes = { completed = "1", security = "9" }
[panel.parameters.who]
[panel.signature]
parameter = "sig"
algorithm = "HMAC-SHA1"
secret = "key"
signed = "{url}"
[panel.signatures.mark]
algorithm = "HMAC-SHA256"
secret = "key"
signed = "{url}"
"""
    files = study_files(MINIMAL)
    toml = files["study.toml"] + panel.encode()
    run = start_run(sessions, frozen_study({**files, "study.toml": toml}, MINIMAL.folder), "panel")
    services = app.extensions["parallax"]
    services._recruiters["panel"] = RECRUITER
    opened = app.test_client().get(f"/run/{run.ref}?who=w1&sig=0000")
    assert opened.status_code == 400
    assert "not valid, or is too old" in opened.text
    mark = hmac.new(KEY.encode(), b"https://panel.example/end?who=w1&status=9", hashlib.sha256)
    assert f'value="{mark.hexdigest()}"' in opened.text
    address = f"http://localhost/run/{run.ref}?who=w1"
    good = hmac.new(KEY.encode(), address.encode(), hashlib.sha1).hexdigest()
    assert app.test_client().get(f"/run/{run.ref}?who=w1&sig={good}").status_code == 200
