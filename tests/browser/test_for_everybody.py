"""What a browser lacks, or what stands in a page's way, harms nobody and stops nobody."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import certify
from tests.browser.browser_steps import (
    answer_by_click,
    assert_good,
    choose,
    consent,
    expect_page,
    expect_saved,
    let_frames_pass,
    minimal,
    questionnaire,
    start,
)
from webapp.database.engine import reading
from webapp.database.models import Event, Participant, Run
from webapp.runs.integrity import load_observed_sessions
from webapp.runs.runs import find_named_run
from webapp.services import EXTENSION

# What filter lists take out of pages: things that look like counters, bars and notices.
BLOCKED = "#bar, #count, #indicator, .progress, #offline, #refused, #so-far, #unsaved, .keys"


def test_without_javascript_nobody_can_agree_and_no_place_is_taken(site, link, new_context):
    page = new_context(java_script_enabled=False).new_page()
    page.goto(link)
    assert "This study needs JavaScript" in page.content()
    expect(page.locator("button[value=accept]")).to_be_hidden()
    assert site.stored(link) == []


def test_a_blocker_that_removes_what_looks_like_a_counter_stops_nobody(site, link, page):
    page.add_init_script(
        f"""new MutationObserver(() => {{
          for (const one of document.querySelectorAll({BLOCKED!r})) one.remove();
        }}).observe(document, {{ childList: true, subtree: true }});"""
    )
    consent(page, link)
    start(page)
    for _ in range(8):
        let_frames_pass(page, 3)
        page.locator("[data-side=first]").click()
    questionnaire(page)
    assert len(site.stored(link)[0].responses) == 8


def test_each_page_has_a_title_of_its_own_and_is_read_from_its_heading(link, page):
    titles = []
    consent(page, link)
    expect(page.locator("#instructions h1")).to_be_focused()
    titles.append(page.title())
    start(page)
    answer_by_click(page, 8)
    expect_page(page, "questionnaire")
    titles.append(page.title())
    questionnaire(page)
    expect(page.locator("main h1")).to_be_focused()
    titles.append(page.title())
    assert len(set(titles)) == len(titles), titles
    assert_good(page, "the closing page with its code")


def test_who_declined_may_think_better_of_it(site, link, page):
    page.goto(link)
    page.locator("button[value=decline]").click()
    expect_page(page, "declined")
    assert_good(page, "the page of who declined")
    page.locator("main a.button").click()
    expect_page(page, "consent")
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    assert [one.state for one in site.stored(link)][-1] == "working"


def test_a_code_is_copied_by_its_button(link, new_context):
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    consent(page, link)
    start(page)
    answer_by_click(page, 8)
    questionnaire(page)
    code = page.locator("code").inner_text()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == code


PANEL = """
[panel]
preset = "prolific"
[panel.codes]
completed = "DONE1234"
no_consent = "GONE1234"
"""
PERSON = "5f1a2b3c4d5e6f7a8b9c0d1e"


@pytest.fixture
def panel_link(site, tmp_path: Path) -> str:
    study = minimal(tmp_path)
    toml = study / "study.toml"
    toml.write_text(toml.read_text("utf-8") + PANEL, "utf-8")
    return site.launch(study, "panel")


def test_the_closing_page_sends_nobody_away_who_reads_on_or_wants_to_stay(panel_link, page):
    page.clock.install()
    sent = []
    page.route("https://*.prolific.com/**", lambda route: (sent.append(1), route.abort()))
    consent(page, f"{panel_link}?PROLIFIC_PID={PERSON}")
    start(page)
    answer_by_click(page, 8)
    questionnaire(page)
    assert_good(page, "the closing page with a way back")
    page.clock.run_for(280_000)
    page.mouse.move(30, 40)
    page.clock.run_for(280_000)
    assert not sent, "somebody moved the mouse"
    page.get_by_role("button", name="Stay on this page").click()
    page.clock.run_for(900_000)
    assert not sent, "somebody wants to stay"
    expect(page.locator("main")).to_contain_text("Your own code")


def shown_otherwise(site, link: str) -> list[tuple[str, str]]:
    with reading(site.sessions) as session:
        of_run = select(Event).join(Participant).join(Run)
        found = of_run.where(Run.ref == link.rpartition("/")[2], Event.kind == "shown_otherwise")
        return sorted((e.detail["position"], e.detail["what"]) for e in session.scalars(found))


def test_a_text_that_was_changed_on_the_screen_is_marked(site, link, page):
    consent(page, link)
    start(page)
    answer_by_click(page, 1)
    expect(page.locator("#trial")).to_have_attribute("translate", "no")
    page.evaluate("document.querySelector('[data-field=second]').textContent = 'Übersetzt.'")
    answer_by_click(page, 1)
    answer_by_click(page, 1)
    expect_saved(page)
    assert shown_otherwise(site, link) == [("2", "text")]


def test_an_option_beyond_the_window_is_marked(site, link, new_context):
    page = new_context(viewport={"width": 320, "height": 150}).new_page()
    consent(page, link)
    start(page)
    answer_by_click(page, 1)
    expect_saved(page)
    assert ("1", "scroll") in shown_otherwise(site, link)


def test_an_english_text_in_a_hebrew_page_ends_with_its_full_stop(site, page, tmp_path: Path):
    link = site.launch(minimal(tmp_path, language="he"))
    consent(page, link)
    start(page)
    assert page.locator("html").get_attribute("dir") == "rtl"
    text = page.locator("[data-field=first] > span")
    assert text.evaluate("one => getComputedStyle(one).direction") == "ltr"


# What programs do that read a page aloud: each word gets an element of its own, the line is spaced.
READS_ALOUD = """new MutationObserver(() => {
  for (const text of document.querySelectorAll("#trial [data-field] > span:not([data-read])")) {
    text.dataset.read = "";
    const words = text.textContent.split(/(?<= )/).map((word) => {
      const one = document.createElement("mark");
      one.textContent = word;
      return one;
    });
    text.replaceChildren(...words);
    text.style.cssText = "letter-spacing: .12em; word-spacing: .16em; line-height: 1.5";
  }
}).observe(document, { childList: true, subtree: true });"""


def test_who_has_words_read_aloud_and_marked_and_answers_by_tab_and_space_is_a_person(
    site, link, page
):
    page.add_init_script(READS_ALOUD)
    consent(page, link)
    start(page)
    for _ in range(8):
        expect(page.locator("#trial mark").first).to_be_visible()
        choose(page, lambda: (page.keyboard.press("Tab"), page.keyboard.press("Space")))
    questionnaire(page)
    assert shown_otherwise(site, link) == []
    assert {one.input_method for one in site.stored(link)[0].responses} == {"key"}
    with reading(site.sessions) as session:
        run = find_named_run(session, link.rpartition("/")[2])
        study = site.app.extensions[EXTENSION].study_of(session, run)
        ((_, seen),) = load_observed_sessions(session, run, study)
    # The browser of this test says truly that a program drives it.
    assert flags(certify(replace(seen, automated=False))) == {}
