"""A second factor and a new password, as a user meets them in Chromium."""

import time
from datetime import UTC, datetime

from playwright.sync_api import expect

from tests.webapp.researcher.authenticator import code_of
from webapp.core.clock import utc_now
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.users import add_user

PASSWORD = "correct horse battery"


def enter(page, site, name: str, password: str) -> None:
    page.goto(f"{site.origin}/researcher/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def fresh_code(secret: str, used: set[str]) -> str:
    """Return a code that was not used; a clock may be one step off."""
    while True:
        for ahead_s in (0, 30):
            code = code_of(secret, datetime.now(UTC).timestamp() + ahead_s)
            if code not in used:
                used.add(code)
                return code
        time.sleep(1)


def test_an_owner_sets_up_a_second_factor_and_gives_somebody_a_new_password(site, new_context):
    owner, other = "owner-of-all", "other"
    with site.sessions.begin() as session:
        for name, role in ((owner, Role.OWNER), (other, Role.VIEWER)):
            add_user(session, name, role, hash_password(PASSWORD), by="a test", now=utc_now())
    page, used = new_context().new_page(), set[str]()
    enter(page, site, owner, PASSWORD)
    page.get_by_role("link", name="Sessions").click()
    page.get_by_role("link", name="Second factor").click()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Set it up").click()
    expect(page.locator("img.qr")).to_be_visible()
    assert page.evaluate("document.querySelector('img.qr').naturalWidth") > 100
    secret = page.locator("code").first.inner_text().replace(" ", "")
    page.get_by_label("Code of the app").fill("000000")
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("alert")).to_contain_text("The code is not right")
    page.get_by_label("Code of the app").fill(fresh_code(secret, used))
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator(".codes li")).to_have_count(10)
    recovery = page.locator(".codes code").first.inner_text()
    page.get_by_role("link", name="I have kept them").click()
    page.get_by_role("button", name="Sign out").click()
    enter(page, site, owner, PASSWORD)
    expect(page.get_by_role("heading")).to_have_text("Second factor")
    page.get_by_label("Code").fill(recovery)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    page.goto(f"{site.origin}/researcher/second-factor")
    expect(page.get_by_text("9 unused recovery codes")).to_be_visible()
    page.get_by_role("link", name="Accounts").click()
    page.get_by_role("button", name=f"Make a link for a new password of {other}").click()
    link = page.locator("code.link").inner_text()
    theirs = new_context().new_page()
    theirs.goto(f"{site.origin}/{link.split('/', 3)[3]}")
    for label in ("New password", "The same again"):
        theirs.get_by_label(label).fill("another horse battery")
    theirs.get_by_role("button", name="Set the password").click()
    enter(theirs, site, other, "another horse battery")
    theirs.goto(f"{site.origin}/researcher/password")
