"""Self-paced reading and the Maze in a browser: keys, taps, what is stored, and no layout shift."""

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from experiment.responses.registry import response_of
from experiment.studies.load import load_study
from tests.browser.browser_steps import consent, expect_page, let_frames_pass, start
from webapp.sessions.steps import read_steps

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PLACES = """() => JSON.stringify([...document.querySelectorAll(".step, [data-next], .maze .option")]
  .map(one => { const { x, y, width, height } = one.getBoundingClientRect();
                return [x, y + scrollY, width, height]; }))"""


def study(name: str, folder: Path, **changed: str) -> Path:
    copied = shutil.copytree(EXAMPLES / name, folder / name)
    toml = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"',
                  (copied / "study.toml").read_text("utf-8"), flags=re.MULTILINE)  # fmt: skip
    toml = toml.replace('practice = "practice.toml"', 'lockout_ms = 0\npractice = "practice.toml"')
    for key, value in changed.items():
        toml = re.sub(f'^{key} = "[^"]*"', f'{key} = "{value}"', toml, flags=re.MULTILINE)
    (copied / "study.toml").write_text(toml, encoding="utf-8")
    return copied


def answer_question(page: Page, key: str = "1") -> None:
    if page.locator(".asked").is_visible():
        let_frames_pass(page, 3)
        page.keyboard.press(key)


def read_one(page: Page, press, answered_by: str = "1") -> list[str]:
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


@pytest.mark.parametrize("by", ["key", "button"])
def test_a_sentence_is_read_region_by_region_and_each_is_timed(site, page, tmp_path: Path, by):
    link = site.launch(study("self_paced", tmp_path))
    consent(page, link)
    start(page)
    button = page.locator("[data-next]")
    press = (lambda: page.keyboard.press("Space")) if by == "key" else button.click
    assert read_one(page, press) == ["The old clock", "in the kitchen", "has stopped."]
    past_practice(page)
    read_one(page, press)
    past_practice(page)
    for _ in range(10):
        expect(page.locator(".reader")).to_be_visible()
        read_one(page, press)
    expect_page(page, "questionnaire")
    [stored] = site.stored(link)
    assert len(stored.responses) == 10
    for response in stored.responses:
        steps = json.loads(response.steps)
        assert len(steps["rt_ms"]) == len(steps["onset_ms"]) >= 5
        assert all(ms >= 0 for ms in steps["rt_ms"])
        assert steps["onset_ms"][0] == 0 and steps["onset_ms"] == sorted(steps["onset_ms"])
        assert ("question_ms" in steps) == bool(response.chosen_side)
        # Questions are answered by key here.
        by_key = by == "key" or response.chosen_side
        assert response.input_method == ("key" if by_key else "pointer")


@pytest.mark.parametrize("on_error", ["correct", "end"])
def test_the_maze_takes_the_right_word_and_says_what_was_wrong(
    anywhere, page, tmp_path: Path, on_error
):
    copied = study("maze", tmp_path, on_error=on_error)
    toml = (copied / "study.toml").read_text("utf-8")
    (copied / "study.toml").write_text(
        toml.replace("[trial.parameters]\n", "[trial.parameters]\ndelay_ms = 0\n"), encoding="utf-8"
    )
    link = anywhere.launch(copied)
    consent(page, link)
    work = json.loads(page.locator("#session").text_content())
    start(page)
    for number, trial in enumerate([*work["practice"], *work["trials"]]):
        for at, right in enumerate(trial["right"]):
            expect(page.locator(".maze .sentence").nth(0)).to_have_text(
                trial["steps" if right == "l" else "distractors"][at]
            )
            let_frames_pass(page, 3)
            if number > 1 and at == 2:
                page.keyboard.press("j" if right == "l" else "f")
                if on_error == "end":
                    break
                expect(page.locator(".said")).to_be_visible()
            page.keyboard.press("f" if right == "l" else "j")
        answer_question(page, "f")
        if number < len(work["practice"]):
            past_practice(page)
    expect_page(page, "questionnaire")
    [stored] = anywhere.stored(link)
    for response in stored.responses:
        steps = json.loads(response.steps)
        assert steps["wrong"][:3] == [0, 0, 1]
        assert (steps["done_ms"][2] is None) == (on_error == "end")
        assert (len(steps["wrong"]) == 3) == (on_error == "end")


def timed(folder: Path, **deadlines: int) -> Path:
    """Give types of response in a copied study a deadline, in ms."""
    toml = (folder / "study.toml").read_text("utf-8")
    for name, ms in deadlines.items():
        toml = toml.replace(f'response = "{name}"\n', f'response = "{name}"\ndeadline_ms = {ms}\n')
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    return folder


def test_a_tap_on_a_phone_shows_the_next_region_and_nothing_moves_when_the_time_is_up(
    site, browser, tmp_path: Path
):
    copied = study("self_paced", tmp_path)
    toml = (copied / "study.toml").read_text("utf-8")
    toml = toml.replace("[trial.parameters]\n", "[trial.parameters]\ndeadline_ms = 200\n")
    (copied / "study.toml").write_text(toml, encoding="utf-8")
    link = site.launch(copied)
    phone = browser.new_context(
        viewport={"width": 320, "height": 568}, is_mobile=True, has_touch=True
    )
    page = phone.new_page()
    consent(page, link)
    start(page)
    stage, overtime = page.locator(".window"), page.locator(".overtime")

    def outlast() -> None:
        # The first step alone has nothing before it that could be late.
        if page.locator(".step.current").count():
            expect(overtime).to_have_text("The time is up. Please go on now.")
        stage.tap()

    assert read_one(page, outlast) == ["The old clock", "in the kitchen", "has stopped."]
    expect(page.locator("#verdict")).to_contain_text("The time was up before you answered.")
    expect(overtime).to_have_text("")
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    phone.close()


def test_the_tasks_of_a_mixed_session_take_turns_on_one_page(anywhere, page, tmp_path: Path):
    copied = timed(study("mixed", tmp_path), rating=200, self_paced=600_000)
    response = response_of(load_study(str(copied)))
    link = anywhere.launch(copied)
    consent(page, link)
    work = json.loads(page.locator("#session").text_content())
    start(page)
    for number, trial in enumerate([*work["practice"], *work["trials"]]):
        title = page.locator(".question")
        let_frames_pass(page, 3)
        if trial["task"] == "rating":
            expect(title).to_have_text("How natural does this sentence sound?")
            # Of the other task nothing is on the stage, and no key of it counts.
            expect(page.locator(".step, [data-next]")).to_have_count(0)
            page.keyboard.press("Space")
            expect(page.locator("[data-rating]")).to_have_count(7)
            expect(page.locator("#keys-text")).to_have_value("1 2 3 4 5 6 7")
            expect(page.locator(".overtime")).to_have_text("The time is up. Please go on now.")
            page.keyboard.press("6")
        else:
            expect(title).to_have_text("Read at your own pace")
            expect(page.locator("[data-rating]")).to_have_count(0)
            page.keyboard.press("6")
            read_one(page, lambda: page.keyboard.press("Space"))
            expect(page.locator(".overtime")).to_have_text("")
        if number < len(work["practice"]):
            said = page.locator("#verdict").inner_text()
            assert ("The time was up" in said) == (trial["task"] == "rating")
            past_practice(page)
    expect_page(page, "questionnaire")
    [stored] = anywhere.stored(link)
    assert len(stored.responses) == 12
    assert sorted({bool(one.rating) for one in stored.responses}) == [False, True]
    for one in stored.responses:
        assert (one.rating == 6) != bool(one.steps)
        task = response.types["self_paced" if one.steps else "rating"]
        assert task.late(one.rt_ms, read_steps(one.steps)) == (one.rating == 6)


@pytest.mark.parametrize("by", ["region", "sentence"])
def test_a_sentence_is_gone_before_it_is_rated(site, page, tmp_path: Path, by):
    link = site.launch(study("read_then_rate", tmp_path, by=by))
    consent(page, link)
    work = json.loads(page.locator("#session").text_content())
    start(page)
    for number, _ in enumerate([*work["practice"], *work["trials"]]):
        expect(page.locator("[data-rating]:visible")).to_have_count(0)
        # A key of the scale is no press of the sentence.
        page.keyboard.press("6")
        read_one(page, lambda: page.keyboard.press("Space"), answered_by="6")
        if number < len(work["practice"]):
            past_practice(page)
    expect_page(page, "questionnaire")
    [stored] = site.stored(link)
    assert len(stored.responses) == 10
    for response in stored.responses:
        steps = read_steps(response.steps)
        assert response.rating == 6 and not response.chosen_side
        assert len(steps.rt_ms) == (1 if by == "sentence" else 5)
        assert steps.question_ms >= 0
