"""What keeps a static study from working for good is named as such, with what to do."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.browser_steps import expect_page
from tests.browser.static_site import stores, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("static")
    return written("minimal", place / "study", place / "instance")


def serve_under(page: Page, policy: str) -> None:
    """Let the host send a Content-Security-Policy of its own."""

    def serve(route: Route) -> None:
        answer = route.fetch()
        headers = {**answer.headers, "content-security-policy": policy}
        route.fulfill(response=answer, headers=headers)

    page.route("**/*", serve)


def test_a_folder_opened_as_a_file_is_told_to_be_one(folder: Path, new_context) -> None:
    page = new_context().new_page()
    page.goto((folder / "index.html").as_uri())
    expect(page.locator("#no-beginning")).to_contain_text("not as a file")
    expect(page.locator("#no-beginning")).to_be_visible()
    expect(page.locator("#trouble")).to_be_hidden()


def test_a_host_that_forbids_programs_is_named_on_the_page(
    folder: Path, new_context, tmp_path: Path
) -> None:
    page = new_context().new_page()
    with stores(tmp_path) as kept:
        serve_under(page, "default-src 'self'")
        page.goto(kept.host("strict", folder))
        expect(page.locator("#no-beginning")).to_contain_text("Content-Security-Policy")
        expect(page.locator("#no-beginning")).to_be_visible()


def test_a_host_that_forbids_a_part_lets_the_study_begin_and_names_it(
    folder: Path, new_context, tmp_path: Path
) -> None:
    page = new_context().new_page()
    remedy = "add data: to font-src in the header that the host sends"
    with stores(tmp_path) as kept:
        serve_under(page, "font-src 'self'")
        page.goto(kept.host("no_fonts", folder))
        expect_page(page, "consent")
        with page.expect_console_message(lambda message: remedy in message.text):
            page.evaluate(
                "new FontFace('a', 'url(data:font/woff2;base64,AA==)').load().catch(() => 0)"
            )


def test_a_host_that_forbids_the_sessions_is_named_in_place_of_the_connection(
    folder: Path, new_context, tmp_path: Path
) -> None:
    page = new_context().new_page()
    with stores(tmp_path) as kept:
        serve_under(page, "connect-src 'none'")
        page.goto(kept.host("no_sessions", folder))
        expect_page(page, "consent")
        page.get_by_role("button", name="I agree").click()
        expect(page.locator("#no-beginning")).to_contain_text("Content-Security-Policy")
        expect(page.locator("#no-beginning")).to_be_visible()
        expect(page.locator("#trouble")).to_have_count(0)
