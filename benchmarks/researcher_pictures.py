"""Take pictures of every researcher page: light and dark on a desktop, and on a phone.

Usage: python benchmarks/researcher_pictures.py [--chromium PATH] [--out docs/images/researcher]

The pages show a run with planted problems (``benchmarks/planted.py``); the walk of the browser
tests visits each of them (``tests/browser/researcher_walk.py``). A picture shows a page three
times, side by side, so that a layout problem in any of them is easy to see.
"""

import argparse
import io
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from argon2 import PasswordHasher
from flask import Flask
from PIL import Image
from planted import plant
from playwright.sync_api import Browser, Page, expect, sync_playwright
from screenshots import IMAGES, SWITCHES, keep, served
from sqlalchemy import select

from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.models import Assignment, Hit, Recruitment, Run
from webapp.gate.gate import begin_ledger_entry, record_reconciliation, store_ledger_state
from webapp.jobs import delivery
from webapp.jobs.housekeeping import summarise_run
from webapp.jobs.long_job_queue import do_job
from webapp.jobs.long_jobs import RESULT_FOLDER, Jobs, JobState
from webapp.payments import run_payments
from webapp.researcher import recruitment
from webapp.runs.blinding import unblind_run
from webapp.runs.runs import load_launched_study
from webapp.users import users
from webapp.users.roles import Role
from webapp.users.users import add_user

sys.path.append(str(Path(__file__).parents[1]))
from tests.browser import researcher_walk as walk
from tests.prerequisites import CHROMIUM
from tests.webapp.payments.platform_double import WritingDouble

PASSWORD = "correct horse battery"
# The page of the installation makes every check of the doctor.
PATIENCE_MS = 180_000
DESK = {"width": 1100, "height": 900}
LOOKS = (("light", DESK), ("dark", DESK), ("light", {"width": 390, "height": 900}))
# So much of a page is shown; of a run's own, its charts too.
HEIGHT, HEIGHTS = 900, {"run": 2500}
# What somebody wrote and asked for, so that no page is empty.
WRITTEN = (
    ("runs/{run}/notes", {"text": "The server was restarted at noon.", "tags": "pilot"}),
    ("runs/{run}/notes", {
        "participant": "{late}", "tags": "asked, keep",
        "text": "Wrote that the train had no network. Came back after two hours.",
    }),
    ("notifications", {
        "address": "https://hooks.example.org/services/lab", "quiet": "30",
        "cause": ["complete", "quiet", "payment", "job"],
    }),
    ("notifications/test", {"number": "1"}),
    ("studies/copy", {"study": "minimal", "name": "my_study"}),
    ("studies/power", {"study": "minimal", "per_list": "5, 10, 20", "simulations": "100"}),
    ("runs/{run}/reports", {}),
    ("projects", {"name": "syntax-lab"}),
)  # fmt: skip


@dataclass
class Pictures:
    """Takes a picture of what a page shows, in every look.

    Attributes:
        page: The browser's.
        out: Where pictures are kept.
    """

    page: Page
    out: Path

    def take(self, name: str) -> None:
        """Keep what the page shows, under a name."""
        shots, height = [], HEIGHTS.get(name, HEIGHT)
        for scheme, size in LOOKS:
            self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            self.page.set_viewport_size(size)  # type: ignore[arg-type]
            self.page.wait_for_timeout(600)  # charts are drawn anew, and checks come in
            taken = self.page.screenshot(animations="disabled", full_page=True)
            shot = Image.open(io.BytesIO(taken))
            shots.append(shot.crop((0, 0, shot.width, min(shot.height, height))))
        self.page.set_viewport_size(DESK)  # type: ignore[arg-type]
        height = max(shot.height for shot in shots)
        width = sum(shot.width for shot in shots) + 20 * (len(shots) - 1)
        sheet, left = Image.new("RGB", (width, height), "#888"), 0
        for shot in shots:
            sheet.paste(shot.convert("RGB"), (left, 0))
            left += shot.width + 20
        half = (sheet.width // 2, sheet.height // 2)
        keep(sheet.resize(half, Image.Resampling.LANCZOS), self.out / f"{name}.png")


def installed(folder: Path) -> tuple[Flask, str, dict[str, str]]:
    """Make an installation with the planted run; return it, the run and who is who."""
    run, _, found = plant(folder, others=30, seed=1, now=utc_now())
    app = create_app(folder)
    sessions, now = app.extensions["parallax"].sessions, utc_now()
    summarise_run(sessions, run, load_launched_study, now)
    platform = WritingDouble(now=now, endpoint="http://127.0.0.1:9")
    with sessions.begin() as session:
        # As publishing does; else every page says that the ledger's file is missing.
        begin_ledger_entry(session.connection())
        store_ledger_state(session.connection())
        record_reconciliation(session.connection(), run)
        of_run = session.query(Run).filter_by(ref=run).one()
        of_run.recruiter = "mturk"  # as which the double answers
        session.query(Recruitment).filter_by(run_id=of_run.id).one().endpoint = platform.endpoint
        unblind_run(session, of_run, by="anna", reason="every page is shown", now=now)
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
        add_user(session, "anna", Role.OWNER, cheap, by="a picture", now=now)
        of_offer = Hit.id == Assignment.hit_id
        columns = (Assignment.platform_id, Assignment.worker_id, Hit.platform_id)
        handed_in = select(*columns).join_from(Assignment, Hit, of_offer)
        for assignment, worker, hit in session.execute(handed_in):
            platform.add(assignment, worker, hit=hit)
    # Names of examples lead nowhere, and machines that take pictures may have no network.
    delivery.resolve_host = lambda *_: ["93.184.215.14"]
    for module in (run_payments, recruitment):
        module.open_platform = lambda *_, **__: platform  # type: ignore[attr-defined]
    return app, run, found


def take(browser: Browser, folder: Path, out: Path) -> None:
    """Take every picture of an installation that is made in a folder."""
    app, run, found = installed(folder)
    with served(app) as address:
        pages_url = f"{address}/researcher"
        page = browser.new_page(viewport=DESK)  # type: ignore[arg-type]
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        shot = Pictures(page, out).take
        has_owner, users.has_owner = users.has_owner, lambda _: False
        token = users.make_first_owner_token(app.extensions["parallax"].tokens, utc_now())
        page.goto(f"{pages_url}/first-owner?token={token}")
        shot("first_owner")
        users.has_owner = has_owner
        page.goto(f"{pages_url}/sign-in")
        shot("sign_in")
        sign_in(page)
        write(page, f"{pages_url}/", {"run": run, "late": found["late"]})
        html = do_jobs(folder, run)
        for name, path in walk.addresses(run).items():
            page.goto(f"{pages_url}/{path}")
            shot(name)
        here = f"{pages_url}/runs/{run}"
        page.goto(f"{here}/participants/{found['late']}")
        shot("participant")
        page.goto(f"{here}/film?who={found['late']}&beside={found['double_device']}")
        shot("film")
        walk.make_a_study(page, pages_url, "my_study", shot)
        walk.make_a_project(page, pages_url, "reading-lab", shot)
        walk.make_keys(page, pages_url, "ben", shot)
        page.goto(f"{here}/participants/{found['bot']}")
        reason = "The answers came faster than anybody reads."
        walk.settle(page, reason, shot, says="with the platform's fee")
        walk.recruit(page, pages_url, run, shot)
        walk.share_a_report(page, pages_url, app, run, html, shot)
        page.goto(f"{pages_url}/runs/none")
        shot("error")
        walk.set_a_second_factor_up(page, pages_url, "anna", PASSWORD, shot)


def sign_in(page: Page) -> None:
    """Sign anna in."""
    page.locator("[name=name]").fill("anna")
    page.locator("[type=password]").fill(PASSWORD)
    page.locator("main button").first.click()
    page.get_by_role("heading", name="Runs").wait_for()


def do_jobs(folder: Path, run: str) -> str:
    """Do what was asked for, as the queue does, and return the report that was made."""
    jobs, report = Jobs(folder), ""
    for job in list(jobs.list_all()):
        state = do_job(folder, job.id, utc_now)
        assert state is JobState.DONE, jobs.find(job.id).text
        if job.subject == run:
            report = (jobs.folder(job.id) / RESULT_FOLDER / "report.html").read_text("utf-8")
    return report


def write(page: Page, pages_url: str, names: dict[str, str]) -> None:
    """Send the forms that somebody would have filled in before."""
    page.goto(pages_url)
    token = page.locator("[name=form_token]").first.get_attribute("value")
    for path, form in WRITTEN:
        fields = [("form_token", str(token))]
        for name, value in form.items():
            values = value if isinstance(value, list) else [value]
            fields += [(name, each.format(**names)) for each in values]
        body = "&".join(f"{name}={value}".replace(" ", "+") for name, value in fields)
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": pages_url[:-12]}
        answer = page.context.request.post(
            pages_url + path.format(**names), data=body, headers=kind
        )
        assert answer.ok, (path, answer.status, answer.text()[:400])


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=CHROMIUM.find())
    parser.add_argument("--out", type=Path, default=IMAGES / "researcher")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        take(browser, Path(folder), options.out)
        browser.close()


if __name__ == "__main__":
    main()
