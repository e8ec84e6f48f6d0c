"""Links that a panel signs with a key of its own are checked by the set of keys it publishes."""

from datetime import timedelta
from functools import cache

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import Flask
from jwt.algorithms import RSAAlgorithm

from experiment.panels.panel import Panel
from experiment.studies.load import load_study
from marketplace.serving import serve_in_thread
from tests.experiment.panels.test_panel import OWN_PANEL
from webapp.core.clock import utc_now
from webapp.errors import RequestError
from webapp.recruiters.arrivals import Arrival, ArrivalError, Landing
from webapp.recruiters.panel import signature
from webapp.recruiters.panel.recruiter import PanelRecruiter, PanelSettings

pytestmark = pytest.mark.one_database
URL = "https://study.example/run/abc?who=w1"
OLD, NEW, OTHER = "old", "new", "other"


@cache
def key_of(name: str) -> rsa.RSAPrivateKey:
    """Make a key when it is first asked for: it takes a fifth of a second of the processor."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Panelist:
    """A panel that publishes its keys, and somebody whom it sends."""

    def __init__(self) -> None:
        self.published, self.asked, self.down = {OLD}, 0, False
        self.address = ""
        self.recruiter = PanelRecruiter(
            PanelSettings.model_validate({"secrets": {"panel_key": "k"}})
        )

    def keys(self):
        """Answer with the key set, as a JSON Web Key Set."""
        self.asked += 1
        public_keys = {
            name: RSAAlgorithm.to_jwk(key_of(name).public_key(), as_dict=True)
            for name in self.published
        }
        keys = [
            {**key, "kid": name, "alg": "RS256", "use": "sig"} for name, key in public_keys.items()
        ]
        return ("down", 500) if self.down else {"keys": keys}

    def come(self, token: str) -> Arrival:
        signed = {
            "parameter": "token", "algorithm": "RS256", "keys": self.address,
            "issuer": "https://panel.example", "audience": "{url}", "claims": {"who": "person.id"},
        }  # fmt: skip
        panel = Panel.model_validate({**OWN_PANEL, "signature": signed})
        study = load_study("minimal").model_copy(update={"panel": panel})
        arguments = {"who": "w1", "token": token}
        return self.recruiter.arrival(
            Landing(arguments, study, lambda: f"{URL}&token={token}", utc_now())
        )


def token(
    name: str = OLD, kid: str | None = OLD, algorithm: str = "RS256", **changes: object
) -> str:
    return signed(key_of(name), kid, algorithm, **changes)


def signed(key: object, kid: str | None, algorithm: str, **changes: object) -> str:
    claims = {
        "iss": "https://panel.example", "aud": URL, "person": {"id": "w1"},
        "exp": utc_now() + timedelta(minutes=2),
    }  # fmt: skip
    headers = None if kid is None else {"kid": kid}
    return jwt.encode({**claims, **changes}, key, algorithm=algorithm, headers=headers)


@pytest.fixture
def panel(app):
    panel, server = Panelist(), Flask("keys")
    server.add_url_rule("/keys", view_func=panel.keys)
    with serve_in_thread(server) as url, app.test_request_context():
        panel.address = f"{url}/keys"
        yield panel


def test_whom_the_panel_sent_gets_in_and_its_keys_are_asked_for_once(panel):
    for _ in range(3):
        assert panel.come(token()).platform_id == "w1"
    assert panel.asked == 1


def test_a_new_key_of_the_panel_is_asked_for_and_one_taken_back_opens_nothing(panel, monkeypatch):
    monkeypatch.setattr(signature, "_UNKNOWN_KEY_CACHE_S", 0)
    panel.come(token())
    panel.published = {NEW}
    assert panel.come(token(NEW, NEW)).platform_id == "w1"
    with pytest.raises(ArrivalError):
        panel.come(token())


@pytest.mark.parametrize(
    "forged",
    [
        lambda: token(OTHER),
        lambda: token(kid="nobody"),
        lambda: token(kid=None),
        lambda: signed("k" * 32, OLD, "HS256"),
        lambda: signed(None, OLD, "none"),
        lambda: token(exp=utc_now() - timedelta(minutes=2)),
        lambda: token(person={"id": "w2"}),
        lambda: token(aud="https://study.example/run/other?who=w1"),
    ],
)
def test_what_the_panels_key_did_not_sign_for_this_person_lets_nobody_in(panel, forged):
    with pytest.raises(ArrivalError, match="not valid, or is too old"):
        panel.come(forged())


def test_keys_that_cannot_be_had_are_no_fault_of_whoever_comes(panel):
    panel.down = True
    with pytest.raises(RequestError) as error:
        panel.come(token())
    assert error.value.status == 503
