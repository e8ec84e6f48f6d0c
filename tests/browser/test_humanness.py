"""A picture stands above its answers, is told to who does not see it, and is timed."""

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.browser_steps import consent, let_frames_pass, outlast_the_lockout, start
from webapp.database.engine import reading
from webapp.runs.integrity import score_humanness
from webapp.runs.runs import find_named_run, load_launched_study

FOLDER = Path(__file__).parents[2] / "docs" / "humanness"
MOST_STEPS = 12
LOADED = "picture => picture.complete && picture.naturalWidth"


def test_pictures_and_letters_are_trials_whose_answers_are_held_against_published_rates(site, page):
    link = site.launch(FOLDER)
    consent(page, link)
    trials = json.loads(page.locator("#session").text_content())["trials"]
    first = next(trial for trial in trials if trial["task"] == "picture")
    start(page)
    for trial in trials[: first["position"] - 1]:
        expect(page.locator("#count")).to_have_text(f"{trial['position']} of 20")
        answer(page)
    expect(page.locator("#count")).to_have_text(f"{first['position']} of 20")
    let_frames_pass(page, 3)
    picture = page.locator("#trial .picture")
    asked, _, rest = first["prefix"].partition(" ![")
    shown = rest.partition("]")[0]
    assert picture.evaluate(LOADED) > 300
    expect(picture).to_have_attribute("alt", shown)
    expect(page.locator("#trial [data-field=prefix]")).to_have_text(asked)
    # What a screen reader is told has the words for the picture, and none of its bytes.
    told = page.locator("#trial [data-announce]").text_content()
    assert f"{asked} {shown}" in told and "base64" not in told and first["first"] in told
    answer(page)
    expect(page.locator("#indicator")).to_have_attribute("data-state", "saved")
    with reading(site.sessions) as session:
        run = find_named_run(session, link.rpartition("/")[2])
        study = load_launched_study(session, run)
        [(_, found)] = score_humanness(session, run, study)
    [rated] = [one for one in found.answers if one.nats is not None]
    assert rated.people is not None and rated.programs is not None
    assert rated.people > rated.programs and (rated.nats < 0) == rated.passed
    assert found.n_rated == 1 and found.people_as_low is None
    stored = site.stored(link)[0]
    at = first["position"] - 1
    assert stored.responses[at].onset_source == "presentation"


def answer(page) -> None:
    """Answer the trial that is shown, whatever its task is, by the first key."""
    if page.locator("#trial .reader:visible").count():
        asked = page.locator("#trial .asked:visible")
        for _ in range(MOST_STEPS):
            let_frames_pass(page, 2)
            if asked.count():
                break
            page.keyboard.press("Space")
    outlast_the_lockout(page)
    page.keyboard.press("1")
