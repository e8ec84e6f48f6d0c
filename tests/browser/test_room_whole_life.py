"""Studies' whole lives in the room: launched, published at stand-ins, watched, paid, put away.

Programs take part by the queue that a process of its own looks after, as on a server.
"""

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from flask import Flask
from playwright.sync_api import Page, expect
from werkzeug.serving import make_server

from marketplace.mturk import create_marketplace
from marketplace.panels import create_panels
from marketplace.prolific import create_prolific
from marketplace.serving import in_thread
from tests.browser.browser_steps import (
    answer_by_click,
    assert_good,
    consent,
    minimal,
    questionnaire,
    start,
)
from tests.free_ports import free_port
from tests.patience import PATIENCE_S
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.core.own_process import command_of, environment_of
from webapp.jobs.reports import send_reports
from webapp.recruiters.demonstration import LISTED, TOKEN
from webapp.recruiters.panel.demonstration import listing
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.users import add_user

PASSWORD = "correct horse battery"
PANEL = "sona_redirect"
# A job's processes start one after the other, on a machine with other work.
JOB_MS = 1000 * PATIENCE_S / 4


@dataclass
class Lab:
    """An installation with its worker, and the platforms that it knows."""

    app: Flask
    room: str
    panels: str

    def list_at_panel(self, link: str) -> None:
        """Give the study's link to the panel, as a researcher does on the panel's own page."""
        body = listing(PANEL).listed(LISTED, link)
        httpx.post(
            f"{self.panels}/control/studies", json=body, trust_env=False, timeout=PATIENCE_S
        ).raise_for_status()


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Iterator[Lab]:
    folder, port = tmp_path_factory.mktemp("lab"), free_port()
    with ExitStack() as stack:
        mturk, prolific = (
            create_marketplace(folder / "mturk"),
            create_prolific(folder / "prolific", currency="USD"),
        )
        sites = [stack.enter_context(in_thread(each)) for each in (mturk, prolific)]
        panels = stack.enter_context(in_thread(create_panels()))
        instance = folder / "instance"
        instance.mkdir()
        (instance / "parallax.toml").write_text(
            f'port = {port}\nmturk_endpoint = "{sites[0]}"\nprolific_endpoint = "{sites[1]}"\n'
            f'[panel]\nstand_in = "{panels}/{LISTED}"\n[panel.secrets]\ncredit_token = "{TOKEN}"\n'
        )
        app = create_app(instance)
        with app.extensions["parallax"].sessions.begin() as session:
            for name in ("anna", "ben"):
                add_user(session, name, Role.OWNER, hash_password(PASSWORD), by="t", now=utc_now())
        server = make_server("127.0.0.1", port, app, threaded=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        worker = subprocess.Popen(
            command_of("work"), env=environment_of(instance), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        stack.callback(worker.wait)
        stack.callback(worker.terminate)
        yield Lab(app, f"http://127.0.0.1:{port}/researcher", panels)
    server.server_close()
    for each in (app.extensions["parallax"], mturk.extensions["marketplace"],
                 prolific.extensions["prolific"]):  # fmt: skip
        each.engine.dispose()


@pytest.fixture
def sign_in(lab, new_context) -> Callable[[str], Page]:
    """Return a function that opens a browser of anna or ben."""

    def of(name: str) -> Page:
        page = new_context().new_page()
        page.goto(f"{lab.room}/")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Sign out").wait_for()
        return page

    return of


@pytest.fixture
def page(sign_in) -> Page:
    return sign_in("anna")


def upload(page: Page, lab: Lab, folder: Path) -> str:
    """Upload a panel's study, and return what it is called here."""
    study = minimal(folder)
    values = f'site = "{lab.panels}", experiment_id = "{LISTED}"'
    with (study / "study.toml").open("a") as file:
        file.write(f'\n[panel]\npreset = "{PANEL}"\nvalues = {{ {values} }}\n')
    archive = shutil.make_archive(str(folder / "mine"), "zip", folder, "minimal")
    page.goto(f"{lab.room}/launch")
    page.get_by_label("Zip file").set_input_files(archive)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_text("the study can be launched")).to_be_visible()
    return page.get_by_role("heading", level=1).inner_text()


def launch(page: Page, lab: Lab, study: str, recruiter: str) -> None:
    page.goto(f"{lab.room}/launch")
    page.locator("select[name=study]").select_option(study)
    page.locator("select[name=recruiter]").select_option(recruiter)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_label("Programs will answer, not people").check()
    page.get_by_role("button", name=f"Launch with seed 1, recruiter {recruiter}").click()
    expect(page.get_by_text("simulated", exact=True)).to_be_visible()


def send_programs(page: Page, number: int) -> None:
    """Let programs take part, see their job at work and done, and go back to the overview."""
    page.get_by_role("link", name="Reports").click()
    page.get_by_label("How many programs").fill(str(number))
    page.get_by_role("button", name="Let them take part").click()
    expect(page.get_by_text("step 1 of 1: programs take part")).to_be_visible(timeout=JOB_MS)
    expect(page.get_by_text("done", exact=True)).to_be_visible(timeout=JOB_MS)
    page.get_by_role("link", name="Overview").click()


def figure(page: Page, name: str, value: str) -> None:
    """Expect one of the overview's figures."""
    wanted = re.compile(rf"^\s*{name}\s*{re.escape(value)}")
    expect(page.locator("dl.figures > div").filter(has_text=wanted)).to_be_visible()


def put_away(page: Page) -> None:
    title = page.get_by_role("heading", level=1).inner_text().rpartition("run ")[2]
    page.get_by_role("button", name="Close: let nobody new in").click()
    page.get_by_role("button", name="Put into the archive").click()
    expect(page.get_by_text("The run is in the archive")).to_be_visible()
    page.get_by_role("link", name="Runs").first.click()
    expect(page.get_by_text(f"run {title}")).to_have_count(0)
    page.get_by_role("link", name="The archive").click()
    expect(page.get_by_text(f"run {title}")).to_be_visible()


def publish(page: Page, name: Callable[[str], None]) -> None:
    page.get_by_role("button", name="Recruitment…").click()
    name("plan")
    page.get_by_role("button", name=re.compile("^Yes: publish for")).click()


@pytest.mark.parametrize("recruiter", ["mturk", "prolific"])
def test_a_study_is_published_at_a_platform_watched_settled_paid_and_archived(
    recruiter, lab, page, tmp_path
):
    def good(name: str) -> None:
        page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
        assert_good(page, f"{name}, {recruiter}")

    launch(page, lab, "minimal", recruiter)
    publish(page, good)
    send_programs(page, 2)
    figure(page, "finished", "2")
    # What a platform is told of by a job, it is told once a minute: now, so that nobody waits.
    send_reports(lab.app.extensions["parallax"])
    page.get_by_role("button", name="Recruitment…").click()
    figure(page, "submitted", "2")
    good("recruitment")
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("button", name="Apply the exclusion rules").click()
    page.get_by_role("link", name="Money").click()
    page.get_by_role("button", name="Approve everyone").click()
    page.get_by_role("button", name=re.compile("^Yes: .* to 2")).click()
    expect(page.get_by_text("result: 2 done")).to_be_visible()
    page.get_by_role("button", name="Reconcile").click()
    expect(page.get_by_text(re.compile("agree"))).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    figure(page, "people paid", "2")
    put_away(page)


@pytest.mark.parametrize("recruiter", ["direct", "panel"])
def test_a_study_is_published_by_its_link_watched_exported_and_archived(
    recruiter, lab, page, tmp_path
):
    study = upload(page, lab, tmp_path) if recruiter == "panel" else "minimal"
    launch(page, lab, study, recruiter)
    link = page.locator("dt", has_text="Link").locator("+ dd code").inner_text()
    if recruiter == "panel":
        lab.list_at_panel(link)
    send_programs(page, 2)
    figure(page, "finished", "2")
    page.get_by_role("button", name="Apply the exclusion rules").click()
    expect(
        page.locator("dl.figures > div").filter(has_text=re.compile(r"^\s*kept\s*[12]"))
    ).to_be_visible()
    with page.expect_download() as sent:
        page.get_by_role("button", name="Export").click()
    assert sent.value.suggested_filename.startswith("parallax-run-")
    put_away(page)


def test_two_people_edit_a_study_and_one_deletes_it_while_somebody_takes_part(
    lab, page, sign_in, new_context
):
    page.goto(f"{lab.room}/studies")
    page.locator("form[action$=copy] select").select_option("minimal")
    page.locator("form[action$=copy] [name=name]").fill("ours")
    page.get_by_role("button", name="Copy", exact=True).click()
    page.locator("textarea.writing").wait_for()
    bens = sign_in("ben")
    bens.goto(page.url)
    for each, added in ((page, "# anna was here"), (bens, "# ben was here")):
        text = each.locator("textarea[name=content]")
        text.fill(f"{text.input_value()}\n{added}\n")
        each.get_by_role("button", name="Save", exact=True).click()
        each.wait_for_load_state()
    expect(bens.get_by_role("alert")).to_contain_text("nothing was stored")
    theirs = bens.get_by_label("What somebody else saved").input_value()
    assert "# anna was here" in theirs and "# ben was here" not in theirs
    page.get_by_role("button", name="Try what is saved").click()
    expect(page.get_by_text("simulated", exact=True)).to_be_visible()
    link = page.locator("dt", has_text="Link").locator("+ dd code").inner_text()
    taking_part = new_context().new_page()
    consent(taking_part, link)
    start(taking_part)
    answer_by_click(taking_part, 2)
    bens.goto(f"{lab.room}/studies")
    bens.get_by_role("row", name=re.compile("^ours")).get_by_label("I am sure").check()
    bens.get_by_role("button", name="Delete ours").click()
    expect(bens.get_by_role("row", name=re.compile("^ours"))).to_have_count(0)
    answer_by_click(taking_part, 6)
    questionnaire(taking_part)
    page.reload()
    figure(page, "finished", "1")


def test_a_study_with_code_of_its_own_is_refused_whoever_asks(lab, page, tmp_path):
    study = minimal(tmp_path)
    text = (study / "study.toml").read_text("utf-8")
    own = text.replace('"sentence_pair"', '"mine:RESPONSE"')
    (study / "study.toml").write_text(own, "utf-8")
    (study / "mine.py").write_text("RESPONSE = None\n", "utf-8")
    page.goto(f"{lab.room}/launch")
    archive = shutil.make_archive(str(tmp_path / "own"), "zip", tmp_path, "minimal")
    page.get_by_label("Zip file").set_input_files(archive)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_text("would import code that is not installed")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Launch with seed"))).to_have_count(0)


def test_what_waits_and_works_in_the_queue_is_cancelled(lab, page):
    page.goto(f"{lab.room}/studies/power?study=minimal")
    page.get_by_label("Simulated studies for each number").fill("1000")
    page.get_by_role("button", name="Simulate", exact=True).click()
    expect(page.get_by_text("working", exact=True)).to_be_visible(timeout=JOB_MS)
    page.get_by_role("button", name=re.compile("^Cancel")).click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible(timeout=JOB_MS)
