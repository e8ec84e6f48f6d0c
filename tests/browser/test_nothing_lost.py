"""Bad networks, closed tabs, second tabs, dead servers: every answer once, in order."""

import os
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Route, expect

from tests.browser.browser_site import launched, stored
from tests.browser.browser_steps import (
    answer_by_key,
    choose,
    consent,
    count,
    expect_kept,
    expect_page,
    expect_saved,
    minimal,
    minimal_with_24_trials,
    questionnaire,
    start,
)
from webapp import create_app
from webapp.server import server_control as server

IN_ORDER = list(range(1, 9))


def assert_complete(stored, positions=IN_ORDER) -> None:
    assert stored.positions == list(positions)
    assert len({response.client_uuid for response in stored.responses}) == len(stored.positions)
    assert stored.late_answers == 0


def test_the_network_is_cut_for_twenty_trials(site, page, tmp_path: Path):
    link = site.launch(minimal_with_24_trials(tmp_path))
    consent(page, link)
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    page.context.set_offline(True)
    answer_by_key(page, 20)
    expect(page.locator("#offline")).to_be_visible()
    expect(page.locator("#indicator")).to_have_text("Not sent yet, kept here")
    assert count(page) == "23 of 24"
    assert site.stored(link)[0].positions == [1, 2]
    page.context.set_offline(False)
    expect_saved(page)
    expect(page.locator("#indicator")).to_have_text("Saved")
    expect(page.locator("#offline")).to_be_hidden()
    answer_by_key(page, 2)
    questionnaire(page)
    assert_complete(site.stored(link)[0], range(1, 25))


def test_the_end_waits_until_everything_is_saved(site, link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 3)
    expect_saved(page)
    page.context.set_offline(True)
    answer_by_key(page, 5)
    expect(page.locator("#leaving")).to_be_visible()
    expect(page.locator("#unsaved")).to_have_text("Still to be saved: 5")
    for _ in range(2):  # so that one was sent after all that is asserted above
        with page.expect_event("requestfailed", lambda sent: sent.url.endswith("/answers")):
            page.evaluate("window.dispatchEvent(new Event('online'))")
    expect_page(page, "working")
    page.context.set_offline(False)
    questionnaire(page)
    assert_complete(site.stored(link)[0])


def test_a_network_that_answers_in_the_servers_place_is_not_believed(site, link, page):
    consent(page, link)
    start(page)
    page.route("**/answers", lambda route: route.fulfill(body="<h1>Please log in</h1>"))
    answer_by_key(page, 8)
    expect(page.locator("#unsaved")).to_have_text("Still to be saved: 8")
    assert site.stored(link)[0].positions == []
    page.unroute("**/answers")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    questionnaire(page)
    assert_complete(site.stored(link)[0])


def test_a_server_in_trouble_does_not_take_the_trial_from_the_screen(site, link, page):
    consent(page, link)
    home = page.url
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    for reply in ({"status": 502}, {"status": 200, "body": "<h1>Please log in</h1>"}):
        page.route(home, partial(Route.fulfill, **reply))
        with page.expect_response(home):
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        answer_by_key(page, 1)
        page.unroute(home)
    answer_by_key(page, 4)
    questionnaire(page)
    assert_complete(site.stored(link)[0])


def test_an_acknowledgement_that_is_lost_repeats_nothing(site, link, page):
    consent(page, link)
    start(page)
    lost = []

    def deliver_and_lose(route) -> None:
        route.fetch()
        lost.append(route.abort())

    page.route("**/answers", deliver_and_lose, times=2)
    answer_by_key(page, 8)
    questionnaire(page)
    assert len(lost) == 2
    assert_complete(site.stored(link)[0])


@pytest.mark.parametrize("end", ["closed", "crashed", "reloaded"])
def test_a_tab_that_ends_while_offline_leaves_its_answers_to_the_next(site, link, page, end):
    context = page.context
    consent(page, link)
    home = page.url
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    page.route("**/answers", lambda route: route.abort())
    answer_by_key(page, 3)
    expect_kept(page, 3)
    if end == "crashed":
        with page.expect_event("crash"), suppress(PlaywrightError):
            page.goto("chrome://crash")
        page = context.new_page()
    elif end == "closed":
        page.close(run_before_unload=False)
        page = context.new_page()
    page.unroute_all()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(home)
    start(page)
    assert count(page) == "6 of 8"
    answer_by_key(page, 3)
    questionnaire(page)
    [left] = site.stored(link)
    # What a page hands to the browser when it goes may arrive in any order.
    left.positions.sort()
    assert_complete(left)


def test_two_tabs_at_once_share_the_work(site, link, page):
    consent(page, link)
    other = page.context.new_page()
    other.goto(page.url)
    for tab in (page, other):
        start(tab)
    for position in range(1, 8):
        tab, watching = (page, other) if position % 2 else (other, page)
        tab.bring_to_front()
        answer_by_key(tab, 1)
        expect(watching.locator("#count")).to_have_text(f"{position + 1} of 8")
    other.bring_to_front()
    answer_by_key(other, 1)
    expect_page(page, "questionnaire")
    questionnaire(other)
    page.reload()
    expect_page(page, "closing")
    assert_complete(site.stored(link)[0])


def test_another_device_goes_on_where_the_first_one_was(site, link, page, new_context):
    with page.expect_response("**/device"):
        consent(page, link)
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    phone = new_context().new_page()
    phone.goto(page.url)
    expect(phone.locator("#other-device")).to_be_visible()
    with phone.expect_response("**/device"):
        phone.locator("#go-on-here").click()
    expect(phone.locator("#instructions .notice")).to_contain_text(
        "You will continue where you left off"
    )
    start(phone)
    answer_by_key(phone, 3)
    expect_saved(phone)
    # Back at the first device, whose page asks the server as soon as it is looked at.
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#count")).to_have_text("6 of 8")
    answer_by_key(page, 3)
    questionnaire(page)
    [only] = site.stored(link)
    assert_complete(only)
    assert len({device.mark for device in only.devices}) == 2


def test_the_back_button_leads_to_the_same_session(site, link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 3)
    expect_saved(page)
    page.go_back()
    expect_page(page, "consent")
    page.locator("button[value=accept]").click()
    start(page)
    assert count(page) == "4 of 8"
    page.go_back()
    page.go_forward()
    start(page)
    assert count(page) == "4 of 8"
    answer_by_key(page, 5)
    questionnaire(page)
    page.go_back()
    page.go_forward()
    expect_page(page, "closing")
    [only] = site.stored(link)
    assert_complete(only)


def test_a_questionnaire_sent_without_a_connection_arrives_later(site, link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 8)
    expect_page(page, "questionnaire")
    page.locator("textarea").fill(" ")
    page.locator("button.primary").click()
    expect(page.locator(".problem")).to_be_visible()
    page.locator("textarea").fill("English")
    page.context.set_offline(True)
    page.locator("button.primary").click()
    expect(page.locator("#offline")).to_be_visible()
    page.context.set_offline(False)
    expect_page(page, "closing")
    assert site.stored(link)[0].questionnaire == {"native_language": "English"}


def test_the_server_dies_and_comes_back(new_context, tmp_path: Path):
    instance = tmp_path / "instance"
    app = create_app(instance)
    sessions = app.extensions["parallax"].sessions
    path = launched(sessions, minimal(tmp_path))
    running = server.start(instance, workers=1)
    try:
        page = new_context().new_page()
        consent(page, running.url + path)
        start(page)
        answer_by_key(page, 2)
        os.killpg(os.getpgid(running.pid), signal.SIGKILL)
        answer_by_key(page, 4)
        expect(page.locator("#offline")).to_be_visible()
        running = server.start(instance, port=int(running.url.rpartition(":")[2]), workers=1)
        choose(page, lambda: page.keyboard.press("1"))
        expect_saved(page)
        answer_by_key(page, 1)
        questionnaire(page)
        assert_complete(stored(sessions, path)[0])
    finally:
        server.stop(instance)
        app.extensions["parallax"].engine.dispose()


# A database that opens and then answers nothing, as where another window holds it or a disk hangs.
MUTE = """
IDBIndex.prototype.getAll = () => ({});
for (const act of ["put", "delete"]) IDBObjectStore.prototype[act] = () => ({});
// The two seconds after which the page gives a database up are a tenth of one here.
const later = setTimeout;
window.setTimeout = (act, ms, ...rest) => later(act, ms === 2000 ? 100 : ms, ...rest);
"""


def test_a_database_that_never_answers_stops_nobody_on_the_instructions(site, link, new_context):
    context = new_context()
    context.add_init_script(MUTE)
    page = context.new_page()
    consent(page, link)
    start(page)
    answer_by_key(page, 8)
    expect_page(page, "questionnaire")
    assert len(site.stored(link)[0].responses) == 8
