"""Ratings and four options, from the run's link to the closing page."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.browser_steps import choose, consent, count, expect_page, start
from tests.experiment.trials.studies import PRESENTATIONS


@pytest.mark.parametrize("name", ["ratings", "german_case"])
def test_every_answer_is_the_one_that_was_chosen(site, page, tmp_path: Path, name):
    study = shutil.copytree(PRESENTATIONS / name, tmp_path / name)
    toml = (study / "study.toml").read_text("utf-8").replace("[trial]\n", "")
    lines = "[trial]\nlockout_ms = 0\n"
    if name == "ratings":
        lines += 'practice = "practice.toml"\n'
        toml = toml.replace('practice = "practice.toml"\n', "")
    toml = toml.replace("[trial.parameters]", f"{lines}\n[trial.parameters]")
    (study / "study.toml").write_text(toml, encoding="utf-8")
    link = site.launch(study)
    consent(page, link)
    start(page)
    if name == "ratings":
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
    [stored] = site.stored(link)
    assert stored.state == "finished"
    sides = ("first", "second", "third", "fourth")
    found = [r.rating or sides.index(r.chosen_side) + 1 for r in stored.responses]
    assert found == chosen
