"""Every page looks as it did when somebody last looked: the pictures of docs/gallery.md, and what a
screen reader reads on it: read_aloud.md.

They are compared on any machine that has the browser's version they were taken with: the browser
knows the fonts that come with Matplotlib alone. After a change that is meant, ``pytest
tests/browser/test_pictures.py --regen-all`` takes them anew: look at each one.
"""

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from tests.browser.browser_site import Site
from tests.browser.browser_steps import (
    answer_by_key,
    choose,
    expect_page,
    expect_saved,
    minimal,
    start,
)
from tests.browser.conftest import launched
from tests.prerequisites import without_window
from webapp.core.clock import utc_now
from webapp.runs.runs import close_run, find_named_run

GALLERY = Path(__file__).parents[2] / "docs" / "images" / "pages"
READ_ALOUD = Path(__file__).with_name("read_aloud.md")
MADE_WITH = GALLERY / "made_with.txt"
DESKTOP = {"viewport": {"width": 960, "height": 600}}
VIEWS = {
    "desktop": DESKTOP,
    "phone": {"viewport": {"width": 320, "height": 568}, "is_mobile": True, "has_touch": True},
    "dark": {**DESKTOP, "color_scheme": "dark"},
    "forced_colors": {**DESKTOP, "forced_colors": "active"},
    "right_to_left": DESKTOP,
}
PAGES = {
    "consent": "Consent",
    "declined": "Declined",
    "instructions": "Instructions",
    "practice": "Practice",
    "feedback": "Feedback after a practice trial",
    "trial": "Trial",
    "way_back": "The invitation opened again",
    "break": "Break",
    "offline": "All trials answered, connection lost",
    "questionnaire": "Questionnaire",
    "missing_answer": "An answer is missing",
    "closing": "Closing",
    "way_out": "Stop and leave",
    "withdrawn": "Withdrawn",
    "unknown_link": "An invalid link",
    "closed": "The study has ended",
}
FOCUSED = """() => {
  const at = document.activeElement;
  if (at === document.body) return "the beginning of the page";
  if (at.getAttribute("role") === "group") return "the group of options";
  return at.getAttribute("aria-label") || at.textContent.trim().replace(/\\s+/g, " ").slice(0, 60)
    || at.tagName.toLowerCase();
}"""
FONTCONFIG = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{fonts}</dir>
  <cachedir>{cache}</cachedir>
  <alias><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <match target="font">
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
  </match>
</fontconfig>
"""
# In per cent of the largest possible difference: a word that moves is more.
DIFFERENCE = 0.02
# What is drawn by lot for each person: their own code.
CODES = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    text.data = text.data.replace(/\\b[a-hjkmnp-z2-9]{12}\\b/g, "abcdefgh2345");
  }
}"""


def rounded(taken: bytes, *, small: bool) -> bytes:
    """Return a picture with each colour rounded to one of 52 depths.

    With 16 of them, the pages' warm grey became pink.

    Args:
        taken: The picture.
        small: Whether it is kept, and so is worth 0.1 s to be a part of the bytes: the same colours
            by number.
    """
    depths = [5 * round(level / 5) for level in range(256)]
    picture = Image.open(io.BytesIO(taken)).convert("RGB").point(depths * 3)
    kept = io.BytesIO()
    if small and (colours := picture.getcolors(256)):
        picture = picture.quantize(len(colours), dither=Image.Dither.NONE)
    picture.save(kept, "png", optimize=small, compress_level=9 if small else 1)
    return kept.getvalue()


@pytest.fixture(scope="session")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every font that the browser finds."""
    folder = tmp_path_factory.mktemp("fonts")
    for path in Path(matplotlib.get_data_path(), "fonts", "ttf").glob("DejaVuSans*.ttf"):
        (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture(scope="session")
def browser(
    playwright: Playwright, fonts: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """A Chromium that finds no font of the machine."""
    settings = tmp_path_factory.mktemp("fontconfig") / "fonts.conf"
    settings.write_text(FONTCONFIG.format(fonts=fonts, cache=settings.parent))
    environment = {**os.environ, "FONTCONFIG_FILE": str(settings)}
    yield from launched(playwright, without_window(), environment=environment)


@pytest.fixture(scope="session")
def made_with(browser: Browser, fonts: Path) -> str:
    """What decides how letters look: the browser's version and the fonts."""
    digest = hashlib.sha256()
    for path in sorted(fonts.iterdir()):
        digest.update(path.read_bytes())
    return f"Chromium {browser.version}, fonts {digest.hexdigest()[:16]}\n"


@pytest.fixture
def original_datadir() -> Path:
    """Where the pictures are kept: they are shown in the documentation as well."""
    return GALLERY


@pytest.fixture
def look(image_regression, made_with: str, request) -> Callable[[Page, str], None]:
    """Return a function that compares a page with its picture."""
    if anew := request.config.getoption("regen_all"):
        MADE_WITH.write_text(made_with)
    elif made_with != (theirs := MADE_WITH.read_text()):
        pytest.skip(f"the pictures were made with {theirs.strip()}, and here is {made_with}")

    def compare(page: Page, name: str) -> None:
        page.evaluate(CODES)
        taken = page.screenshot(animations="disabled", caret="hide")
        picture = rounded(taken, small=anew)
        image_regression.check(picture, diff_threshold=DIFFERENCE, basename=name)

    return compare


def a_study(folder: Path, language: str) -> Path:
    trial = 'lockout_ms = 0\nbreak_every = 4\npractice = "practice.toml"'
    study = minimal(folder, trial=trial, language=language)
    (study / "practice.toml").write_text(
        '[[practice]]\ngood = "the cat sleeps"\nbad = "the cat sleep"\nfeedback = "One cat."\n'
    )
    return study


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_looks_as_it_did(
    site: Site,
    new_context: Callable[..., BrowserContext],
    tmp_path: Path,
    look: Callable[[Page, str], None],
    request: pytest.FixtureRequest,
    view: str,
):
    link = site.launch(a_study(tmp_path, "ar" if view == "right_to_left" else "en"))
    page, seen = new_context(**VIEWS[view], reduced_motion="reduce").new_page(), []
    told = list[str]()

    def see(name: str) -> None:
        look(page, f"{view}_{name}")
        seen.append(name)
        if view != "desktop":
            return  # what is read aloud is the same
        focused = page.evaluate(FOCUSED)
        # Addresses are drawn by lot, and are not read.
        tree = re.sub(r":\n +- /url: .*", "", page.locator("body").aria_snapshot())
        told.append(f"## {PAGES[name]}\n\nFocus: {focused}.\n\n```yaml\n{tree}\n```\n")

    page.goto(link)
    see("consent")
    page.locator("button[value=decline]").click()
    expect_page(page, "declined")
    see("declined")
    page.goto(link)
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    expect(page.locator("#instructions [data-go-on]")).to_be_enabled()
    see("instructions")
    start(page)
    see("practice")
    choose(page, lambda: page.keyboard.press("1"))
    see("feedback")
    page.locator("#feedback button").click()
    answer_by_key(page, 1)
    expect_saved(page)
    see("trial")
    page.goto(link)
    expect(page.locator("#begun-before")).to_be_visible()
    see("way_back")
    page.locator("#begun-before a").click()
    start(page)
    answer_by_key(page, 3)
    expect(page.locator("#break")).to_be_visible()
    expect_saved(page)
    see("break")
    page.context.set_offline(True)
    page.locator("#break button").click()
    answer_by_key(page, 4)
    expect(page.locator("#leaving")).to_be_visible()
    expect(page.locator("#offline")).to_be_visible()
    see("offline")
    page.context.set_offline(False)
    expect_page(page, "questionnaire")
    see("questionnaire")
    page.locator("textarea").fill(" ")
    page.locator("button.primary").click()
    expect(page.locator(".problem").first).to_be_visible()
    see("missing_answer")
    page.locator("textarea").fill("English")
    page.locator("button.primary").click()
    expect_page(page, "closing")
    see("closing")
    page.goto(link)
    page.locator("button[value=accept]").click()
    start(page)
    page.locator(".way-out a").click()
    expect_page(page, "withdraw")
    see("way_out")
    page.locator("button[value=erase]").click()
    expect_page(page, "withdrawn")
    see("withdrawn")
    page.goto(f"{site.origin}/p/nothing/")
    see("unknown_link")
    with site.sessions.begin() as session:
        close_run(session, find_named_run(session, link.rpartition("/")[2]), utc_now())
    page.goto(link)
    see("closed")
    assert seen == list(PAGES)
    if view == "desktop":
        introduction, heading, _ = READ_ALOUD.read_text("utf-8").partition("## Consent")
        said = introduction + "\n".join(told)
        if request.config.getoption("regen_all"):
            READ_ALOUD.write_text(said, "utf-8")
        assert heading and READ_ALOUD.read_text("utf-8") == said


def test_the_gallery_shows_every_picture_and_no_other():
    shown = (GALLERY.parents[1] / "gallery.md").read_text("utf-8")
    kept = {path.name for path in GALLERY.glob("*.png")}
    assert kept == {f"{view}_{name}.png" for view in VIEWS for name in PAGES}
    assert all(f"images/pages/{name}" in shown for name in kept)
