"""Ratings, four options, yes and no, from the run's link to the closing page."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browser_steps import (
    assert_good,
    choose,
    consent,
    count,
    expect_page,
    expect_saved,
    let_frames_pass,
    start,
)
from tests.experiment.responses.studies import PRESENTATIONS

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "yes_no"


@pytest.mark.parametrize("anywhere", ["server"], indirect=True)
def test_yes_and_no_are_what_was_pressed_clicked_and_announced(anywhere, page, tmp_path: Path):
    study = shutil.copytree(EXAMPLE, tmp_path / "yes_no")
    toml = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"',
                  (study / "study.toml").read_text("utf-8"), flags=re.MULTILINE)  # fmt: skip
    (study / "study.toml").write_text(f"{toml}\n[trial]\nlockout_ms = 0\n", encoding="utf-8")
    link = anywhere.launch(study)
    consent(page, link)
    start(page)
    pressed = []
    for number in range(int(count(page).split()[-1])):
        sentence = page.locator("[data-field=first]").inner_text()
        expect(page.locator("[data-announce]")).to_have_text(f"{sentence} 1: Yes. 2: No.")
        place = number % 3 % 2
        pressed.append(("first", "second")[place])
        if number % 2:
            choose(page, lambda place=place: page.keyboard.press(str(place + 1)))
        else:
            choose(page, page.get_by_role("button", name=("Yes", "No")[place]).click)
    expect_page(page, "questionnaire")
    [stored] = anywhere.stored(link)
    assert [response.chosen_side for response in stored.responses] == pressed
    answer_each_type_of_question(page)
    expect_page(page, "closing")
    [stored] = anywhere.stored(link)
    assert stored.questionnaire == {
        "native_language": "English", "languages": "French; another language",
        "other_language": "Welsh", "difficulty": "6", "confidence": "51",
    }  # fmt: skip


@pytest.mark.parametrize("anywhere", ["static"], indirect=True)
def test_a_slider_has_no_handle_until_a_key_or_a_click_places_it(anywhere, page, tmp_path: Path):
    study = shutil.copytree(EXAMPLE.parent / "given_lists", tmp_path / "given_lists")
    toml = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"',
                  (study / "study.toml").read_text("utf-8"), flags=re.MULTILINE)  # fmt: skip
    toml = toml.replace('response = "rating"', 'response = "slider"')
    toml = re.sub("^points = .*\n", "show_number = true\n", toml, flags=re.MULTILINE)
    toml = toml.replace("[trial.parameters]", "[trial]\nlockout_ms = 0\n"
                        'practice = "practice.toml"\n\n[trial.parameters]')  # fmt: skip
    (study / "study.toml").write_text(toml, encoding="utf-8")
    (study / "practice.toml").write_text('[[practice]]\ngood = "It rains."\n', encoding="utf-8")
    link = anywhere.launch(study)
    consent(page, link)
    start(page)
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.locator("#feedback [data-go-on]").click()
    let_frames_pass(page, 4)
    slider, track, number = (
        page.locator(name) for name in ("#slider-position", ".track", ".number")
    )
    expect(slider).to_have_class("absent")
    assert_good(page, "a slider")
    page.keyboard.press("Enter")
    expect(page.locator("#slider-hint")).to_have_text("Please answer this question.")
    positions = []
    for keys, position in (
        (["ArrowRight"], 50), (["ArrowRight", "ArrowRight"], 51), (["PageDown", "PageUp"], 60),
        (["7"], 70), (["0"], 0), (["Home", "ArrowRight"], 1), (["End", "ArrowLeft"], 99),
    ):  # fmt: skip
        for key in keys:
            page.keyboard.press(key)
        expect(number).to_have_text(str(position))
        choose(page, lambda: page.keyboard.press("Enter"))
        positions.append(position)
        expect(slider).to_have_class("absent")
    box = track.bounding_box()
    track.click(position={"x": box["width"] / 2, "y": 20})
    expect(number).to_have_text("50")
    track.click(position={"x": box["width"] - 1, "y": 20})
    page.get_by_role("button", name="Next").click()
    expect_page(page, "questionnaire")
    [stored] = anywhere.stored(link)
    assert [response.rating for response in stored.responses] == [*positions, 100]
    assert [one.input_method for one in stored.responses] == ["key"] * 7 + ["pointer"]


def test_several_scales_take_a_point_each_by_key_or_click_and_let_it_be_changed(
    site, page, tmp_path: Path
):
    study = shutil.copytree(EXAMPLE.parent / "scales", tmp_path / "scales")
    toml = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"',
                  (study / "study.toml").read_text("utf-8"), flags=re.MULTILINE)  # fmt: skip
    (study / "study.toml").write_text(f"{toml}\n[trial]\nlockout_ms = 0\n", encoding="utf-8")
    link = site.launch(study)
    consent(page, link)
    start(page)
    natural, likely = (page.get_by_role("group", name=name) for name in
                       ("How natural does it sound?", "How likely is what it says?"))  # fmt: skip
    page.keyboard.press("6")
    expect(natural.get_by_role("button", pressed=True)).to_have_text("6")
    expect(likely).to_be_focused()
    assert_good(page, "scales")
    natural.get_by_role("button", name="3").click()
    expect(natural.get_by_role("button", pressed=True)).to_have_text("3")
    page.keyboard.press("7")
    expect(likely.get_by_role("button", pressed=True)).to_have_count(0)
    choose(page, lambda: page.keyboard.press("5"))
    expect(natural.get_by_role("button", pressed=True)).to_have_count(0)
    likely.get_by_role("button", name="2").click()
    choose(page, natural.get_by_role("button", name="4").click)
    expect_saved(page)
    stored = site.stored(link)[0].responses
    assert [response.rating for response in stored][:2] == [35, 42]


def answer_each_type_of_question(page: Page) -> None:
    """Answer the example's questions with the keyboard, and look at them before."""
    other = page.get_by_label("Which other language is that?")
    expect(other).to_be_hidden()
    page.get_by_label("What is your native language?").fill("English")
    page.get_by_label("another language").press("Space")
    expect(other).to_be_visible()
    other.fill("Welsh")
    # Whoever takes the answer back is not asked, and has said nothing, until they are asked again.
    page.get_by_label("another language").press("Space")
    expect(other).to_be_hidden()
    assert_good(page, "questions")
    page.get_by_label("another language").press("Space")
    page.get_by_label("French").press("Space")
    page.get_by_role("radio", name="5", exact=True).press("ArrowRight")
    page.reload()
    expect(page.get_by_role("radio", name="6", exact=True)).to_be_checked()
    expect(page.get_by_label("French")).to_be_checked()
    expect(other).to_have_value("Welsh")
    slider = page.get_by_role("slider", name="How sure were you of your answers?")
    expect(page.locator("#confidence")).to_have_value("")
    slider.press("ArrowRight")
    expect(page.locator("#confidence")).to_have_value("51")
    page.get_by_role("button", name="Finish").click()


@pytest.mark.parametrize(
    ("anywhere", "name"), [("server", "ratings"), ("static", "german_case")], indirect=["anywhere"]
)
def test_every_answer_is_the_one_that_was_chosen(anywhere, page, tmp_path: Path, name):
    study = shutil.copytree(PRESENTATIONS / name, tmp_path / name)
    toml = (study / "study.toml").read_text("utf-8").replace("[trial]\n", "")
    lines = "[trial]\nlockout_ms = 0\n"
    if name == "ratings":
        lines += 'practice = "practice.toml"\n'
        toml = toml.replace('practice = "practice.toml"\n', "")
        # Each point has a label here; elsewhere the two ends have one.
        labels = ["awful", "bad", "odd", "so-so", "fair", "good", "perfect"]
        toml = re.sub("^lowest.*\nhighest.*$", f"labels = {labels}", toml, flags=re.MULTILINE)
    toml = toml.replace("[trial.parameters]", f"{lines}\n[trial.parameters]")
    (study / "study.toml").write_text(toml, encoding="utf-8")
    link = anywhere.launch(study)
    consent(page, link)
    start(page)
    if name == "ratings":
        expect(page.get_by_role("button", name="4, so-so")).to_be_visible()
        choose(page, lambda: page.keyboard.press("4"))
        expect(page.locator("#practised")).to_be_visible()
        page.keyboard.press("Enter")
    chosen = []
    for number in range(int(count(page).split()[-1])):
        # Fillers have fewer options; the last one on the screen is taken in every third trial.
        shown = page.locator(".option:visible").count()
        place = (1, 2, shown)[number % 3]
        chosen.append(place)
        if number % 2:
            choose(page, lambda place=place: page.keyboard.press(str(place)))
        else:
            choose(page, page.locator(".option:visible").nth(place - 1).click)
    # These studies ask nothing afterwards, and have no page for questions.
    expect_page(page, "closing")
    [stored] = anywhere.stored(link)
    assert stored.state == "finished"
    sides = ("first", "second", "third", "fourth")
    found = [r.rating or sides.index(r.chosen_side) + 1 for r in stored.responses]
    assert found == chosen
