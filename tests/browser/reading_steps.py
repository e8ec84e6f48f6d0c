"""What a person does in a browser with what is read step by step."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.browser_steps import let_frames_pass

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PLACES = """() => JSON.stringify([...document.querySelectorAll(".step, [data-next], .maze .option")]
  .map(one => { const { x, y, width, height } = one.getBoundingClientRect();
                return [x, y + scrollY, width, height]; }))"""
TIME_IS_UP = "Time is up. Please go on now."


def study(name: str, folder: Path, **changed: str) -> Path:
    copied = shutil.copytree(EXAMPLES / name, folder / name)
    toml = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"',
                  (copied / "study.toml").read_text("utf-8"), flags=re.MULTILINE)  # fmt: skip
    toml = toml.replace('practice = "practice.toml"', 'lockout_ms = 0\npractice = "practice.toml"')
    for key, value in changed.items():
        toml = re.sub(f'^{key} = "[^"]*"', f'{key} = "{value}"', toml, flags=re.MULTILINE)
    (copied / "study.toml").write_text(toml, encoding="utf-8")
    return copied


def of_four_trials(copied: Path) -> Path:
    """Leave a copied study two frames and two fillers, asked nothing and each kind of question."""
    items = (copied / "items.tsv").read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in items[1:] if re.match(r"\w+-[2479]-", line)]
    (copied / "items.tsv").write_text("".join([items[0], *kept]), encoding="utf-8")
    toml = (copied / "study.toml").read_text("utf-8")
    toml = toml.replace("trials_per_list = 10", "trials_per_list = 4")
    toml = toml.replace("frames = 6", "frames = 2")
    (copied / "study.toml").write_text(toml, encoding="utf-8")
    return copied


def answer_question(page: Page, key: str = "1") -> None:
    if page.locator(".asked").is_visible():
        let_frames_pass(page, 3)
        page.keyboard.press(key)


def read_one(page: Page, press: Callable[[], None], answered_by: str = "1") -> list[str]:
    """Read the sentence on the screen; return what each press showed."""
    shown, before = [], page.evaluate(PLACES)
    steps = page.locator(".step").count()
    for _ in range(steps):
        let_frames_pass(page, 3)
        press()
        expect(page.locator(".step .text")).to_have_count(1)
        shown.append(page.locator(".step .text").inner_text())
        assert page.evaluate(PLACES) == before
    let_frames_pass(page, 3)
    press()
    answer_question(page, answered_by)
    return shown


def past_practice(page: Page) -> None:
    page.locator("#feedback [data-go-on]").click()


def timed(folder: Path, **deadlines: int) -> Path:
    """Give types of response in a copied study a deadline, in ms."""
    toml = (folder / "study.toml").read_text("utf-8")
    for name, ms in deadlines.items():
        toml = toml.replace(f'response = "{name}"\n', f'response = "{name}"\ndeadline_ms = {ms}\n')
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    return folder
