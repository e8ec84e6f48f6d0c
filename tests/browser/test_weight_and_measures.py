"""How little travels, and what is measured of each answer."""

import datetime
from pathlib import Path

from playwright.sync_api import Page, expect
from sqlalchemy import select

from tests.browser.browser_steps import (
    answer_by_click,
    answer_by_key,
    choose,
    consent,
    expect_page,
    expect_saved,
    let_frames_pass,
    minimal,
    outlast_the_lockout,
    start,
)
from tests.patience import PATIENCE_S
from tests.webapp.once import unchecked
from webapp.database.engine import reading
from webapp.database.models import Event

# The page, its style and its program come once; from then on a page is one request.
FIRST_BYTES, NEXT_BYTES, ANSWER_BYTES = 41_900, 10_000, 1_080


class Traffic:
    """What a page asks the network for, by Chromium's own account."""

    def __init__(self, page: Page) -> None:
        self._sent_urls: dict[str, str] = {}
        self.sent_bytes: list[int] = []
        self.received_bytes = 0
        cdp = page.context.new_cdp_session(page)
        cdp.send("Network.enable")
        cdp.on("Network.requestWillBeSent", self._sent)
        cdp.on("Network.requestServedFromCache", self._from_cache)
        cdp.on("Network.loadingFinished", self._received)
        page.on("request", lambda request: self.sent_bytes.append(_size(request)))

    def _sent(self, event) -> None:
        if not event["request"]["url"].startswith("data:"):
            self._sent_urls[event["requestId"]] = event["request"]["url"]

    def _from_cache(self, event) -> None:
        self._sent_urls.pop(event["requestId"], None)

    @property
    def requests(self) -> list[str]:
        return list(self._sent_urls.values())

    def forget(self) -> None:
        self._sent_urls.clear()
        self.received_bytes = 0

    def _received(self, event) -> None:
        self.received_bytes += event["encodedDataLength"]


def _size(request) -> int:
    headers = sum(len(name) + len(value) + 4 for name, value in request.all_headers().items())
    return headers + len(request.post_data or "")


def test_whoever_has_read_the_consent_page_needs_one_page_more_for_the_first_trial(site, page):
    traffic = Traffic(page)
    with unchecked():
        link = site.launch("marvin_linzen_2018")
    page.goto(link)
    page.wait_for_load_state("networkidle")
    assert traffic.received_bytes < FIRST_BYTES
    assert {url.split("/")[2] for url in traffic.requests} == {site.origin.split("/")[2]}
    traffic.forget()
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    start(page)
    expect(page.locator("#count")).to_have_text("1 of 76")
    names = [url.split("/")[3] for url in traffic.requests]
    assert sorted(set(names)) in (["p"], ["p", "run"]), "the decision leads to the page"
    assert traffic.received_bytes < NEXT_BYTES
    page.reload()
    start(page)
    assert traffic.received_bytes < 2 * NEXT_BYTES, "what is known is not sent again"


def test_an_answer_costs_one_small_request(site, link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 2)
    let_frames_pass(page, 40)  # the device is told of once, after thirty frames
    expect_saved(page)
    requests = []
    page.on("request", lambda request: requests.append(request))
    answer_by_key(page, 3)
    expect_saved(page)
    send_a_last_request(page)
    *answers, _last = requests
    assert [request.url.rpartition("/")[2] for request in answers] == ["answers"] * 3
    assert all(_size(request) < ANSWER_BYTES for request in answers)


def send_a_last_request(page: Page) -> None:
    """Wait until whatever the page still had to send, after counting frames, is on its way."""
    let_frames_pass(page, 40)
    with page.expect_response("**/healthz"):
        page.evaluate("fetch('/healthz')")


# Nothing is painted while the page's own program works.
WORK = "ms => { for (const end = performance.now() + ms; performance.now() < end; ); }"


def test_what_happened_during_a_trial_is_stored_with_its_answer(site, link, new_context):
    page = new_context(viewport={"width": 800, "height": 600}).new_page()
    consent(page, link)
    start(page)
    answer_by_key(page, 1)
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true});"
    change = "document.dispatchEvent(new Event('visibilitychange'));"

    def hide_and_choose() -> None:
        page.evaluate(hide % "true" + change)
        page.evaluate(WORK, 80)
        page.evaluate(hide % "false" + change)
        page.keyboard.press("2")

    def blur_and_choose() -> None:
        page.evaluate("window.dispatchEvent(new Event('blur'))")
        let_frames_pass(page, 25)
        page.evaluate(WORK, 300)
        let_frames_pass(page, 2)
        page.keyboard.press("1")

    choose(page, hide_and_choose)
    choose(page, blur_and_choose)
    page.set_viewport_size({"width": 500, "height": 700})
    answer_by_key(page, 1)
    expect_saved(page)
    first, hidden, blurred, resized = site.stored(link)[0].responses
    assert [r.was_hidden for r in (first, hidden, blurred, resized)] == [False, True, False, False]
    assert [r.lost_focus for r in (first, hidden, blurred, resized)] == [False, False, True, False]
    assert hidden.hidden_ms >= 75 > first.hidden_ms == blurred.hidden_ms == 0
    assert blurred.frames_dropped >= 5
    assert {r.pixel_ratio for r in (first, hidden, blurred, resized)} == {1}
    assert first.round_trip_ms is None and 0 <= resized.round_trip_ms < 1000 * PATIENCE_S
    assert (first.viewport_width_px, first.viewport_height_px) == (800, 600)
    assert (resized.viewport_width_px, resized.viewport_height_px) == (500, 700)
    now = datetime.datetime.now(datetime.UTC)
    for response in (first, hidden, blurred, resized):
        assert 0 < response.rt_ms < 1000 * PATIENCE_S
        assert response.pointer_stopped_ms is None  # keys were pressed
        assert abs(now - response.client_time).total_seconds() < PATIENCE_S


def test_the_device_is_told_of_once(site, link, new_context):
    page = new_context(locale="it-IT", timezone_id="Asia/Tokyo").new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url.endswith("/device")))
    with page.expect_response("**/device"):
        consent(page, link)
    start(page)
    answer_by_key(page, 1)
    page.reload()
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    send_a_last_request(page)
    [device] = site.stored(link)[0].devices
    assert (device.user_agent_family, device.language) == ("Chrome", "it-IT")
    assert device.time_zone_offset_min == 9 * 60
    assert 10 < device.refresh_rate_hz < 500
    # A program drives this browser, which hides it from nobody.
    assert device.automated is True
    assert sum(requests) == 1


CHOOSE_AND_PRESS_AGAIN = """async () => {
  const press = () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "1" }));
  const frame = () => new Promise(requestAnimationFrame);
  const count = () => document.getElementById("count").textContent;
  press();
  const next = count();
  press();
  await frame();
  await frame();
  press();
  return [next, count()];
}"""


def test_a_press_within_the_lock_out_counts_for_nothing(site, page, tmp_path: Path):
    # Pressed inside the page, before the next trial is painted and in the frame after: from
    # outside, a busy machine could press too late.
    consent(page, site.launch(minimal(tmp_path, trial="lockout_ms = 1500")))
    start(page)
    outlast_the_lockout(page)
    assert page.evaluate(CHOOSE_AND_PRESS_AGAIN) == ["2 of 8", "2 of 8"]
    outlast_the_lockout(page)
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("3 of 8")


def test_a_double_click_answers_one_trial_and_is_kept_as_an_event(site, page, tmp_path: Path):
    # The lock-out alone refuses the second press; a long one, since a busy machine clicks slowly.
    link = site.launch(minimal(tmp_path, trial="lockout_ms = 1500"))
    consent(page, link)
    start(page)
    outlast_the_lockout(page)
    box = page.locator("[data-side=first]").bounding_box()
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    let_frames_pass(page, 3)
    page.mouse.move(*at)
    page.mouse.click(*at, click_count=2, delay=30)  # the next trial is painted in between
    let_frames_pass(page, 3)
    expect(page.locator("#count")).to_have_text("2 of 8")
    outlast_the_lockout(page)
    page.mouse.move(at[0] + 5, at[1])
    page.mouse.click(at[0] + 5, at[1])
    expect(page.locator("#count")).to_have_text("3 of 8")
    expect_saved(page)
    assert "premature_press" in events_of(site)
    first, second = site.stored(link)[0].responses
    for response in (first, second):
        assert response.trusted and response.input_method == "pointer"
        assert response.rt_ms <= response.release_ms
        assert 0 <= response.pointer_stopped_ms <= response.rt_ms
        # Chromium tells presentation times; a layout that it tells none of went unseen for long.
        assert response.onset_source == "presentation"


LOOK = """side => {
  for (const change of document.getAnimations()) change.finish();
  const { borderColor, borderStyle, boxShadow, backgroundColor, outlineStyle } =
    getComputedStyle(document.querySelector(`[data-side=${side}]`));
  return [borderColor, borderStyle, boxShadow, backgroundColor, outlineStyle].join();
}"""


def test_a_pointer_at_rest_never_looks_like_a_choice_of_the_next_trial(link, page):
    consent(page, link)
    start(page)
    page.mouse.move(2, 2)
    plain = page.evaluate(LOOK, "second")
    answer_by_click(page, 1)
    let_frames_pass(page, 3)
    assert page.evaluate(LOOK, "first") == page.evaluate(LOOK, "second") == plain
    box = page.locator("[data-side=first]").bounding_box()
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    let_frames_pass(page, 3)
    hovered = page.evaluate(LOOK, "first")
    page.evaluate("document.querySelector('[data-side=first]').classList.add('chosen')")
    chosen = page.evaluate(LOOK, "first")
    assert len({plain, hovered, chosen}) == 3
    assert page.evaluate(LOOK, "second") == plain


def test_a_key_that_is_held_down_answers_one_trial(site, link, page):
    consent(page, link)
    start(page)
    let_frames_pass(page, 3)
    page.keyboard.down("1")
    expect(page.locator("#count")).to_have_text("2 of 8")
    let_frames_pass(page, 3)
    page.keyboard.down("1")  # what the system repeats
    let_frames_pass(page, 3)
    page.keyboard.up("1")
    expect(page.locator("#count")).to_have_text("2 of 8")


def events_of(site) -> list[str]:
    with reading(site.sessions) as session:
        return list(session.scalars(select(Event.kind).order_by(Event.id)))


def test_a_trial_that_was_seen_before_a_reload_says_so(site, link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 1)
    expect_saved(page)
    for _ in range(2):
        let_frames_pass(page, 5)
        page.reload()
        start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    before, reloaded, after = site.stored(link)[0].responses
    assert [r.times_shown for r in (before, reloaded, after)] == [1, 3, 1]
    assert reloaded.seen_before_ms > 0 == before.seen_before_ms == after.seen_before_ms


def test_a_gap_shows_its_mark_and_takes_no_press(site, page, tmp_path: Path):
    trial = 'lockout_ms = 0\ngap_ms = 1234\nfixation = "+"'
    # The first gap ends when it is told to: a busy machine can be late for any other.
    page.add_init_script(
        "const wait = setTimeout; setTimeout = (end, ms, ...more) =>"
        " ms === 1234 && !window.endGap ? (window.endGap = end) && 0 : wait(end, ms, ...more);"
    )
    link = site.launch(minimal(tmp_path, trial=trial))
    consent(page, link)
    start(page)
    expect(page.locator(".fixation")).to_be_visible()
    expect(page.locator(".option").first).not_to_be_visible()
    # A browser takes the focus from what is hidden, so the group stays and its options go.
    expect(page.locator("[role=group]")).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("1 of 8")
    expect(page.locator(".option").first).not_to_be_visible()
    page.evaluate("endGap()")
    expect(page.locator(".option").first).to_be_visible()
    expect(page.locator("[role=group]")).to_be_focused()
    let_frames_pass(page, 3)
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("2 of 8")
    expect_saved(page)
    assert site.stored(link)[0].responses[0].rt_ms < 1000 * PATIENCE_S


def test_keys_can_be_changed_and_switched_off(link, page):
    consent(page, link)
    start(page)
    page.locator("details.keys summary").click()
    page.locator("#keys-text").fill("f j")
    expect(page.locator(".key").first).to_have_text("f")
    page.locator("#count").click()
    answer_by_key(page, 1, "j")
    page.keyboard.press("1")
    page.locator("#keys-on").uncheck()
    page.keyboard.press("f")
    let_frames_pass(page, 3)
    expect(page.locator("#count")).to_have_text("2 of 8")
    expect(page.locator(".key").first).to_be_hidden()
