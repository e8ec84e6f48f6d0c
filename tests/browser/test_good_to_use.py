"""Every page, on every kind of screen, for everybody."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.browser_steps import (
    answer_by_key,
    assert_good,
    choose,
    expect_page,
    minimal,
    start,
)

PHONE = {
    "viewport": {"width": 320, "height": 568}, "is_mobile": True, "has_touch": True,
    "color_scheme": "dark",
}  # fmt: skip
# A laptop at 400 % zoom, a wall, and someone who wants no motion and has colours of their own.
WINDOWS = {"zoomed": (320, 200), "a wall": (3840, 2160), "own colours": (1280, 720)}


@pytest.mark.parametrize("is_phone", [True, False], ids=["a small phone in the dark", "windows"])
def test_every_page_is_accessible_and_fits(site, new_context, tmp_path: Path, is_phone):
    trial = 'lockout_ms = 0\nbreak_every = 4\npractice = "practice.toml"'
    study = minimal(tmp_path, trial=trial)
    (study / "practice.toml").write_text(
        '[[practice]]\ngood = "the cat sleeps"\nbad = "the cat sleep"\nfeedback = "One cat."\n'
    )
    with (study / "study.toml").open("a") as toml:
        toml.write(
            '[[questionnaire]]\nname = "age"\nlabel = "How old are you?"\ntype = "number"\n'
            '[[questionnaire]]\nname = "hand"\nlabel = "Which hand?"\ntype = "choice"\n'
            'options = ["left", "right"]\n'
        )
    link = site.launch(study)
    page = new_context(**PHONE if is_phone else {}).new_page()

    def good(name: str) -> None:
        if is_phone:
            assert_good(page, f"{name} on a phone")
            return
        for window, (width, height) in WINDOWS.items():
            page.set_viewport_size({"width": width, "height": height})
            own = window == "own colours"
            page.emulate_media(
                forced_colors="active" if own else "none",
                reduced_motion="reduce" if own else "no-preference",
            )
            assert_good(page, f"{name}, {window}", known=True)

    page.goto(link)
    good("consent")
    page.locator("button[value=accept]").click()
    expect_page(page, "working")
    good("instructions")
    start(page)
    good("practice")
    choose(page, lambda: page.keyboard.press("1"))
    good("feedback")
    page.locator("#feedback button").click()
    answer_by_key(page, 1)
    good("trial")
    answer_by_key(page, 3)
    expect(page.locator("#break")).to_be_visible()
    good("break")
    page.context.set_offline(True)
    page.locator("#break button").click()
    answer_by_key(page, 4)
    expect(page.locator("#leaving")).to_be_visible()
    expect(page.locator("#offline")).to_be_visible()
    good("saving")
    page.context.set_offline(False)
    expect_page(page, "questionnaire")
    good("questionnaire")
    page.locator("textarea").fill(" ")
    page.locator("button.primary").click()
    expect(page.locator(".problem").first).to_be_visible()
    good("questionnaire to be mended")
    page.locator("textarea").fill("English")
    page.locator("button.primary").click()
    expect_page(page, "closing")
    good("closing")
    page.goto(f"{site.origin}/p/nothing/")
    good("error")


def test_the_page_for_who_declined_is_accessible(link, page):
    page.goto(link)
    page.locator("button[value=decline]").click()
    expect_page(page, "declined")
    assert_good(page, "declined")


def test_what_has_the_focus_is_seen(link, page):
    page.goto(link)
    for _ in range(2):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert outline == "3px"
