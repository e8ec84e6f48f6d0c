"""A session of two tasks in a browser, at a server and from a folder of files, to its last page."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from experiment.responses.registry import response_of
from experiment.studies.load import load_study
from tests.browser.browser_steps import consent, let_frames_pass, questionnaire, start
from tests.browser.reading_steps import TIME_IS_UP, past_practice, read_one, study, timed
from webapp.database.models import Response
from webapp.sessions.measurements import read_steps

SIDES = {"1": "first", "2": "second"}


def rate(page: Page, key: str) -> tuple[int, str, int]:
    """Rate the sentence on the screen when the time is up, and return what shall be stored."""
    expect(page.locator(".question")).to_have_text("How natural does this sentence sound?")
    # Of the other task nothing is on the stage, and no key of it counts.
    expect(page.locator(".step, [data-next]")).to_have_count(0)
    page.keyboard.press("Space")
    expect(page.locator("[data-rating]")).to_have_count(7)
    expect(page.locator("#keys-text")).to_have_value("1 2 3 4 5 6 7")
    expect(page.locator(".overtime")).to_have_text(TIME_IS_UP)
    page.keyboard.press(key)
    return int(key), "", 0


def read(page: Page, key: str, asked: bool) -> tuple[None, str, int]:
    """Read the sentence on the screen, answer its question, and return what shall be stored."""
    expect(page.locator(".question")).to_have_text("Read at your own pace")
    expect(page.locator("[data-rating]")).to_have_count(0)
    page.keyboard.press("6")
    shown = read_one(page, lambda: page.keyboard.press("Space"), key)
    # After the last sentence the next page may be shown already.
    expect(page.locator(".overtime", has_text=TIME_IS_UP)).to_have_count(0)
    return None, SIDES[key] if asked else "", len(shown)


def kept(response: Response) -> tuple[int | None, str, int]:
    """Return of a stored answer its rating, the answer to its question, and how many steps."""
    steps = read_steps(response.steps)
    n_steps = len(steps.rt_ms) if steps else 0
    return response.rating, response.chosen_side or "", n_steps


@pytest.mark.parametrize("anywhere", ["static"], indirect=True)
def test_the_tasks_take_turns_on_one_page_and_what_was_answered_is_stored(
    anywhere, page: Page, tmp_path: Path
):
    copied = timed(study("mixed", tmp_path), rating=200, self_paced=600_000)
    response = response_of(load_study(str(copied)))
    link = anywhere.launch(copied)
    consent(page, link)
    work = json.loads(page.locator("#session").text_content())
    start(page)
    given = []
    for number, trial in enumerate([*work["practice"], *work["trials"]]):
        let_frames_pass(page, 3)
        is_rated = trial["task"] == "rating"
        if is_rated:
            given.append(rate(page, str(1 + number % 7)))
        else:
            given.append(read(page, str(1 + number % 2), bool(trial.get("question"))))
        if number < len(work["practice"]):
            verdict = page.locator("#verdict")
            expect(verdict).not_to_have_text("")
            said = (
                expect(verdict).to_contain_text if is_rated else expect(verdict).not_to_contain_text
            )
            said("The time was up")
            past_practice(page)
    questionnaire(page)
    [stored] = anywhere.stored(link)
    assert (stored.state, stored.positions) == ("finished", list(range(1, 13)))
    assert stored.questionnaire["native_language"] == "English"
    assert [kept(one) for one in stored.responses] == given[len(work["practice"]) :]
    assert {bool(rating) for rating, _, _ in given} == {False, True}
    for one in stored.responses:
        task = response.types["self_paced" if one.steps else "rating"]
        assert task.late(one.rt_ms, read_steps(one.steps)) == bool(one.rating)
