"""The marketplace's worker site, with a study and with a survey of another site in its frame."""

import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from marketplace.mturk import create_marketplace
from marketplace.mturk.api import OPERATIONS
from marketplace.serving import serve_in_thread
from tests.browser.browser_steps import assert_good, expect_page

SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14"
    "/ExternalQuestion.xsd"
)


class Marketplace:
    """A marketplace at one site; what it shows in frames lies at the other."""

    def __init__(self, folder) -> None:
        self.ahead = timedelta()
        self.app = create_marketplace(folder, now=lambda: datetime.now(UTC) + self.ahead)
        self.url = ""

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        with self.app.extensions["marketplace"].moment() as (session, now):
            return OPERATIONS[operation](session, now, request)

    def hit(self, url: str, **changes: Any) -> str:
        address = f"<ExternalURL>{escape(url)}</ExternalURL><FrameHeight>0</FrameHeight>"
        facts = {
            "Title": "Which sentence is better?", "Description": "Choose one of two sentences.",
            "Reward": "1.20", "AssignmentDurationInSeconds": 1200, "LifetimeInSeconds": 86400,
            "Question": f'<ExternalQuestion xmlns="{SCHEMA}">{address}</ExternalQuestion>',
        }  # fmt: skip
        return self.call("CreateHIT", **{**facts, **changes})["HIT"]["HITId"]


@pytest.fixture
def marketplace(tmp_path) -> Iterator[Marketplace]:
    marketplace = Marketplace(tmp_path / "marketplace")
    with serve_in_thread(marketplace.app) as marketplace.url:
        yield marketplace
    marketplace.app.extensions["marketplace"].engine.dispose()


@pytest.fixture(scope="module")
def survey() -> Iterator[str]:
    """A survey at the other site: it sends its form to wherever the marketplace says."""

    @Request.application
    def page(request: Request) -> Response:
        assignment_id = escape(request.args["assignmentId"])
        preview = assignment_id == "ASSIGNMENT_ID_NOT_AVAILABLE"
        submit = escape(request.args["turkSubmitTo"]) + "/mturk/externalSubmit"
        return Response(
            "<!doctype html><html lang=en><title>Survey</title><main><h1>Survey</h1>"
            f'<form method=post action="{submit}">'
            f'<input type=hidden name=assignmentId value="{assignment_id}">'
            f"<label>Age <input name=age></label>"
            f"<button {'disabled' if preview else ''}>Send</button></form></main>",
            mimetype="text/html",
        )

    server = make_server("localhost", 0, page, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://localhost:{server.port}/survey?part=2"
    server.shutdown()
    thread.join()
    server.server_close()


def sign_in(page: Page, marketplace: Marketplace) -> None:
    page.goto(marketplace.url)
    page.get_by_label("Worker ID").fill("A1WORKER")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Find work")).to_be_visible()


def test_a_survey_is_previewed_accepted_submitted_and_paid(marketplace, survey, page):
    hit_id = marketplace.hit(survey)
    page.goto(marketplace.url)
    assert_good(page, "signing in")
    sign_in(page, marketplace)
    assert_good(page, "the listing")
    page.get_by_role("link", name="Which sentence is better?", exact=True).click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("button", name="Send")).to_be_disabled()
    assert_good(page, "the preview")
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("timer")).to_contain_text("00:19:")
    assert_good(page, "an accepted HIT")
    frame.get_by_label("Age").fill("33")
    frame.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Your work is submitted. Thank you!")).to_be_visible()
    assert page.locator("iframe").count() == 0
    [work] = marketplace.call("ListAssignmentsForHIT", HITId=hit_id)["Assignments"]
    assert "<QuestionIdentifier>age</QuestionIdentifier><FreeText>33" in work["Answer"]
    marketplace.call("ApproveAssignment", AssignmentId=work["AssignmentId"])
    page.get_by_role("link", name="My work").click()
    expect(page.get_by_text("Earned so far: $1.20")).to_be_visible()
    assert_good(page, "one's own work")


def test_a_study_is_shown_in_the_frame_without_its_cookies(marketplace, link, forgetful_page):
    page = forgetful_page
    marketplace.hit(link)
    sign_in(page, marketplace)
    page.get_by_role("button", name=re.compile("Accept and work")).click()
    frame = page.locator("iframe").element_handle().content_frame()
    frame.locator("button[value=accept]").click()
    expect_page(frame, "working")
    frame.evaluate("document.cookie = 'probe=1'")
    assert frame.evaluate("document.cookie") == ""
    assert [cookie["name"] for cookie in page.context.cookies()] == ["marketplace"]
    page.get_by_role("button", name="Return").click()
    expect(page.get_by_role("heading", name="Find work")).to_be_visible()


def test_the_frame_cannot_lead_the_worker_away(marketplace, survey, page):
    marketplace.hit(survey)
    sign_in(page, marketplace)
    page.get_by_role("link", name="Which sentence is better?", exact=True).click()
    expect(page.frame_locator("iframe").get_by_role("button", name="Send")).to_be_visible()
    # By itself Chromium lets a frame do so once somebody pressed something in it.
    page.frames[1].locator("body").click()
    with pytest.raises(Exception, match="permission to navigate"):
        page.frames[1].evaluate("window.top.location = 'about:blank'; 1")
    assert page.url.startswith(marketplace.url)


def test_the_page_says_when_the_time_is_over(marketplace, survey, page):
    marketplace.hit(survey, AutoApprovalDelayInSeconds=0)
    sign_in(page, marketplace)
    page.get_by_role("button", name=re.compile("Accept and work")).click()
    expect(page.get_by_role("timer")).to_be_visible()
    marketplace.ahead = timedelta(seconds=1198)
    page.reload()
    expect(page.get_by_text("Its time was over before it was submitted.")).to_be_visible()


def test_everything_is_done_with_the_keyboard_on_a_phone(marketplace, survey, new_context):
    marketplace.hit(survey)
    page = new_context(viewport={"width": 360, "height": 640}, has_touch=True).new_page()
    page.goto(marketplace.url)
    page.get_by_label("Worker ID").focus()
    page.keyboard.type("A1WORKER")
    page.keyboard.press("Enter")
    accept = page.get_by_role("button", name=re.compile("Accept and work"))
    accept.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("timer")).to_be_visible()
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    for path in ("/projects", "/work", "/qualifications", "/"):
        page.goto(marketplace.url + path)
        assert not page.evaluate(wide), path
