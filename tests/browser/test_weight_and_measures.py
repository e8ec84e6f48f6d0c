"""How little travels, and what is measured of each answer."""

import datetime
from pathlib import Path

from browser_steps import answer_by_key, choose, consent, expect_saved, minimal, start
from playwright.sync_api import Page, expect

MOST_REQUESTS, MOST_BYTES, ANSWER_BYTES = 3, 60_000, 1_000


class Traffic:
    """What a page asks the network for, by Chromium's own account."""

    def __init__(self, page: Page) -> None:
        self.requests: list[str] = []
        self.sent_bytes: list[int] = []
        self.received_bytes = 0
        cdp = page.context.new_cdp_session(page)
        cdp.send("Network.enable")
        cdp.on("Network.requestWillBeSent", self._sent)
        cdp.on("Network.loadingFinished", self._received)
        page.on("request", lambda request: self.sent_bytes.append(_size(request)))

    def _sent(self, event) -> None:
        if not event["request"]["url"].startswith("data:"):
            self.requests.append(event["request"]["url"])

    def _received(self, event) -> None:
        self.received_bytes += event["encodedDataLength"]


def _size(request) -> int:
    headers = sum(len(name) + len(value) + 4 for name, value in request.all_headers().items())
    return headers + len(request.post_data or "")


def test_the_first_trial_of_a_full_study_costs_three_requests(site, page, new_context):
    link = site.launch("marvin_linzen_2018")
    consent(page, link)
    fresh = new_context().new_page()
    traffic = Traffic(fresh)
    fresh.goto(page.url)
    start(fresh)
    expect(fresh.locator("#count")).to_have_text("1 of 76")
    assert len(traffic.requests) <= MOST_REQUESTS, traffic.requests
    assert traffic.received_bytes < MOST_BYTES
    assert {url.split("/")[2] for url in traffic.requests} == {site.origin.split("/")[2]}


def test_an_answer_costs_one_small_request(site, link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    page.wait_for_timeout(700)  # the device is told of once, after half a second of frames
    requests = []
    page.on("request", lambda request: requests.append(request))
    answer_by_key(page, 3)
    expect_saved(page)
    page.wait_for_timeout(100)
    assert [request.url.rpartition("/")[2] for request in requests] == ["answers"] * 3
    assert all(_size(request) < ANSWER_BYTES for request in requests)


def test_what_happened_during_a_trial_is_stored_with_its_answer(site, link, new_context):
    page = new_context(viewport={"width": 800, "height": 600}).new_page()
    consent(page, link)
    start(page)
    answer_by_key(page, 1)
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true});"
    change = "document.dispatchEvent(new Event('visibilitychange'));"

    def hide_and_choose() -> None:
        page.evaluate(hide % "true" + change + hide % "false" + change)
        page.keyboard.press("2")

    def blur_and_choose() -> None:
        page.evaluate("window.dispatchEvent(new Event('blur'))")
        page.keyboard.press("1")

    choose(page, hide_and_choose)
    choose(page, blur_and_choose)
    page.set_viewport_size({"width": 500, "height": 700})
    answer_by_key(page, 1)
    expect_saved(page)
    first, hidden, blurred, resized = site.stored(link)[0].responses
    assert [r.was_hidden for r in (first, hidden, blurred, resized)] == [False, True, False, False]
    assert [r.lost_focus for r in (first, hidden, blurred, resized)] == [False, False, True, False]
    assert (first.viewport_width_px, first.viewport_height_px) == (800, 600)
    assert (resized.viewport_width_px, resized.viewport_height_px) == (500, 700)
    now = datetime.datetime.now(datetime.UTC)
    for response in (first, hidden, blurred, resized):
        assert 0 < response.rt_ms < 60_000
        assert abs(now - response.client_time).total_seconds() < 60


def test_the_device_is_told_of_once(site, link, new_context):
    page = new_context(locale="it-IT", timezone_id="Asia/Tokyo").new_page()
    told = []
    page.on("request", lambda request: told.append(request.url.endswith("/device")))
    consent(page, link)
    start(page)
    with page.expect_response("**/device"):
        answer_by_key(page, 1)
    page.reload()
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    page.wait_for_timeout(700)
    [device] = site.stored(link)[0].devices
    assert (device.user_agent_family, device.language) == ("Chrome", "it-IT")
    assert device.time_zone_offset_min == 9 * 60
    assert 10 < device.refresh_rate_hz < 500
    assert sum(told) == 1


def test_a_press_within_the_lock_out_counts_for_nothing(site, page, tmp_path: Path):
    # Long enough for a press to come within it on a busy machine, too.
    consent(page, site.launch(minimal(tmp_path, trial="lockout_ms = 1500")))
    start(page)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("1 of 8")
    page.wait_for_timeout(1600)
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("2 of 8")
