"""Two people at one computer, one after the other."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from tests.browser.browser_steps import (
    answer_by_key,
    assert_good,
    consent,
    expect_page,
    minimal,
    questionnaire,
    start,
)
from webapp.database.engine import reading
from webapp.database.models import Participant


@pytest.fixture
def shared_link(site, tmp_path: Path) -> str:
    study = minimal(tmp_path)
    toml = study / "study.toml"
    toml.write_text(toml.read_text("utf-8") + "\n[privacy]\nshared_device = true\n", "utf-8")
    return site.launch(study)


def finish(page, link: str) -> None:
    consent(page, link)
    start(page)
    answer_by_key(page, 8)
    questionnaire(page)


def codes(site) -> list[str]:
    with reading(site.sessions) as session:
        return list(session.scalars(select(Participant.code).order_by(Participant.id)))


def assert_nobody_is_seen(page, site, name: str) -> None:
    for code in codes(site):
        expect(page.locator("body")).not_to_contain_text(code)
    shown = page.content()
    assert page.locator("body").get_attribute("data-page") != "closing", name
    assert not [code for code in codes(site) if code in shown], name
    expect(page.locator("#begun-before:visible")).to_have_count(0)


KEPT = "() => JSON.stringify({...localStorage, ...sessionStorage})"


@pytest.mark.parametrize("kind", ["link", "shared_link"])
def test_a_late_word_of_the_server_brings_nothing_back_of_a_session_that_has_ended(
    site, kind: str, request, page
):
    held = []
    page.route("**/device", lambda route: held.append(route))
    consent(page, request.getfixturevalue(kind))
    home = page.url.removeprefix(site.origin)
    start(page)
    answer_by_key(page, 8)
    questionnaire(page)
    assert_nothing_comes_back(page, home, held[0].continue_)


def test_nor_of_one_that_was_erased_while_an_answer_was_under_way(site, link, page):
    held = []
    page.route("**/answers", lambda route: held.append((route, route.fetch())))
    consent(page, link)
    home = page.url.removeprefix(site.origin)
    start(page)
    answer_by_key(page, 1)
    page.locator(".way-out a").click()
    page.locator("button[value=erase]").click()
    expect_page(page, "withdrawn")
    [(route, response)] = held
    assert response.ok
    assert_nothing_comes_back(page, home, lambda: route.fulfill(response=response))


def assert_nothing_comes_back(page, home: str, let_go: Callable[[], None]) -> None:
    with page.expect_event("requestfinished"):
        let_go()
    # The page has read the reply and done what follows from it.
    page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
    assert home not in page.evaluate(KEPT)


def test_the_next_person_is_not_offered_a_session_that_has_ended(site, link, page):
    finish(page, link)
    home = page.url.removeprefix(site.origin)
    page.goto(link)
    expect_page(page, "consent")
    page.wait_for_load_state("networkidle")
    assert_nobody_is_seen(page, site, "the link opened again")
    kept = page.evaluate("() => JSON.stringify({...localStorage})")
    assert home not in kept and "native_language" not in kept
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    assert len(site.stored(link)) == 2


def test_a_session_that_ended_on_another_device_is_not_offered(site, link, page, new_context):
    with page.expect_response("**/device"):
        consent(page, link)
    other = new_context().new_page()
    other.goto(page.url)
    other.locator("#go-on-here").click()
    start(other)
    answer_by_key(other, 8)
    questionnaire(other)
    with page.expect_response("**/going-on"):
        page.goto(link)
    page.wait_for_load_state("networkidle")
    assert_nobody_is_seen(page, site, "the link at the first device")


def test_nothing_at_a_shared_computer_leads_back_to_who_finished(site, shared_link, page):
    consent(page, shared_link)
    home = page.url
    page.locator(".way-out a").click()
    expect_page(page, "withdraw")
    page.locator("a[data-in-page]").click()
    start(page)
    answer_by_key(page, 8)
    questionnaire(page)
    expect(page.locator("main")).to_contain_text(codes(site)[-1])
    assert_good(page, "the closing page at a shared computer")
    assert page.url == shared_link, "the address names nobody"
    kept = page.evaluate(KEPT)
    assert "/p/" not in kept and "native_language" not in kept
    for _ in range(4):  # the back button, as far as it goes
        page.go_back()
        page.wait_for_load_state("networkidle")
        assert_nobody_is_seen(page, site, f"back to {page.url}")
    for address in (home, f"{home}withdraw"):  # the list of visited pages
        page.goto(address)
        expect_page(page, "finished_before")
        assert_nobody_is_seen(page, site, address)
    assert_good(page, "the page of who comes upon a session that has ended")
    page.goto(shared_link)
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    assert len(site.stored(shared_link)) == 2


def test_at_a_shared_computer_the_code_leads_to_erasure(site, shared_link, page):
    finish(page, shared_link)
    code = codes(site)[-1]
    page.get_by_role("link", name="Clear this page").click()
    expect_page(page, "consent")
    page.goto(f"{shared_link}/data")
    page.locator("#code").fill(code)
    page.get_by_role("button", name="Erase my answers").click()
    expect_page(page, "withdraw")
    page.locator("button[value=erase]").click()
    expect_page(page, "withdrawn")
    [left] = site.stored(shared_link)
    assert (left.state, left.responses) == ("withdrawn", [])
