"""The way out and the way back, as a person meets them in the browser."""

from playwright.sync_api import expect

from tests.browser.browser_steps import (
    answer_by_key,
    assert_good,
    consent,
    count,
    expect_page,
    expect_saved,
    start,
)


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
