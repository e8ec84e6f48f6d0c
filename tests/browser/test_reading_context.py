"""A context is shown as a whole before its sentence is read."""

import csv
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.browser_steps import consent, let_frames_pass, start
from tests.browser.reading_steps import of_four_trials, past_practice, read_one, study

CONTEXT = "It had rained all day in the valley."


def with_contexts(copied: Path) -> Path:
    with (copied / "items.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    with (copied / "items.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {"context": CONTEXT} for row in rows)
    toml = (copied / "study.toml").read_text("utf-8")
    key = "[trial.parameters]\n"
    (copied / "study.toml").write_text(toml.replace(key, f'{key}context = "whole"\n'), "utf-8")
    return copied


def test_a_press_takes_the_context_away_before_the_first_region(site, page, tmp_path: Path):
    link = site.launch(with_contexts(of_four_trials(study("self_paced", tmp_path))))
    consent(page, link)
    start(page)
    press = page.locator("[data-next]").click
    for _ in range(2):
        read_one(page, press)
        past_practice(page)
    for _ in range(4):
        expect(page.locator(".before")).to_have_text(CONTEXT)
        expect(page.locator(".window")).to_be_hidden()
        let_frames_pass(page, 3)
        press()
        expect(page.locator(".before")).to_be_hidden()
        shown = read_one(page, press)
        assert len(shown) >= 3 and not any("rained" in text for text in shown)
    # The next page comes once every answer is stored.
    expect(page.locator("body")).not_to_have_attribute("data-page", "working")
    responses = site.stored(link)[0].responses
    assert len(responses) == 4
