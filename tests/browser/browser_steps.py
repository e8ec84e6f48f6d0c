"""What a participant does in the browser, and the studies they do it in."""

import shutil
from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Frame, Page, expect

from experiment.studies.load import STUDIES_FOLDER

Window = Page | Frame
# Two animation frames, as the page itself waits: after them the trial takes answers.
_PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def minimal(
    folder: Path, *, language: str = "en", trial: str = "lockout_ms = 0", **changes: str
) -> Path:
    """Copy the minimal study in another language, with other trial keys, with changed lines."""
    study = folder / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", study)
    if not (study / "texts" / language).exists():
        shutil.copytree(study / "texts" / "en", study / "texts" / language)
    lines = (study / "study.toml").read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        key = line.partition(" =")[0]
        changed = {"language": f'"{language}"', **changes}
        lines[number] = f"{key} = {changed[key]}" if key in changed else line
    (study / "study.toml").write_text("\n".join([*lines, "[trial]", trial, ""]), encoding="utf-8")
    return study


def minimal_with_24_trials(folder: Path) -> Path:
    """Copy the minimal study with twelve frames for each construction."""
    return minimal(folder, trials_per_list="24", frames="12")


def enter_researcher_pages(page: Page, address: str, name: str, password: str) -> None:
    """Open a researcher page and sign in, which leads back to it."""
    page.goto(address)
    for label, typed in (("Name", name), ("Password", password)):
        page.get_by_label(label).fill(typed)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").wait_for()


def consent(page: Page, link: str) -> None:
    """Come to the run and agree; the instructions are then shown."""
    page.goto(link)
    page.locator("button[value=accept]").click()
    expect_page(page, "working")


def start(window: Window) -> None:
    """Leave the instructions for the trials, and wait until the first takes an answer."""
    window.locator("#instructions [data-go-on]").click()
    expect(window.locator("#trial")).to_be_visible()
    window.evaluate(_PAINTED)


def count(window: Window) -> str:
    """What the page says of the trial's place in the sequence."""
    return window.locator("#count").inner_text()


def choose(window: Window, act: Callable[[], object]) -> None:
    """Answer the trial on the screen and wait until it has gone."""
    window.evaluate(_PAINTED)
    shown = window.evaluate(_SHOWN)
    act()
    window.wait_for_function(f"before => ({_SHOWN})() !== before", arg=shown)


_SHOWN = """() => {
  const trial = document.getElementById("trial");
  return trial && !trial.hidden && document.getElementById("feedback").hidden
    ? document.getElementById("count").textContent : "gone";
}"""


def let_frames_pass(window: Window, frames: int) -> None:
    """Wait until the page has drawn itself so many times, however long that takes."""
    window.evaluate(_FRAMES, frames)


_FRAMES = """async frames => {
  for (; frames > 0; frames -= 1) await new Promise(requestAnimationFrame);
}"""


def outlast_the_lockout(window: Window) -> None:
    """Wait, by the page's own clock, until the trial on the screen takes answers."""
    window.evaluate(_PAINTED)
    window.evaluate(_LOCKED_OUT)


_LOCKED_OUT = """() => {
  const { lockout_ms } = JSON.parse(document.getElementById("session").textContent);
  return new Promise(done => setTimeout(done, lockout_ms + 20));  // timers may be a little early
}"""


def answer_by_key(page: Page, trials: int, key: str = "1") -> None:
    """Answer so many trials with one key."""
    for _ in range(trials):
        choose(page, lambda: page.keyboard.press(key))


def answer_by_click(window: Window, trials: int, side: str = "first") -> None:
    """Answer so many trials by clicking the same side."""
    for _ in range(trials):
        choose(window, window.locator(f"[data-side={side}]").click)


def expect_saved(window: Window) -> None:
    """Wait until the server has acknowledged everything."""
    expect(window.locator("#indicator")).to_have_attribute("data-state", "saved")


def expect_kept(window: Window, answers: int) -> None:
    """Wait until the connection is known to be gone and so many answers lie in the browser."""
    expect(window.locator("#offline")).to_be_visible()
    window.wait_for_function(_KEPT, arg=answers)


_KEPT = """wanted => new Promise((resolve, reject) => {
  const opening = indexedDB.open("parallax");
  opening.onerror = reject;
  opening.onsuccess = () => {
    const counting = opening.result.transaction("answers").objectStore("answers").count();
    counting.onsuccess = () => { opening.result.close(); resolve(counting.result === wanted); };
  };
})"""


def questionnaire(window: Window) -> None:
    """Answer the questionnaire."""
    expect_page(window, "questionnaire")
    window.locator("textarea[name=native_language]").fill("English")
    window.locator("button.primary").click()
    expect_page(window, "closing")


def expect_page(window: Window, name: str) -> None:
    """Wait for the page of that name."""
    expect(window.locator("body")).to_have_attribute("data-page", name)


# The rules of WCAG 2.2 up to level AA, and axe-core's own good practices.
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Those of them that a screen, its colours and its size decide; the others are of the page itself.
_OF_THE_SCREEN = {
    "type": "rule",
    "values": [
        "color-contrast",
        "link-in-text-block",
        "scrollable-region-focusable",
        "target-size",
    ],
}
# What a page does well is long, and nobody reads it.
_VIOLATIONS = "async rules => ({ violations: (await axe.run(rules)).violations })"
# Links in a sentence may be as small as its text (WCAG 2.2, 2.5.8), a field as large as its label.
_SMALL_TARGETS = """() => [...document.querySelectorAll(
  "button, a[href], input:not([type=hidden]), select, textarea, summary")]
  .filter(one => one.checkVisibility())
  .filter(one => !one.matches("a") || getComputedStyle(one).display !== "inline"
    || one.parentElement.textContent.trim() === one.textContent.trim())
  .map(one => [one, (one.closest("label") ?? one).getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 24 || height < 24)
  .map(([one, { width, height }]) => `${one.outerHTML.slice(0, 60)} is ${width} x ${height}`)"""


def assert_good(window: Window, name: str, *, known: bool = False) -> None:
    """Fail on what axe-core objects to, targets under 24 px, and a page wider than the window.

    Args:
        window: What is looked at.
        name: What it is called where it fails.
        known: Whether the same page was looked at on another screen.
    """
    # Before its style sheets have arrived, a page has text already, but no layout.
    window.wait_for_load_state()
    rules = {"runOnly": _OF_THE_SCREEN if known else _RULES, "resultTypes": ["violations"]}
    # Half a megabyte of program: a page that is looked at again has it.
    if not window.evaluate("'axe' in window"):
        window.evaluate(AXE_SCRIPT)
    results = AxeResults(window.evaluate(_VIOLATIONS, rules | {"preload": False}))
    assert results.violations_count == 0, f"{name}: {results.generate_report()}"
    small = window.evaluate(_SMALL_TARGETS)
    assert not small, f"{name}: {small}"
    wide = window.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{name} is {wide} px too wide"
