"""Other hosts, other sites' forms, and redirects that name no host."""

import re
from io import BytesIO

import pytest
from sqlalchemy import func, select
from werkzeug.exceptions import RequestEntityTooLarge

from webapp import create_app
from webapp.database.models import Participant
from webapp.http.request_guards import LARGEST_FORM_BYTES, _CleanRequest

ACCEPT = {"decision": "accept"}


@pytest.fixture
def public(instance):
    instance.mkdir(exist_ok=True)
    (instance / "parallax.toml").write_text(
        'public_url = "https://lab.example"\nallowed_hosts = "second.example"\n'
    )
    app = create_app(instance)
    yield app.test_client()
    app.extensions["parallax"].engine.dispose()


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("lab.example", 200),
        ("second.example", 200),
        ("127.0.0.1:8000", 200),
        ("elsewhere.example", 400),
        ("lab.example.elsewhere.example", 400),
        ("a" * 64 + ".example", 400),
    ],
)
def test_only_its_own_hosts_are_answered_to(public, host, status):
    assert public.get("/healthz", headers={"Host": host}).status_code == status


@pytest.mark.one_database
@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}]
)
def test_another_site_takes_no_place(client, run, session, headers):
    for _ in range(10):
        refused = client.post(f"/run/{run.ref}", data=ACCEPT, headers=headers)
        assert refused.status_code == 403
    assert session.scalar(select(func.count()).select_from(Participant)) == 0


@pytest.mark.one_database
@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "null"}, {"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-origin"}],
)
def test_our_own_pages_and_programs_are_let_in(client, run, headers):
    assert client.post(f"/run/{run.ref}", data=ACCEPT, headers=headers).status_code == 303


@pytest.mark.one_database
def test_no_redirect_names_a_host(client, run):
    token = client.post(f"/run/{run.ref}", data=ACCEPT).location
    assert token.startswith("/p/")
    assert client.get(token.rstrip("/")).location == token
    asked = client.get("/researcher/", headers={"Host": "elsewhere.example"})
    assert asked.location.startswith("/researcher/sign-in")


@pytest.mark.one_database
@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}]
)
def test_no_address_of_the_server_takes_what_another_site_sends(app, client, headers):
    taking = [rule for rule in app.url_map.iter_rules() if rule.methods & {"POST", "PUT", "PATCH"}]
    assert len(taking) > 20
    for rule in taking:
        path = re.sub(r"<[^>]+>", "x", rule.rule)
        refused = client.post(path, headers=headers)
        assert refused.status_code == 403, rule
        assert "from another site" in refused.text


def _read_form(body: bytes, kind: str = "application/x-www-form-urlencoded"):
    environ = {
        "REQUEST_METHOD": "POST", "CONTENT_TYPE": kind, "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
    }  # fmt: skip
    return _CleanRequest(environ).form


def test_a_form_is_decoded_in_bounded_time_or_refused():
    long = b"a=" + b"%C3%A9" * 40_000
    assert _read_form(long)["a"] == "\u00e9" * 40_000
    assert len(_read_form(b"&".join(b"a%d=1" % n for n in range(5_000)))) == 5_000
    for body in (b"a&" * 5_000, b"a" * (LARGEST_FORM_BYTES + 1)):
        with pytest.raises(RequestEntityTooLarge):
            _read_form(body)
    parts = b"".join(b'--X\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n' for _ in "12")
    assert _read_form(parts + b"--X--", "multipart/form-data; boundary=X").getlist("a") == [*"bb"]


@pytest.mark.one_database
def test_a_form_of_too_many_fields_is_refused_in_a_sentence(client, run):
    refused = client.post(
        f"/run/{run.ref}", data=b"a&" * 9_000, content_type="application/x-www-form-urlencoded"
    )
    assert refused.status_code == 413
    assert "What was sent is too long" in refused.text
