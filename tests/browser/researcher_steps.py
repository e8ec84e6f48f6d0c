"""What researchers do with a study in the browser: upload, launch, publish, watch, put away."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.browser_steps import minimal
from tests.browser.researcher_lab import PANEL, Lab
from tests.patience import PATIENCE_S
from webapp.recruiters.demonstration import LISTED

# A job's processes start one after the other, on a machine with other work.
JOB_MS = 1000 * PATIENCE_S / 4


def upload(page: Page, lab: Lab, folder: Path) -> str:
    """Upload a panel's study, and return what it is called here."""
    study = minimal(folder)
    values = f'site = "{lab.panels}", experiment_id = "{LISTED}"'
    with (study / "study.toml").open("a") as file:
        file.write(f'\n[panel]\npreset = "{PANEL}"\nvalues = {{ {values} }}\n')
    archive = shutil.make_archive(str(folder / "mine"), "zip", folder, "minimal")
    page.goto(f"{lab.researcher_url}/launch")
    page.get_by_label("Zip file").set_input_files(archive)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_text("the study can be launched")).to_be_visible()
    return page.get_by_role("heading", level=1).first.inner_text()  # the consent has one, too


def launch(page: Page, lab: Lab, study: str, recruiter: str) -> None:
    page.goto(f"{lab.researcher_url}/launch")
    page.locator("select[name=study]").select_option(study)
    page.locator("select[name=recruiter]").select_option(recruiter)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_label("Programs will answer, not people").check()
    page.get_by_role("button", name=f"Launch with seed 1, recruiter {recruiter}").click()
    expect(page.get_by_text("simulated", exact=True)).to_be_visible()


def send_programs(page: Page, number: int) -> None:
    """Let programs take part, see their job end well, and go back to the overview."""
    page.get_by_role("link", name="Reports").click()
    page.get_by_label("How many programs").fill(str(number))
    page.get_by_role("button", name="Let them take part").click()
    ended = page.get_by_text(re.compile("^(done|failed)$"))
    expect(ended).to_be_visible(timeout=JOB_MS)
    assert ended.inner_text() == "done", page.locator("main").inner_text()
    page.get_by_role("link", name="Overview").click()


def figure(page: Page, name: str, value: str) -> None:
    """Expect one of the overview's figures."""
    wanted = re.compile(rf"^\s*{name}\s*{re.escape(value)}")
    expect(page.locator("dl.figures > div").filter(has_text=wanted)).to_be_visible()


def figures(page: Page) -> dict[str, int]:
    """Return the overview's figures that are whole numbers, by their names."""
    texts = page.locator("dl.figures > div").all_inner_texts()
    pairs = (re.fullmatch(r"\s*(.*?)\s+(\d+)(?:\s*/.*)?\s*", text, re.DOTALL) for text in texts)
    return {found[1]: int(found[2]) for found in pairs if found}


def put_away(page: Page) -> None:
    title = page.get_by_role("heading", level=1).inner_text().rpartition("run ")[2]
    page.get_by_role("button", name="Close: let nobody new in").click()
    page.get_by_role("button", name="Put into the archive").click()
    expect(page.get_by_text("The run is in the archive.", exact=True)).to_be_visible()
    page.get_by_role("link", name="Runs").first.click()
    expect(page.get_by_text(f"run {title}")).to_have_count(0)
    page.get_by_role("link", name="The archive").click()
    expect(page.get_by_text(f"run {title}")).to_be_visible()


def publish(page: Page, name: Callable[[str], None]) -> None:
    page.get_by_role("button", name="Recruitment…").click()
    name("plan")
    page.get_by_role("button", name=re.compile("^Yes: publish for")).click()
