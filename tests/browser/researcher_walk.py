"""A walk through every researcher page, for the browser tests that look at each."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from flask import Flask
from playwright.sync_api import Page, expect

from tests.webapp.researcher.authenticator import code_of
from webapp.jobs.long_jobs import RESULT_FOLDER, Jobs, JobState, Step, store_participant_marks
from webapp.services import EXTENSION

# A file of items that somebody made with a spreadsheet.
TABLE = b"item,condition,good,bad\n" + b"".join(
    f"{n},{condition},The {noun} near the guard{s} laughs.,The {noun} near the guard{s} laugh.\n"
    .encode()
    for n, noun in enumerate(("author", "pilot", "farmer", "chef"), 1)
    for condition, s in (("one", ""), ("many", "s"))
)  # fmt: skip
Look = Callable[[str], None]


def addresses(run: str) -> dict[str, str]:
    """Return the pages that have an address, below /researcher, by their pictures' names."""
    return {
        "runs": "",
        "archive": "?archive=1",
        "run": f"runs/{run}",
        "links": f"runs/{run}/links",
        "participants": f"runs/{run}/participants",
        "flags": f"runs/{run}/participants?sort=flags",
        "money": f"runs/{run}/money",
        "reports": f"runs/{run}/reports",
        "coding": f"runs/{run}/coding",
        "studies": "studies",
        "power": "studies/power?study=minimal",
        "launch": "launch",
        "launch_check": "launch/check?study=minimal&seed=1&recruiter=direct",
        "projects": "projects",
        "join": "join",
        "notifications": "notifications",
        "sessions": "sessions",
        "password": "password",
        "second_factor": "second-factor",
        "tokens": "tokens",
        "accounts": "accounts",
        "audit": "audit",
        "settings": "settings",
        "backups": "backups",
        "installation": "installation",
    }


def make_a_study(page: Page, pages_url: str, name: str, look: Look) -> None:
    """Make a study from a table, open its texts, spoil one, and try it all the same."""
    page.goto(f"{pages_url}/studies")
    here = page.locator("form[action$=new]")
    table = {"name": "pairs.csv", "mimeType": "text/csv", "buffer": TABLE}
    here.locator("[name=table]").set_input_files(table)
    here.locator("[name=name]").fill(name)
    here.locator("[name=name]").press("Enter")
    page.get_by_role("link", name="Read and edit its texts").wait_for()
    look("study_made")
    page.get_by_role("link", name="Read and edit its texts").click()
    page.locator("textarea.writing").wait_for()
    expect(page.locator("#findings pre, #findings p").first).to_be_visible()
    look("study_edit")
    page.get_by_role("link", name="Exclusion rules").press("Enter")
    page.get_by_role("heading", name="Add a rule").wait_for()
    look("study_entries")
    page.locator("[name=kind]").select_option("too_fast")
    page.get_by_role("button", name="Go on").press("Enter")
    page.locator("[name=below_ms]").fill("2500")
    page.locator("[name=max_share]").fill("0.3")
    page.locator("#counts table").wait_for()
    look("study_entry")
    page.locator(".crumbs a").nth(1).press("Enter")
    page.locator("textarea.writing").wait_for()
    text = page.locator("textarea[name=content]")
    text.fill(f"{text.input_value()}\nplaces = 3\n")
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    page.get_by_role("status").wait_for()
    page.get_by_role("button", name="Try what is saved").press("Enter")
    page.get_by_role("heading", name="was not launched").wait_for()
    look("launch_refused")


def make_a_project(page: Page, pages_url: str, name: str, look: Look) -> None:
    """Make a project and invite somebody, by keys."""
    page.goto(f"{pages_url}/projects")
    page.get_by_label("Name: letters").fill(name)
    page.get_by_label("Name: letters").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    look("project")
    page.get_by_role("button", name="Make a code").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Invitation")
    look("invitation")


def make_keys(page: Page, pages_url: str, name: str, look: Look) -> None:
    """Make a token for a program, and an account with the link for its password."""
    page.goto(f"{pages_url}/tokens")
    page.get_by_label("What it is for").fill("nightly backup")
    page.locator("[name=scope]").first.check()
    page.get_by_role("button", name="Make the token").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("nightly backup")
    look("token")
    page.goto(f"{pages_url}/accounts")
    here = page.locator("form[action$=add]")
    here.locator("[name=name]").fill(name)
    here.locator("[name=name]").press("Enter")
    link = page.locator("code.link").inner_text()
    look("password_link")
    page.goto(f"{pages_url}/{link.partition('/researcher/')[2]}")
    look("new_password")


def share_a_report(page: Page, pages_url: str, app: Flask, run: str, html: str, look: Look) -> None:
    """Share a report that was made, and read it here and by its link."""
    services = app.extensions[EXTENSION]
    jobs = Jobs(Path(app.instance_path))
    job = jobs.add(run, "People alone", "anna", services.now(), [Step("", ("compare",))])
    store_participant_marks(services, job.id)
    (made := jobs.folder(job.id) / RESULT_FOLDER).mkdir()
    (made / "report.html").write_text(html, encoding="utf-8")
    jobs.change(job.id, state=JobState.DONE)
    page.goto(f"{pages_url}/runs/{run}/reports")
    page.get_by_role("button", name=re.compile("^Share")).first.press("Enter")
    link = page.locator("code.link").inner_text()
    look("report_shared")
    page.goto(f"{pages_url}/runs/{run}/reports/read?report={job.id}")
    look("report")
    page.goto(f"{pages_url}/{link.partition('/researcher/')[2]}")
    look("shared_report")


def recruit(page: Page, pages_url: str, run: str, look: Look) -> None:
    """Look how the offers fill, at what publishing more would cost, and write to people."""
    page.goto(f"{pages_url}/runs/{run}")
    page.get_by_role("button", name="Recruitment…").press("Enter")
    page.get_by_role("heading", name="Steer").wait_for()
    look("recruitment")
    page.get_by_label("Message").fill("Thank you. The second part begins on Monday.")
    page.get_by_role("button", name="See how many people get it…").press("Enter")
    page.locator("blockquote").wait_for()
    look("write_confirm")
    page.goto(f"{pages_url}/runs/{run}")
    page.get_by_role("button", name="Recruitment…").press("Enter")
    page.get_by_role("button", name="Publish what is missing…").press("Enter")
    page.get_by_role("heading", name="Publish the open places").wait_for()
    look("publish_confirm")


def settle(page: Page, reason: str, look: Look, says: str) -> None:
    """Reject somebody from their page, look whom else to approve, and reconcile.

    Args:
        page: The page of somebody who handed in.
        reason: What they are told.
        look: Looks at a page.
        says: What is said of the others.
    """
    page.get_by_role("link", name="Pay or reject").first.click()
    page.get_by_label("What to do").select_option("reject")
    page.get_by_role("textbox", name="Reason").fill(reason)
    page.get_by_role("textbox", name="Reason").press("Enter")
    expect(page.get_by_role("button", name=re.compile("^Yes"))).to_be_visible()
    look("money_confirm")
    page.get_by_role("button", name=re.compile("^Yes")).press("Enter")
    expect(page.get_by_text("result: 1 done")).to_be_visible()
    page.get_by_role("button", name="Approve everyone").click()
    expect(page.get_by_text(says)).to_be_visible()
    look("money_everyone")
    page.go_back()
    page.get_by_role("button", name="Reconcile").click()
    expect(page.get_by_role("heading", name="Statements")).to_be_visible()
    look("reconcile")


def set_a_second_factor_up(
    page: Page, pages_url: str, name: str, password: str, look: Look
) -> None:
    """Set a second factor up, sign out, and come to where its code is asked for."""
    page.goto(f"{pages_url}/second-factor")
    page.get_by_label("Your password").fill(password)
    page.get_by_label("Your password").press("Enter")
    page.locator("img.qr").wait_for()
    look("second_factor_begun")
    secret = page.locator("code").first.inner_text().replace(" ", "")
    page.get_by_label("Code of the app").fill(code_of(secret, datetime.now(UTC).timestamp()))
    page.get_by_label("Code of the app").press("Enter")
    page.locator(".codes li").first.wait_for()
    look("recovery_codes")
    page.get_by_role("button", name="Sign out").press("Enter")
    page.goto(f"{pages_url}/join")
    look("join_newly")
    page.goto(f"{pages_url}/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.get_by_label("Code").wait_for()
    look("code")
