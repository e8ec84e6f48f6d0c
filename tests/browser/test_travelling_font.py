"""A study's font is fetched before the first trial, and its absence is said of each trial."""

import base64
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tests.browser.browser_steps import answer_by_key, consent, expect_saved, minimal, start
from webapp.database.engine import reading
from webapp.database.models import Event, Participant

WIDTH = """font => {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.font = font;
  return canvas.measureText("the authors that the guards like laugh").width;
}"""
NOTO = 'lockout_ms = 0\nfont = "noto"'
DRAWN = '20px "Parallax Text", monospace'


def shown_otherwise(site) -> list[str]:
    """Return what was shown otherwise to who came last."""
    with reading(site.sessions) as session:
        last = select(func.max(Participant.id)).scalar_subquery()
        events = select(Event.detail).where(
            Event.kind == "shown_otherwise", Event.participant_id == last
        )
        return [detail["what"] for detail in session.scalars(events)]


def test_noto_travels_with_the_page_script_by_script(site, page, tmp_path: Path):
    asked = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    consent(page, site.launch(minimal(tmp_path, trial=NOTO)))
    start(page)
    fonts = [name for name in asked if name.endswith(".woff2")]
    assert fonts == ["noto-sans-latin.woff2"]
    # Whatever fonts a machine has, letters are as wide as the font.s own advances.
    assert page.evaluate(WIDTH, DRAWN) == pytest.approx(355.3, abs=1)
    answer_by_key(page, 2)
    expect_saved(page)
    assert "font" not in shown_otherwise(site)


def test_a_font_that_does_not_come_is_said_of_each_trial(site, page, tmp_path: Path):
    page.route("**/*.woff2", lambda route: route.abort())
    consent(page, site.launch(minimal(tmp_path, trial=NOTO)))
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    assert shown_otherwise(site).count("font") == 2


def test_a_font_of_the_study_lies_in_its_page(site, page, tmp_path: Path):
    file = Path(site.app.root_path) / "static" / "noto-sans-greek.woff2"
    study = minimal(tmp_path, trial='lockout_ms = 0\nfont = "own.woff2"')
    (study / "own.woff2").write_bytes(file.read_bytes())
    consent(page, site.launch(study))
    source = page.locator("#trial").get_attribute("data-font-src")
    assert base64.b64decode(source.partition(",")[2]) == file.read_bytes()
    start(page)
    assert page.evaluate("document.fonts.check('1em \"Parallax Text\"', 'αβγ')")
    answer_by_key(page, 1)
    expect_saved(page)
    assert "font" not in shown_otherwise(site)


def test_a_font_that_an_extension_puts_in_its_place_is_said_of_each_trial(
    site, page, tmp_path: Path
):
    consent(page, site.launch(minimal(tmp_path, trial=NOTO)))
    page.evaluate("""() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("* { font-family: OpenDyslexic, monospace !important }");
      document.adoptedStyleSheets = [sheet];
    }""")
    start(page)
    answer_by_key(page, 2)
    expect_saved(page)
    assert shown_otherwise(site).count("font") == 2
