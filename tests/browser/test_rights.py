"""The way out and the way back, as a person meets them in the browser."""

from pathlib import Path

from playwright.sync_api import expect
from sqlalchemy import select

from tests.browser.browser_steps import (
    answer_by_key,
    assert_good,
    consent,
    count,
    expect_page,
    expect_saved,
    minimal,
    start,
)
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.participant import consent as consent_pages
from webapp.participant import data_notice
from webapp.sessions.consent_texts import consent_texts


def test_somebody_stops_in_the_middle_and_has_everything_erased(site, link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    page.locator(".way-out a").click()
    expect_page(page, "withdraw")
    assert_good(page, "the way out")
    page.locator("a[data-in-page]").click()
    expect_page(page, "working")
    start(page)
    assert count(page) == "3 of 8"
    page.locator(".way-out a").click()
    page.locator("button[value=erase]").click()
    expect_page(page, "withdrawn")
    assert_good(page, "the page after that")
    [left] = site.stored(link)
    assert (left.state, left.responses, left.devices) == ("withdrawn", [], [])
    page.goto(link)
    expect(page.locator("#begun-before")).to_be_hidden()


def test_an_answer_that_waits_does_not_replace_the_page_of_somebody_who_stops(site, link, page):
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    consent(page, link)
    start(page)
    answer_by_key(page, 8)
    expect_page(page, "questionnaire")
    page.locator("textarea").fill("English")
    page.route("**/questionnaire", lambda route: route.abort())
    page.locator("button.primary").click()
    expect(page.locator("#offline")).to_be_visible()
    page.locator(".way-out a").click()
    expect_page(page, "withdraw")
    page.unroute("**/questionnaire")
    page.evaluate("dispatchEvent(new Event('online'))")
    page.locator("a[data-in-page]").click()
    expect_page(page, "questionnaire")
    expect(page.locator("textarea")).to_have_value("English")
    page.locator("button.primary").click()
    expect_page(page, "closing")
    assert errors == []
    assert [one.state for one in site.stored(link)] == ["finished"]


def test_the_invitation_opened_again_offers_to_go_on(site, link, page):
    consent(page, link)
    start(page)
    answer_by_key(page, 3)
    expect_saved(page)
    page.goto(link)
    expect(page.locator("#begun-before")).to_be_visible()
    assert_good(page, "the offer to go on")
    page.locator("#begun-before a").click()
    start(page)
    assert count(page) == "4 of 8"
    assert len(site.stored(link)) == 1
    # Somebody else at the same browser decides for themselves.
    page.goto(link)
    page.locator("button[value=accept]").click()
    start(page)
    assert count(page) == "1 of 8"
    assert len(site.stored(link)) == 2


def test_who_closes_the_browser_before_the_consent_is_acknowledged_is_one_person(site, link, page):
    context = page.context
    page.goto(link)
    expect_page(page, "consent")

    def store_and_lose(route) -> None:
        route.fetch(max_redirects=0)
        route.abort()

    with page.expect_event("requestfailed"):
        page.route(link, store_and_lose, times=1)
        page.locator("button[value=accept]").click()
    page.close()
    again = context.new_page()
    consent(again, link)
    start(again)
    assert len(site.stored(link)) == 1
    # The next visitor at this browser is somebody else.
    again.goto(link)
    again.locator("button[value=accept]").click()
    expect_page(again, "working")
    assert len(site.stored(link)) == 2


def test_the_invitation_offers_to_go_on_also_where_the_run_is_full(site, page, tmp_path: Path):
    link = site.launch(minimal(tmp_path, participants_per_list="2"))
    consent(page, link)
    home, others = page.url, site.app.test_client()
    for _ in range(3):
        others.post(link.removeprefix(site.origin), data={"decision": "accept"})
    page.goto(link)
    expect_page(page, "turned_away")
    expect(page.locator("#begun-before")).to_be_visible()
    assert_good(page, "the offer to go on where no place is free")
    page.locator("#begun-before a").click()
    expect_page(page, "working")
    assert page.url == home


def test_who_agrees_to_a_text_that_has_changed_reads_it_again(site, link, page, monkeypatch):
    page.goto(link)
    expect_page(page, "consent")
    assert "shoes" not in saved_text(page)
    before = data_notice.list_stored_data
    for module in (data_notice, consent_pages):  # as a new version of the program would
        monkeypatch.setattr(
            module,
            "list_stored_data",
            lambda *a, **k: [*before(*a, **k), "The size of your shoes."],
        )
    site.app.extensions["parallax"].rendered.clear()  # a new version has new processes
    page.locator("button[value=accept]").click()
    notice = page.get_by_role("alert").filter(has_text="has changed since you opened the page")
    expect(notice).to_be_focused()
    expect(page.locator("main")).to_contain_text("The size of your shoes.")
    assert_good(page, "the consent page with another text")
    assert site.stored(link) == []
    kept = saved_text(page)
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    with reading(site.sessions) as session:
        of_run = select(Run).where(Run.ref == link.rpartition("/")[2])
        [(text, people)] = consent_texts(session, session.scalars(of_run).one())
    assert (text.text, people) == (kept, 1)
    assert "The size of your shoes." in kept


def saved_text(page) -> str:
    with page.expect_download() as found:
        page.locator("a[download]").click()
    return Path(found.value.path()).read_text("utf-8")
