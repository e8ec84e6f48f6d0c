"""Every request of a session fails once, and nobody is stuck."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.browser_steps import (
    answer_by_key,
    consent,
    expect_page,
    let_frames_pass,
    questionnaire,
    start,
)


@pytest.fixture
def failing_once() -> Callable[[Route], None]:
    """What lets the first request to every address fail, and the next ones pass."""
    failed: set[str] = set()

    def handle(route: Route) -> None:
        request = route.request
        # A resend tells another wait than the first, and is the same answer.
        answer = re.search(r'"uuid":"[^"]*"', request.post_data or "")
        address = f"{request.method} {request.url} {answer[0] if answer else ''}"
        if address in failed:
            route.continue_()
            return
        failed.add(address)
        route.abort()

    handle.failed = failed
    return handle


def test_nobody_is_stuck_where_every_request_fails_the_first_time(site, link, page, failing_once):
    page.goto(link)
    expect_page(page, "consent")
    expect(page.locator("#trouble")).to_be_hidden()
    page.context.route("**/*", failing_once)
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    start(page)
    answer_by_key(page, 8)
    questionnaire(page)
    kinds = {
        address.split("?")[0].split(" ")[1].rpartition("/")[2] for address in failing_once.failed
    }
    assert {"answers", "device", "questionnaire"} <= kinds
    [stored] = site.stored(link)
    assert (stored.state, sorted(stored.positions)) == ("finished", list(range(1, 9)))
    assert stored.late_answers == 0


@pytest.mark.parametrize("part", ["page.js", "choice-choice.js", "parallax.css"])
def test_a_part_of_the_page_that_does_not_come_is_asked_for_again(link, page, part):
    # Once the first browser is known, the other one is asked whether it is the same person's.
    with page.expect_response("**/device"):
        consent(page, link)
    lost = []

    def lose(route: Route) -> None:
        lost.append(route.request.url)
        route.abort()

    fresh: Page = page.context.browser.new_context().new_page()
    fresh.route(f"**/{part}", lose, times=1)
    fresh.goto(page.url)
    start_anew(fresh)
    assert lost
    expect(fresh.locator("body")).to_have_css("font-family", re.compile("system-ui"))
    fresh.context.close()


def start_anew(page: Page) -> None:
    expect(page.locator("#go-on-here")).to_be_visible()
    page.locator("#go-on-here").click()
    start(page)


def test_while_the_program_does_not_come_the_page_says_why(link, page, new_context):
    with page.expect_response("**/device"):
        consent(page, link)
    fresh = new_context().new_page()
    fresh.route("**/page.js", lambda route: route.abort())
    fresh.goto(page.url)
    expect(fresh.locator("#trouble")).to_be_visible()
    expect(fresh.locator("#trouble")).to_contain_text("keeps trying")
    fresh.unroute_all()
    start_anew(fresh)
    expect(fresh.locator("#trouble")).to_be_hidden()


def test_a_press_before_the_program_has_arrived_counts_as_the_same_visitor(site, link, new_context):
    context = new_context()
    waiting: list[Route] = []
    context.route("**/page.js", lambda route: waiting.append(route))
    page = context.new_page()

    def let_the_program_arrive() -> None:
        while not waiting:
            let_frames_pass(page, 1)
        waiting.pop().continue_()

    def press_early(button: str) -> None:
        page.locator(button).click()
        let_the_program_arrive()

    page.goto(link, wait_until="commit")
    press_early("button[value=accept]")
    expect_page(page, "working")
    page.reload(wait_until="commit")
    expect(page.locator("#instructions [data-go-on]")).to_be_disabled()
    let_the_program_arrive()
    start(page)
    answer_by_key(page, 8)
    expect_page(page, "questionnaire")
    # The consent page is loaded anew, and its first mark is another one until the program is there.
    page.evaluate("history.go(-1)")
    expect_page(page, "consent")
    page.reload(wait_until="commit")
    press_early("button[value=accept]")
    expect_page(page, "questionnaire")
    page.reload(wait_until="commit")
    page.locator("textarea[name=native_language]").fill("English")
    press_early("button.primary")
    expect_page(page, "closing")
    [only] = site.stored(link)
    assert (only.state, only.questionnaire["native_language"]) == ("finished", "English")


@pytest.mark.parametrize(
    "reply", [{"status": 200, "body": "<h1>Hotel: log in</h1>"}, {"status": 503}, None]
)
def test_the_server_is_told_of_the_browser_until_it_knows(reply, site, link, page, new_context):
    failures = []

    def fail(route: Route) -> None:
        failures.append(route)
        route.fulfill(**reply) if reply else route.abort()

    page.context.route("**/device", fail, times=2)
    with page.expect_response(lambda one: one.url.endswith("/device") and "saved" in one.text()):
        consent(page, link)
    assert len(failures) == 2
    assert len(site.stored(link)[0].devices) == 1
    # No answer was given yet: another browser is known as one all the same.
    other = new_context().new_page()
    other.goto(page.url)
    expect(other.locator("#other-device")).to_be_visible()


def test_a_browser_whose_page_goes_before_the_reply_is_not_another_one(site, link, page):
    context = page.context
    context.route("**/device", lambda route: route.fetch(), times=1)
    with page.expect_request("**/device"):
        consent(page, link)
    while not site.stored(link)[0].devices:
        let_frames_pass(page, 5)
    home = page.url
    page.close()
    again = context.new_page()
    with again.expect_response("**/device"):
        again.goto(home)
        start(again)
    assert len(site.stored(link)[0].devices) == 1


def test_what_was_written_outlives_a_reload(link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 8)
    expect_page(page, "questionnaire")
    page.locator("textarea").fill("Breton")
    let_frames_pass(page, 2)
    page.reload()
    expect(page.locator("textarea")).to_have_value("Breton")
