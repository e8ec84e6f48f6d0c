"""Inside a platform's page: another site's frame, in which cookies and storage may be blocked."""

import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Frame, Page, expect
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from tests.browser.browser_steps import (
    answer_by_click,
    assert_good,
    expect_page,
    expect_saved,
    questionnaire,
    start,
)

WHY_NO_DATABASE = """() => new Promise(resolve => {
  const opening = indexedDB.open("probe");
  opening.onsuccess = () => resolve("");
  opening.onerror = () => resolve(String(opening.error));
})"""


@pytest.fixture
def browser(whole_browser: Browser) -> Browser:
    """One that lets another site's frame store nothing."""
    return whole_browser


@pytest.fixture(scope="module")
def platform() -> Iterator[str]:
    """A page of another site that shows whatever address its query names in a frame."""

    @Request.application
    def host(request: Request) -> Response:
        frame = f'<iframe src="{request.query_string.decode()}" width="900" height="700"></iframe>'
        return Response(f"<!doctype html><title>Platform</title>{frame}", mimetype="text/html")

    server = make_server("127.0.0.1", 0, host)
    origin = f"http://127.0.0.1:{server.port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield origin
    server.shutdown()
    thread.join()
    server.server_close()


def framed(page: Page, platform: str, link: str) -> Frame:
    page.goto(f"{platform}/?{link}")
    frame = page.frames[1]
    frame.locator("button[value=accept]").click()
    expect_page(frame, "working")
    return frame


def test_the_whole_study_where_the_browser_stores_nothing(site, link, page, platform):
    frame = framed(page, platform, link)
    frame.evaluate("document.cookie = 'probe=1'")
    assert frame.evaluate("document.cookie") == "", "third-party cookies are blocked"
    assert "denied" in frame.evaluate(WHY_NO_DATABASE), "and so is the browser's database"
    assert_good(frame, "the instructions in a frame")
    start(frame)
    assert_good(frame, "the trial in a frame")
    answer_by_click(frame, 3)
    page.context.set_offline(True)
    answer_by_click(frame, 3, "second")
    expect(frame.locator("#offline")).to_be_visible()
    page.context.set_offline(False)
    answer_by_click(frame, 2)
    questionnaire(frame)
    assert page.context.cookies() == []
    [stored] = site.stored(link)
    assert stored.positions == list(range(1, 9))
    assert (stored.state, stored.late_answers) == ("finished", 0)


def test_a_frame_that_is_loaded_again_asks_for_what_the_server_lacks(site, link, page, platform):
    frame = framed(page, platform, link)
    home = frame.url
    start(frame)
    answer_by_click(frame, 2)
    expect_saved(frame)
    page.route("**/answers", lambda route: route.abort())
    answer_by_click(frame, 3)
    expect(frame.locator("#offline")).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{platform}/?{home}")
    page.unroute_all()
    frame = page.frames[1]
    start(frame)
    # What the page handed to the browser when it went may have arrived, in whatever order.
    arrived = len(site.stored(link)[0].positions)
    assert 2 <= arrived <= 5
    while frame.locator("#trial").is_visible():
        answer_by_click(frame, 1)
    questionnaire(frame)
    assert sorted(site.stored(link)[0].positions) == list(range(1, 9))
