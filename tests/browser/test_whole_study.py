"""From the run's link to the closing page, as different people do it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select
from sqlalchemy.orm.attributes import flag_modified

from tests.browser.browser_steps import (
    answer_by_click,
    answer_by_key,
    choose,
    consent,
    count,
    expect_page,
    minimal,
    outlast_the_lockout,
    questionnaire,
    start,
)
from webapp.database.models import Run, RunItem, StudyFile

IN_ORDER = list(range(1, 9))


def assert_whole(stored, input_method: str) -> None:
    assert stored.state == "finished"
    assert stored.positions == IN_ORDER
    assert {response.input_method for response in stored.responses} == {input_method}
    assert all(response.rt_ms > 0 for response in stored.responses)
    assert (stored.late_answers, stored.questionnaire) == (0, {"native_language": "English"})


def test_by_mouse_with_the_settings_a_study_has_by_default(site, page):
    link = site.launch("minimal")
    consent(page, link)
    start(page)
    expect(page.locator("#count")).to_have_text("1 of 8")
    for number in range(8):
        outlast_the_lockout(page)
        answer_by_click(page, 1, ("first", "second")[number % 2])
    questionnaire(page)
    [stored] = site.stored(link)
    assert_whole(stored, "pointer")
    assert [response.chosen_side for response in stored.responses] == ["first", "second"] * 4
    assert min(response.rt_ms for response in stored.responses) >= 150


def test_by_keyboard_alone(site, link, page):
    page.goto(link)
    for name in ("I agree and want to take part", "Start"):
        while page.evaluate("document.activeElement.textContent").strip() != name:
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect_page(page, "working")
    expect(page.locator("#trial")).to_be_visible()
    answer_by_key(page, 3, "1")
    answer_by_key(page, 3, "2")
    # Without the keys of the study: the first Tab leads to the first option.
    page.keyboard.press("Tab")
    choose(page, lambda: page.keyboard.press("Enter"))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    choose(page, lambda: page.keyboard.press("Space"))
    expect_page(page, "questionnaire")
    page.keyboard.press("Tab")
    page.keyboard.type("English")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_page(page, "closing")
    [stored] = site.stored(link)
    assert_whole(stored, "key")
    chosen = [response.chosen_side for response in stored.responses]
    assert chosen == ["first"] * 3 + ["second"] * 3 + ["first", "second"]


def test_by_touch_on_a_small_phone(site, link, new_context):
    phone = new_context(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    page = phone.new_page()
    consent(page, link)
    start(page)
    assert all(option.bounding_box()["height"] >= 44 for option in page.locator(".option").all())
    expect(page.locator(".key").first).to_be_hidden()
    for _ in IN_ORDER:
        # The last answer leads to another page, so the trial is measured before it is answered.
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        choose(page, page.locator("[data-side=second]").tap)
    questionnaire(page)
    [stored] = site.stored(link)
    assert_whole(stored, "touch")
    assert {response.viewport_width_px for response in stored.responses} == {360}


def test_in_italian(site, page, tmp_path: Path):
    link = site.launch(minimal(tmp_path, language="it"))
    page.goto(link)
    assert page.locator("html").get_attribute("lang") == "it"
    page.get_by_role("button", name="Acconsento e voglio partecipare").click()
    page.locator("#instructions [data-go-on]").click()
    expect(page.locator("#count")).to_have_text("1 di 8")
    answer_by_key(page, 8)
    questionnaire(page)
    assert_whole(site.stored(link)[0], "key")


def test_in_the_dark(site, link, new_context):
    page = new_context(color_scheme="dark").new_page()
    consent(page, link)
    expect(page.locator("body")).to_have_css("background-color", "rgb(21, 24, 28)")
    start(page)
    answer_by_key(page, 8)
    questionnaire(page)
    assert_whole(site.stored(link)[0], "key")


def test_from_right_to_left(site, page, tmp_path: Path):
    link = site.launch(minimal(tmp_path, language="ar"))
    consent(page, link)
    assert page.locator("html").get_attribute("dir") == "rtl"
    start(page)
    key, sentence = (page.locator(f".option .{part}").first for part in ("key", "sentence"))
    assert key.bounding_box()["x"] > sentence.bounding_box()["x"]
    answer_by_key(page, 8)
    questionnaire(page)
    assert_whole(site.stored(link)[0], "key")


def practise(page: Page, number: int, expected: str, *, rightly: bool, verdict: str) -> None:
    assert count(page) == f"Practice {number} of 2"
    good = page.locator(".option", has=page.get_by_text(expected, exact=True))
    key = "f" if (good.get_attribute("data-side") == "first") == rightly else "j"
    choose(page, lambda: page.keyboard.press(key))
    expect(page.locator("#verdict")).to_have_text(verdict)
    expect(page.locator("#practised")).to_be_visible(visible=number == 2)
    page.keyboard.press("Enter")


def test_with_practice_breaks_and_other_keys(site, page, tmp_path: Path):
    trial = 'lockout_ms = 0\nkeys = ["f", "j"]\nbreak_every = 3\npractice = "practice.toml"'
    study = minimal(tmp_path, trial=trial)
    (study / "practice.toml").write_text(
        '[[practice]]\ngood = "the cat sleeps"\nbad = "the cat sleep"\nfeedback = "One cat."\n'
        '[[practice]]\ngood = "the cats sleep"\nbad = "the cats sleeps"\n'
    )
    link = site.launch(study)
    consent(page, link)
    start(page)
    right, wrong = "Yes, that is right. One cat.", "No, the other one is right."
    practise(page, 1, "The cat sleeps.", rightly=True, verdict=right)
    practise(page, 2, "The cats sleep.", rightly=False, verdict=wrong)
    expect(page.locator("#count")).to_have_text("1 of 8")
    for trials, done in ((3, 3), (3, 6)):
        answer_by_key(page, trials, "f")
        expect(page.locator("#so-far")).to_contain_text(f"You have answered {done} of 8")
        page.locator("#break button").click()
    answer_by_key(page, 2, "J")
    questionnaire(page)
    stored = site.stored(link)[0]
    assert_whole(stored, "key")
    assert [r.chosen_side for r in stored.responses] == ["first"] * 6 + ["second"] * 2


def test_with_a_prefix_and_its_completions(site, page, tmp_path: Path):
    link = site.launch(minimal(tmp_path))
    with site.sessions() as session:
        for row in session.scalars(select(RunItem).join(Run).where(Run.ref == link[-12:])):
            context, good = row.item["good"].rsplit(" ", 1)
            row.item |= {"context": context, "good": good, "bad": row.item["bad"].split()[-1]}
            flag_modified(row, "item")
        of_run = select(StudyFile).join(Run).where(Run.ref == link[-12:])
        [toml] = session.scalars(of_run.where(StudyFile.name == "study.toml"))
        toml.content = toml.content.replace(b'"sentence_pair"', b'"prefix_completion"')
        session.commit()
    consent(page, link)
    start(page)
    prefix = page.locator("[data-field=prefix]").inner_text()
    first, second = page.locator(".sentence").all_inner_texts()
    assert prefix.startswith("The ") and not prefix.endswith(".")
    announced = f"{prefix} … 1: {first} 2: {second}"
    expect(page.locator("[aria-live=polite]")).to_have_text(announced)
    answer_by_key(page, 8)
    questionnaire(page)
    assert_whole(site.stored(link)[0], "key")


def test_who_declines_is_thanked_and_asked_nothing(site, link, page):
    page.goto(link)
    page.locator("button[value=decline]").click()
    expect_page(page, "declined")
    [stored] = site.stored(link)
    assert (stored.state, stored.positions) == ("declined", [])


def test_a_preview_looks_real_and_stores_nothing(site, link, page):
    consent(page, f"{link}?preview=1")
    start(page)
    answer_by_key(page, 2)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    answer_by_key(page, 4)
    expect(page.locator("#preview-over")).to_be_visible()
    expect(page.locator("#preview-over [name=native_language]").first).to_be_visible()
    assert site.stored(link) == []


@pytest.mark.parametrize("scale", [1, 2])
def test_every_trial_is_announced_and_focused(site, link, new_context, scale):
    page = new_context(viewport={"width": 1280 // scale, "height": 800 // scale}).new_page()
    consent(page, link)
    start(page)
    for number in (1, 2):
        assert page.evaluate("document.activeElement.getAttribute('role')") == "group"
        sentences = page.locator(".sentence").all_inner_texts()
        announced = f"1: {sentences[0]} 2: {sentences[1]}"
        expect(page.locator("[aria-live=polite]")).to_have_text(announced)
        assert count(page) == f"{number} of 8"
        answer_by_key(page, 1)
