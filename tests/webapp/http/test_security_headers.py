import re
from pathlib import Path

import pytest

from webapp import create_app

# Where the platforms' pages are as long as no setting says otherwise.
pytestmark = pytest.mark.one_database
STAND_INS = ("http://127.0.0.1:8100", "http://localhost:8100", "http://127.0.0.1:8200")
TEMPLATES = Path(__file__).parents[3] / "webapp" / "templates"


@pytest.fixture
def responses(client, run, visitor):
    found = [
        client.get(f"/run/{run.ref}"),
        client.post(f"/run/{run.ref}", data={"decision": "decline"}),
        visitor.page(),
        visitor.answer(1),
        visitor.answer(99),
        client.get("/assets/000000000000/parallax.css"),
        client.get("/assets/000000000000/trials_page.js"),
        client.get("/healthz"),
        client.get("/nowhere"),
        client.get("/p/forged/"),
    ]
    visitor.answer_all()
    found += [visitor.page(), visitor.questionnaire(), visitor.questionnaire(native_language="x")]
    return [*found, visitor.page()]


def test_no_response_sets_a_cookie(responses):
    assert not [response for response in responses if "Set-Cookie" in response.headers]


def test_every_response_is_locked_to_its_own_site(responses, run, visitor):
    of_the_run = (f"/run/{run.ref}", visitor.home)
    for response in responses:
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "X-Frame-Options" not in response.headers
        if response.is_json:
            continue
        assert response.headers["Referrer-Policy"] == "no-referrer"
        policy = response.headers["Content-Security-Policy"]
        fetched, _, sent_or_framed = policy.partition("; form-action ")
        sent, _, framed = sent_or_framed.partition("; frame-ancestors ")
        said = fetched.split("; ")
        assert {"default-src 'none'", "connect-src 'self'", "base-uri 'none'"} <= {*said}
        assert "unsafe" not in fetched and "http" not in fetched
        assert sent == "'self'", "a direct run sends nobody anywhere"
        # Where no run is known, an error must be readable in the frame of any platform.
        direct = response.request.path.startswith(of_the_run)
        assert framed == ("'self'" if direct else f"'self' {' '.join(STAND_INS)}")


def test_no_page_is_kept_by_the_browser(responses):
    for response in responses:
        if response.request.method == "GET":
            assert response.headers["Cache-Control"] == "no-store"


def test_an_acknowledgement_is_short(visitor):
    # A browser's headers come to 590 bytes, an answer to 240: this leaves less than a kilobyte.
    response = visitor.answer(8)
    assert response.json == {"saved": 8, "remaining": 7}
    assert set(response.headers.keys()) == {
        "Content-Type",
        "Content-Length",
        "X-Content-Type-Options",
    }
    assert "X-Request-ID" in visitor.answer(99).headers


def test_no_page_asks_another_site_for_anything(responses):
    for response in responses:
        if response.mimetype == "text/html":
            page = re.sub("<script data-base.*?</script>", "", response.text, flags=re.DOTALL)
            assert "//" not in page.replace("<!doctype html>", "")


# Files that stand alone, which no server of ours sends: they bring their own style.
PRINTED = {"statement.html", "static_study.html"}
SENT = sorted(path for path in TEMPLATES.rglob("*.html") if path.name not in PRINTED)


@pytest.mark.parametrize("template", SENT, ids=lambda path: path.name)
def test_templates_hold_neither_styles_nor_programs(template: Path):
    text = template.read_text(encoding="utf-8")
    assert "style=" not in text and "<style" not in text and " on" + "click" not in text
    assert "|safe" not in text.replace(" ", "")


def test_the_server_tells_that_it_is_well(client):
    response = client.get("/healthz")
    assert (response.status_code, response.json) == (200, {"status": "ok"})


def test_an_unexpected_failure_is_a_kind_page_without_a_trace(app, client, run, sessions):
    app.testing = False
    with sessions() as session:
        session.connection().exec_driver_sql("DROP TABLE run_count")
        session.commit()
    response = client.get(f"/run/{run.ref}")
    assert response.status_code == 500
    assert "Your answers so far are safe" in response.text
    assert "no such table" not in response.text and "Traceback" not in response.text


def test_a_body_beyond_all_measure_is_refused(visitor):
    visitor.answer_all()
    response = visitor.questionnaire(native_language="x" * 300_000)
    assert response.status_code == 413
    assert "too long" in response.text


def test_participants_addresses_are_not_logged(visitor, caplog):
    caplog.set_level("DEBUG")
    visitor.answer(99)
    assert "unknown_position" in caplog.text
    assert visitor.home not in caplog.text


def test_no_page_may_use_the_camera_and_its_kind(responses):
    for response in responses:
        if not response.is_json:
            # Programs and styles are no pages: every visit fetches a dozen of them.
            is_page = response.mimetype == "text/html"
            assert ("camera=()" in response.headers.get("Permissions-Policy", "")) is is_page
            assert "Strict-Transport-Security" not in response.headers, "this address is not https"


def test_behind_a_public_address_no_stand_in_frames_and_http_is_never_asked_again(
    instance, run, sessions
):
    with (instance / "parallax.toml").open("a") as settings:
        settings.write('public_url = "https://study.example.org"\n')
    app = create_app(instance)
    public = app.test_client().get("/nowhere", base_url="https://study.example.org")
    app.extensions["parallax"].engine.dispose()
    policy = public.headers["Content-Security-Policy"]
    assert not any(site in policy for site in ("127.0.0.1", "localhost"))
    assert public.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_nobody_may_frame_the_researcher_s_room(client, app):
    for path in ("/researcher/", "/researcher/sign-in", "/researcher/nowhere", "/researcher"):
        policy = client.get(path).headers["Content-Security-Policy"]
        assert policy.endswith("; form-action 'self'; frame-ancestors 'none'"), path
