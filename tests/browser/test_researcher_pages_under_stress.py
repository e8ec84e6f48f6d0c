"""Researcher pages in Chromium: two researchers, a stopped queue, a dead database."""

import re

import pytest
from playwright.sync_api import expect
from sqlalchemy import event

from tests.browser.browser_steps import enter_researcher_pages, minimal
from webapp.core.clock import utc_now
from webapp.database.models import Run
from webapp.runs.blinding import unblind_run
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.users import add_user

PASSWORD = "correct horse battery"


@pytest.fixture
def signed_in(site, new_context):
    """Return a function that opens a browser of a researcher, at a page."""

    def page_of(name: str, path: str):
        with site.sessions.begin() as session:
            hashed = hash_password(PASSWORD)
            add_user(session, name, Role.OWNER, hashed, by="a test", now=utc_now())
        page = new_context().new_page()
        enter_researcher_pages(page, f"{site.origin}/researcher/{path}", name, PASSWORD)
        return page

    return page_of


def test_two_researchers_a_slow_queue_and_a_database_that_dies(site, signed_in, tmp_path):
    ref = site.launch(minimal(tmp_path)).rpartition("/")[2]
    with site.sessions.begin() as session:
        of_run = session.query(Run).filter_by(ref=ref).one()
        unblind_run(session, of_run, by="a test", reason="a report is made", now=utc_now())
    anna, ben = (signed_in(f"{name}-{ref}", f"runs/{ref}") for name in ("anna", "ben"))

    # Both decide on the page that they opened before; what was done once is not done again.
    for page in (anna, ben):
        page.get_by_role("button", name="Close: let nobody new in").click()
        expect(page.get_by_role("button", name="Open again")).to_be_visible()

    # Nobody works off the queue: what waits is shown, and either of them can cancel it.
    anna.goto(f"{site.origin}/researcher/runs/{ref}/reports")
    anna.get_by_role("button", name="Make the report").click()
    expect(anna.get_by_text("waiting", exact=True)).to_be_visible()
    ben.goto(f"{site.origin}/researcher/runs/{ref}/reports")
    ben.get_by_role("button", name=re.compile("^Cancel")).click()
    expect(ben.get_by_text("cancelled", exact=True)).to_be_visible()
    expect(anna.get_by_text("cancelled", exact=True)).to_be_visible()  # by itself

    # The database dies: a sentence and no trace, and everything is there once it is back.
    engine = site.app.extensions["parallax"].engine

    def dies(*_: object) -> None:
        raise OSError("the database is gone")

    event.listen(engine, "before_cursor_execute", dies)
    try:
        ben.goto(f"{site.origin}/researcher/runs/{ref}")
        said = ben.locator("body").inner_text()
    finally:
        event.remove(engine, "before_cursor_execute", dies)
    assert said.strip() and "Traceback" not in said and "the database is gone" not in said
    ben.reload()
    expect(ben.get_by_role("button", name="Open again")).to_be_visible()
