"""Take the pictures of what is read, on a desktop and on a phone: docs/images/reading.

Usage: python benchmarks/reading_pictures.py [--chromium PATH]
"""

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from screenshots import EXAMPLES, IMAGES, SWITCHES, save, served_run

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

PHONE = {"viewport": {"width": 320, "height": 568}, "is_mobile": True, "has_touch": True}
VIEWS = {"desktop": {"viewport": {"width": 720, "height": 440}}, "phone": PHONE}
# Long enough for two frames on a slow machine.
PAINTED_MS = 300


def press(page: Page, key: str, times: int = 1) -> None:
    """Press a key, each time once the page has painted."""
    for _ in range(times):
        page.keyboard.press(key)
        page.wait_for_timeout(PAINTED_MS)


def region(page: Page) -> None:
    """Show the second region."""
    press(page, "Space", 2)


def asked(page: Page) -> None:
    """Read the first practice sentence, of three regions, to what follows it."""
    press(page, "Space", 4)


def word(page: Page) -> None:
    """Take the first word of a Maze, which has no choice beside it, and show the second."""
    press(page, _right(page, 0))


def wrong(page: Page) -> None:
    """Take the wrong word at the second place."""
    word(page)
    press(page, "f" if _right(page, 1) == "j" else "j")


def late(page: Page) -> None:
    """Wait until the time is up."""
    page.locator(".overtime:not(:empty)").wait_for()


def _right(page: Page, at: int) -> str:
    work = json.loads(page.locator("#session").text_content() or "")
    return "f" if work["practice"][0]["right"][at] == "l" else "j"


# Of each picture: the example, and what is done on its first practice trial.
PICTURES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "region": ("self_paced", region),
    "question": ("self_paced", asked),
    "word": ("maze", word),
    "wrong": ("maze", wrong),
    "scale": ("read_then_rate", asked),
    "late": ("deadline", late),
}


def main() -> None:
    """Serve each example and take its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=CHROMIUM.find())
    options = parser.parse_args()
    out = IMAGES / "reading"
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        for example in dict.fromkeys(name for name, _ in PICTURES.values()):
            with tempfile.TemporaryDirectory() as folder:
                copy = shutil.copytree(EXAMPLES / example, Path(folder) / example)
                toml = (copy / "study.toml").read_text("utf-8")
                named = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"', toml, flags=re.M)
                (copy / "study.toml").write_text(named, encoding="utf-8")
                with served_run(Path(folder) / "instance", str(copy)) as link:
                    for name, (of, act) in PICTURES.items():
                        for view, kind in VIEWS.items() if of == example else ():
                            page = browser.new_context(**kind).new_page()
                            page.goto(link)
                            page.locator("button[value=accept]").click()
                            page.locator("#instructions [data-go-on]").click()
                            page.locator("#trial").wait_for()
                            page.wait_for_timeout(PAINTED_MS)
                            act(page)
                            save(page, out, f"{name}_{view}")
                            page.context.close()
        browser.close()


if __name__ == "__main__":
    main()
