"""A study without a server in a language from right to left, with everything before its trials."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.browser_steps import (
    answer_by_key,
    assert_good,
    expect_page,
    minimal,
    questionnaire,
    start,
)
from tests.browser.static_site import StaticSite, stores

ANSWERABLE = 'contact = "x"\ninstitution = "x"\nethics = "x"\n'
MORE = """
[[screening]]
name = "speaks"
label = "Do you speak English?"
type = "choice"
options = ["yes", "no"]
accept = ["yes"]

[comprehension]
tries = 2
[[comprehension.questions]]
name = "task"
label = "How many sentences of each pair do you choose?"
type = "number"
correct = ["1"]
"""


def answer(page: Page, choice: str) -> None:
    """Answer the screening question."""
    expect_page(page, "screening")
    page.get_by_role("radio", name=choice, exact=True).check()
    page.locator("button.primary").click()


def try_to_say(page: Page, number: str, times: int) -> None:
    """Answer the question on the instructions; every time but the first the page asks again."""
    for before in range(times):
        expect_page(page, "comprehension")
        expect(page.locator("main > .notice[role=alert]")).to_have_count(int(before > 0))
        page.locator("input[name=task]").fill(number)
        page.locator("main form:has(input[name=task]) button.primary").click()


def test_screening_instructions_practice_and_breaks_are_those_of_a_server(tmp_path, new_context):
    trial = 'lockout_ms = 0\nbreak_every = 4\npractice = "practice.toml"'
    study = minimal(tmp_path, language="ar", trial=trial)
    text = (
        (study / "study.toml").read_text("utf-8").replace("[study]\n", f"[study]\n{ANSWERABLE}", 1)
    )
    (study / "study.toml").write_text(text + MORE, encoding="utf-8")
    (study / "practice.toml").write_text(
        '[[practice]]\ngood = "the cat sleeps"\nbad = "the cat sleep"\nfeedback = "One cat."\n'
    )
    with stores(tmp_path / "kept") as kept:
        site = StaticSite(kept, Path(tmp_path) / "static")
        link = site.launch(study)

        def arrive() -> Page:
            page = new_context(viewport={"width": 390, "height": 800}).new_page()
            page.goto(link)
            expect(page.locator("html")).to_have_attribute("dir", "rtl")
            page.locator("button[value=accept]").click()
            return page

        stranger = arrive()
        answer(stranger, "no")
        expect_page(stranger, "left")
        assert_good(stranger, "screened out")
        hasty = arrive()
        answer(hasty, "yes")
        try_to_say(hasty, "2", times=2)
        expect_page(hasty, "left")
        page = arrive()
        expect_page(page, "screening")
        assert_good(page, "screening")
        answer(page, "yes")
        try_to_say(page, "2", times=1)
        expect(page.locator("main > .notice[role=alert]")).to_be_visible()
        assert_good(page, "comprehension again")
        page.locator("input[name=task]").fill("1")
        page.locator("main form:has(input[name=task]) button.primary").click()
        expect_page(page, "working")
        start(page)
        answer_by_key(page, 1)
        page.locator("#feedback button").click()
        answer_by_key(page, 4)
        expect(page.locator("#break")).to_be_visible()
        assert_good(page, "break")
        page.locator("#break button").click()
        answer_by_key(page, 4)
        questionnaire(page)
        assert_good(page, "closing")
        people = site.stored(link)
    assert [one.state for one in people] == ["left", "left", "finished"]
    assert [one.questionnaire.get("speaks") for one in people] == [None, "yes", "yes"]
