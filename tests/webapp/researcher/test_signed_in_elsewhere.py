"""Who comes is said by a provider of OpenID Connect, or by the web server in front."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pydantic import SecretStr

from tests.patience import PATIENCE_S
from tests.webapp.researcher.conftest import Researcher
from webapp.core.settings import Settings
from webapp.users.roles import Role
from webapp.users.users import add_user

pytestmark = pytest.mark.one_database
ANNA = "anna@example.org"
UNTRUSTED = "the provider&#39;s token cannot be trusted"
FAULTS = {
    **dict.fromkeys(("issuer", "audience", "old", "key", "unsigned"), UNTRUSTED),
    "nonce": "the provider&#39;s token belongs to another attempt",
    "unverified": "the provider has not verified the address of the account",
}


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """The address of a provider that answers, with the secret "shared"."""
    program = Path(__file__).with_name("oidc_provider.py")
    with subprocess.Popen(
        [sys.executable, str(program), "shared"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture
def set_up(app, monkeypatch):
    """Return a function that changes the installation's settings."""
    services = app.extensions["parallax"]

    def change(**settings: object) -> None:
        services._provider = None
        monkeypatch.setattr(services, "settings", services.settings.model_copy(update=settings))

    return change


@pytest.fixture
def provided(set_up, issuer) -> None:
    """The installation signs users in at the provider."""
    set_up(oidc_issuer=issuer, oidc_client_secret=SecretStr("shared"))


@pytest.fixture
def anna(sessions, clock) -> None:
    with sessions.begin() as session:
        add_user(session, ANNA, Role.RESEARCHER, "", by="a test", now=clock())


def go_there_and_back(here: Researcher, somebody: str, way_back: str = "") -> str:
    """Return the address, on our side, by which the provider sends the browser back."""
    sent = here.get(f"/sign-in/provider?next={way_back}")
    assert sent.status_code == 303, sent.text
    with httpx.Client(
        trust_env=False, timeout=PATIENCE_S, cookies={"somebody": somebody}
    ) as client:
        at_provider = client.get(sent.location)
    back = urlsplit(at_provider.headers["location"])
    return f"{back.path.removeprefix('/researcher')}?{back.query}"


def test_whom_the_provider_knows_comes_to_where_they_wanted(provided, anna, browser, run):
    here = browser()
    assert "Sign in at http://127.0.0.1" in here.get("/sign-in").text
    back = go_there_and_back(here, ANNA, f"/researcher/runs/{run.ref}")
    entered = here.get(back)
    assert entered.location == f"/researcher/runs/{run.ref}", entered.text
    shown = here.get(f"/runs/{run.ref}").text
    assert f'{ANNA} <span class="role">(researcher)</span>' in shown
    assert here.post("/sessions/end").status_code == 303
    assert here.get("/").location.startswith("/researcher/sign-in")


def test_no_letter_of_the_attempt_s_cookie_is_refused_by_a_browser(provided, browser):
    """Chromium drops a cookie with a control character, and then nobody could come back."""
    sent = browser().get("/sign-in/provider?next=/researcher/runs/x").headers["Set-Cookie"]
    assert re.fullmatch(r"parallax_attempt=[\w.-]+; .*", sent)


def test_what_is_asked_of_the_provider_gives_no_secret_away(provided, browser):
    here = browser()
    sent = here.get("/sign-in/provider")
    asked = parse_qs(urlsplit(sent.location).query)
    assert asked["code_challenge_method"] == ["S256"] and asked["response_type"] == ["code"]
    assert asked["redirect_uri"] == ["http://127.0.0.1:8000/researcher/sign-in/back"]
    cookie = sent.headers["Set-Cookie"]
    assert (
        "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/researcher/sign-in" in cookie
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_a_token_that_cannot_be_trusted_signs_nobody_in(fault, provided, browser, sessions, clock):
    name = f"{fault}+anna@example.org"
    with sessions.begin() as session:
        add_user(session, name, Role.OWNER, "", by="a test", now=clock())
    here = browser()
    refused = here.get(go_there_and_back(here, name))
    assert refused.status_code == 401
    assert f"You are not signed in: {FAULTS[fault]}. Please try once more." in refused.text
    assert here.get("/").status_code == 303


def test_an_account_without_the_claim_that_names_it_is_told_so(provided, set_up, browser):
    set_up(oidc_claim="nickname")
    here = browser()
    refused = here.get(go_there_and_back(here, ANNA))
    assert "the provider does not say the &#34;nickname&#34; of the account" in refused.text


def test_only_the_browser_that_began_can_end_it_and_once(provided, anna, browser, clock):
    here, other = browser(), browser()
    back = go_there_and_back(here, ANNA)
    assert other.get(back).status_code == 401
    assert here.get(back.replace("state=", "state=x")).status_code == 401
    assert here.get(back).status_code == 303
    # The cookie is gone, and the provider gives nothing twice.
    assert here.get(back).status_code == 401


def test_a_wrong_secret_signs_nobody_in(provided, set_up, anna, browser):
    set_up(oidc_client_secret=SecretStr("another"))
    here = browser()
    assert here.get(go_there_and_back(here, ANNA)).status_code == 401


def test_no_account_is_made_and_a_disabled_one_stays_out(provided, browser):
    here = browser()
    refused = here.get(go_there_and_back(here, "nobody@example.org"))
    assert refused.status_code == 403
    assert "parallax users add nobody@example.org" in refused.text


@pytest.mark.parametrize("at", ["http://127.0.0.1:9", "here"])
def test_a_provider_that_does_not_answer_as_one_is_said_to_be_away(at, set_up, issuer, browser):
    # The issuer must be the very text that the provider says.
    set_up(oidc_issuer=f"{issuer}/" if at == "here" else at)
    away = browser().get("/sign-in/provider")
    assert away.status_code == 503 and "sign in with a password" in away.text


def test_without_a_provider_there_is_no_such_page(browser):
    assert browser().get("/sign-in/provider").status_code == 404
    assert "Sign in at" not in browser().get("/sign-in").text


@pytest.mark.parametrize("issuer", ["http://provider.example", "ftp://provider.example"])
def test_a_provider_is_asked_on_a_secure_way_only(issuer):
    with pytest.raises(ValueError, match="oidc_issuer"):
        Settings(oidc_issuer=issuer)


def test_the_web_server_in_front_says_who_comes(set_up, anna, browser, run):
    set_up(sign_in_header="X-Forwarded-User")
    here = browser()
    here.client.environ_base["HTTP_X_FORWARDED_USER"] = ANNA
    assert f"Sign in as {ANNA}" in here.get("/sign-in").text
    entered = here.post("/sign-in/header", next=f"/researcher/runs/{run.ref}")
    assert entered.location == f"/researcher/runs/{run.ref}"
    assert f'{ANNA} <span class="role">(researcher)</span>' in here.get(f"/runs/{run.ref}").text


@pytest.mark.parametrize(
    ("header", "environ"),
    [
        ("", {"HTTP_X_FORWARDED_USER": ANNA}),
        ("X-Forwarded-User", {"HTTP_X_FORWARDED_USER": ANNA, "REMOTE_ADDR": "203.0.113.5"}),
        ("X-Forwarded-User", {}),
    ],
    ids=["no setting", "no web server of ours", "no header"],
)
def test_nobody_else_can_say_who_comes(header, environ, set_up, anna, browser):
    set_up(sign_in_header=header)
    here = browser()
    here.client.environ_base.update(environ)
    assert ANNA not in here.get("/sign-in").text
    assert here.client.post("/researcher/sign-in/header").status_code == 401


def test_another_site_cannot_sign_somebody_in(set_up, anna, browser):
    set_up(sign_in_header="X-Forwarded-User")
    here = browser()
    here.client.environ_base["HTTP_X_FORWARDED_USER"] = ANNA
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert here.client.post("/researcher/sign-in/header", headers=foreign).status_code == 403
