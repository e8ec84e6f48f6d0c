"""Take the pictures of docs/images: participant pages, researcher pages, or the examples.

Usage: python benchmarks/screenshots.py [--chromium PATH] [--out docs/images]
                                        [--study marvin_linzen_2018] [--trial 12]
       python benchmarks/screenshots.py --researcher
       python benchmarks/screenshots.py --examples
"""

import argparse
import io
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Flask
from PIL import Image
from planted import LOOKER, plant
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from experiment.studies.load import load_study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.models import Run
from webapp.gate.gate import begin_ledger_entry, record_reconciliation, store_ledger_state
from webapp.jobs.housekeeping import summarise_run
from webapp.runs.blinding import unblind_run
from webapp.runs.launch import launch_run
from webapp.runs.runs import load_launched_study

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

IMAGES = Path(__file__).parent.parent / "docs" / "images"
EXAMPLES = IMAGES.parent / "examples"
SWITCHES = ["--no-sandbox", "--disable-gpu"]
# The pages have a handful of colours; the others are the soft edges of letters.
COLOURS = 128
SMALL = {"viewport": {"width": 720, "height": 360}}
HIGHER = {"viewport": {"width": 720, "height": 520}}
TALL = {"viewport": {"width": 1200, "height": 1500}}
LAPTOP = {"viewport": {"width": 900, "height": 620}}
PHONE = {
    "viewport": {"width": 360, "height": 640},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


@contextmanager
def served_run(instance: Path, study: str) -> Iterator[str]:
    """Yield the link of a run that a server answers for."""
    app = create_app(instance)
    with app.extensions["parallax"].sessions.begin() as session:
        ref = launch_run(
            session, load_study(study), 1, "direct", now=utc_now(), code_version="0"
        ).ref
    with served(app) as address:
        yield f"{address}/run/{ref}"


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """Yield the address at which a server answers for an installation."""
    server = make_server("localhost", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        app.extensions["parallax"].engine.dispose()


def save(page: Page, folder: Path, name: str) -> None:
    """Take a picture of the window."""
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
    keep(picture, folder / f"{name}.png")


def keep(picture: Image.Image, path: Path) -> None:
    """Store a picture in few colours, and say how large it is."""
    # The default method takes the colours of the largest areas, and a bar's green is lost.
    small = picture.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE)
    small.save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} KB", flush=True)


def to_trial(page: Page, link: str, number: int) -> None:
    """Go on until the trial of that number is on the screen."""
    page.goto(link)
    page.locator("button[value=accept]").click()
    page.locator("#instructions [data-go-on]").click()
    for position in range(1, number):
        answer(page, position)
    page.get_by_text(f"{number} of").wait_for()


def answer(page: Page, position: int) -> None:
    """Answer the trial at that position once it takes answers."""
    page.get_by_text(f"{position} of", exact=False).first.wait_for()
    page.wait_for_timeout(200)
    page.keyboard.press("1")


def take_all(browser: Browser, link: str, images: Path, trial: int) -> None:
    """Take every picture; ``trial`` is the number of the one that is shown."""
    page = browser.new_page(**LAPTOP)
    page.goto(link)
    save(page, images, "consent")
    page.locator("button[value=accept]").click()
    page.locator("#instructions [data-go-on]:enabled").wait_for()
    save(page, images, "instructions")
    to_trial(page, link, trial)
    save(page, images, "trial")
    while page.locator("#trial").is_visible():
        page.wait_for_timeout(170)
        page.keyboard.press("2")
    page.locator("body[data-page=questionnaire]").wait_for()
    save(page, images, "questionnaire")
    for field in page.locator("form .question-field").all():
        if field.locator("input[type=radio]").count():
            field.locator("input[type=radio]").first.check()
        else:
            field.locator("input, textarea").fill("30")
    page.locator("button.primary").click()
    page.locator("body[data-page=closing]").wait_for()
    save(page, images, "closing")
    for name, options in (
        ("trial_phone", PHONE),
        ("trial_dark", LAPTOP | {"color_scheme": "dark"}),
    ):
        other = browser.new_page(**options)
        to_trial(other, link, min(trial, 5))
        save(other, images, name)


def take_examples(browser: Browser) -> None:
    """Take a trial of each example study."""
    for study in sorted(EXAMPLES.glob("*/study.toml")):
        name = study.parent.name
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(study.parent, Path(folder) / name)
            # People are asked only for studies that say who answers for them.
            said = re.sub(
                r'^(contact|institution|ethics) = ""',
                r'\1 = "x"',
                study.read_text("utf-8"),
                flags=re.MULTILINE,
            )
            (copy / "study.toml").write_text(said, encoding="utf-8")
            with served_run(Path(folder) / "instance", str(copy)) as link:
                page = browser.new_page(**(HIGHER if name == "scales" else SMALL))
                page.goto(link)
                page.locator("button[value=accept]").click()
                page.locator("#instructions [data-go-on]").click()
                page.locator("#trial").wait_for()
                page.wait_for_timeout(500)
                if page.locator(".overtime").count():
                    page.set_viewport_size({"width": 720, "height": 440})
                    page.locator(".overtime:not(:empty)").wait_for()
                save(page, EXAMPLES / "images", name)
                page.close()


# A moment at which the tenth choice is on the screen.
AFTER_A_CHOICE = """() => {
  const seek = document.querySelector("[data-do=seek]");
  seek.value = films[0].cut[9].until + 0.3;
  seek.dispatchEvent(new Event("input"));
}"""


def take_researcher_pages(browser: Browser, images: Path) -> None:
    """Take the researcher's pages of a run with planted problems, and a bot among its people."""
    with tempfile.TemporaryDirectory() as folder:
        run, password, found = plant(Path(folder), others=30, seed=1, now=utc_now())
        app = create_app(Path(folder))
        sessions = app.extensions["parallax"].sessions
        summarise_run(sessions, run, load_launched_study, utc_now())
        with sessions.begin() as session:
            # As publishing does; else every page says that the ledger's file is missing.
            begin_ledger_entry(session.connection())
            store_ledger_state(session.connection())
            record_reconciliation(session.connection(), run)
        with served(app) as address:
            page = browser.new_page(**TALL)
            page.goto(f"{address}/researcher/")
            page.locator("[name=name]").fill(LOOKER)
            page.locator("[type=password]").fill(password)
            page.locator("main button").first.click()
            page.goto(f"{address}/researcher/runs/{run}")
            page.locator(".charts canvas").first.wait_for()
            save(page, images, "researcher_run")
            page.goto(f"{address}/researcher/runs/{run}/participants/{found['bot']}")
            save(page, images, "researcher_participant")
            small = browser.new_page(**PHONE | {"color_scheme": "dark"})
            small.context.add_cookies(page.context.cookies())
            small.goto(f"{address}/researcher/runs/{run}/participants")
            save(small, images, "researcher_phone")
            with sessions.begin() as session:
                of_run = session.query(Run).filter_by(ref=run).one()
                unblind_run(
                    session, of_run, by="a picture", reason="a film is shown", now=utc_now()
                )
            page.set_viewport_size({"width": 1200, "height": 860})
            two = f"who={found['late']}&beside={found['double_device']}"
            page.goto(f"{address}/researcher/runs/{run}/film?{two}")
            page.locator(".player").wait_for()
            page.evaluate(AFTER_A_CHOICE)
            save(page, images, "researcher_film")


def main() -> None:
    """Serve a run and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=CHROMIUM.find())
    parser.add_argument("--out", type=Path, default=IMAGES)
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--researcher", action="store_true")
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--trial", type=int, default=12)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.examples or options.researcher:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
            if options.examples:
                take_examples(browser)
            else:
                take_researcher_pages(browser, options.out)
            browser.close()
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        served_run(Path(folder), options.study) as link,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        take_all(browser, link, options.out, options.trial)
        browser.close()


if __name__ == "__main__":
    main()
